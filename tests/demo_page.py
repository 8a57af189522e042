"""docs/demo.md's tables, from runs of the demonstration study. `python tests/demo_page.py` puts them in anew."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

import tiepoint as tp
from picture import demonstration
from tiepoint.core.result import ArmFigures

PAGE = Path(__file__).parents[1] / "docs" / "demo.md"
BLOCK = re.compile(r"<!-- ([a-z ]+) -->\n.*?<!-- /\1 -->", re.DOTALL)
SLICES = ("unfiltered", "filtered", "unfiltered_same", "rare")
KINDS = {
    "twin": "the same text about another place",
    "parent": "the county or the famous place of the name",
    "homonym": "another place of the same name",
    "tail": "the answer stands past the 128th token: not in the first five",
    "diacritic": "the name is spelt with or without its circumflex: not in the first five",
}
LONGER = ("max_input_tokens = 128", "max_input_tokens = 256")
PUBLIC = {'acl = "groups"': "# acl", "public = false": "public = true", 'readers = ["planning"]': "# readers"}
FIRST = 5


@dataclass(frozen=True)
class Runs:
    """The study as it is, with every document open to everybody, and with a longer limit for MiniLM."""

    plain: tp.Result
    public: tp.Result
    longer: tp.Result
    traps: list[dict[str, str]]

    @classmethod
    def of(cls, study: Path) -> Runs:
        """From the folder of a demonstration that was run; two more runs are made there, from its vectors."""
        results = [tp.load_result(next((study / "results").iterdir()))]
        for changes in (PUBLIC, dict([LONGER])):
            text = (study / "study.toml").read_text(encoding="utf-8")
            for before, after in changes.items():
                assert before in text, before
                text = text.replace(before, after)
            other = study / "other.toml"
            other.write_text(text, encoding="utf-8")
            results.append(tp.bench(tp.load_study(other)))
        lines = (study / "traps.tsv").read_text(encoding="utf-8").splitlines()
        head = lines[0].split("\t")
        return cls(*results, traps=[dict(zip(head, line.split("\t"), strict=True)) for line in lines[1:]])


def arms(result: tp.Result) -> dict[str, ArmFigures]:
    return {arm.id: arm for arm in (*result.summary.candidates, *result.summary.baselines)}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def means(result: tp.Result, measure: str) -> str:
    counts = result.summary.denominators
    rows = [[arm, *(f"{found.measures[s][measure].mean:.3f}" for s in SLICES)] for arm, found in arms(result).items()]
    return table([measure, *(f"{s} ({counts[s].scored})" for s in SLICES)], rows)


def order(result: tp.Result) -> str:
    """The three models by nDCG@10, best first, without and with the filter, on the same queries."""
    models = [c.id for c in result.summary.candidates]
    found = arms(result)
    rows = []
    for name in ("unfiltered_same", "filtered"):
        ranked = sorted(models, key=lambda m: -(found[m].measures[name]["nDCG@10"].mean or 0))
        rows.append([name, *(f"{m} {found[m].measures[name]['nDCG@10'].mean:.3f}" for m in ranked)])
    return table(["", "first", "second", "third"], rows)


def subgroups(result: tp.Result) -> str:
    found = arms(result)
    names = sorted(next(iter(found.values())).subgroups)
    rows = []
    for name in names:
        figures = {arm: of.subgroups[name]["unfiltered"]["nDCG@10"] for arm, of in found.items()}
        n = max(f.n for f in figures.values())
        if n:
            rows.append([f"{name} ({n})", *(f"{f.mean:.3f}" for f in figures.values())])
    return table(["nDCG@10, no region filter", *found], rows)


def ranks(result: tp.Result, name: str) -> dict[tuple[str, str, str], int]:
    rows = result.rankings.filter(pc.field("slice") == name)
    columns = (rows.column(c).to_pylist() for c in ("candidate", "query", "document", "rank"))
    return {(arm, query, document): rank for arm, query, document, rank in zip(*columns, strict=True)}


def fallen(result: tp.Result, traps: list[dict[str, str]], kind: str, name: str) -> tuple[dict[str, int], int]:
    """On how many questions each arm falls into a trap of the kind, and how many questions of the slice have one."""
    found = ranks(result, name)
    asked = {query for _, query, _ in found}
    mine = [t for t in traps if t["kind"] == kind and t["query"] in asked]
    nowhere = 10**6
    counts = {}
    for arm in arms(result):
        fell = set()
        for trap in mine:
            wanted = found.get((arm, trap["query"], trap["wanted"]), nowhere)
            tempting = found.get((arm, trap["query"], trap["trap"]), nowhere)
            if tempting < wanted if trap["trap"] else wanted > FIRST:
                fell.add(trap["query"])
        counts[arm] = len(fell)
    return counts, len({t["query"] for t in mine})


def trapped(runs: Runs, name: str) -> str:
    rows = []
    for kind, words in KINDS.items():
        counts, of = fallen(runs.plain, runs.traps, kind, name)
        rows.append([f"{kind}: {words} ({of})", *(f"{count / of:.0%}" for count in counts.values())])
    return table([f"share of the questions, {name}", *arms(runs.plain)], rows)


def forbidden(runs: Runs) -> str:
    """How often the unreadable twin stands among the first five, with permissions ignored and in force."""
    mine = [t for t in runs.traps if t["kind"] == "forbidden"]
    rows = []
    for words, result in (("permissions ignored", runs.public), ("permissions in force", runs.plain)):
        found = ranks(result, "unfiltered")
        fell = {
            arm: {t["query"] for t in mine if found.get((arm, t["query"], t["trap"]), FIRST + 1) <= FIRST}
            for arm in arms(result)
        }
        of = len({t["query"] for t in mine})
        rows.append([f"{words} ({of})", *(f"{len(queries) / of:.0%}" for queries in fell.values())])
    return table(["share of the questions with a forbidden answer among the first five", *arms(runs.plain)], rows)


def tails(runs: Runs) -> str:
    rows = []
    for limit, result in (("128", runs.plain), ("256", runs.longer)):
        counts, of = fallen(result, runs.traps, "tail", "unfiltered")
        candidate = next(c for c in result.summary.candidates if c.id == "minilm-int8")
        cut = candidate.document_tokens.cut_texts
        figure = candidate.measures["unfiltered"]["nDCG@10"].mean
        rows.append([limit, f"{cut:.0%}", f"{counts['minilm-int8']} of {of}", f"{figure:.3f}"])
    return table(["minilm-int8 reads so many tokens", "texts cut", "tail answers missed", "nDCG@10, unfiltered"], rows)


def verdict(runs: Runs) -> str:
    decision = runs.plain.summary.decision
    return "".join(f"> {line}\n>\n" for line in (decision.sentence, *decision.warnings, f"Rule: {decision.rule}"))[:-2]


MAKERS: dict[str, Callable[[Runs], str]] = {
    "means": lambda runs: means(runs.plain, "nDCG@10"),
    "recall": lambda runs: means(runs.plain, "recall@5"),
    "order": lambda runs: order(runs.plain),
    "subgroups": lambda runs: subgroups(runs.plain),
    "traps unfiltered": lambda runs: trapped(runs, "unfiltered"),
    "traps filtered": lambda runs: trapped(runs, "filtered"),
    "forbidden": forbidden,
    "tails": tails,
    "verdict": verdict,
}


def filled(text: str, runs: Runs) -> str:
    """The page with every block made anew."""
    return BLOCK.sub(lambda found: f"<!-- {found[1]} -->\n{MAKERS[found[1]](runs)}<!-- /{found[1]} -->", text)


def main() -> None:
    """Rewrite the blocks."""
    with tempfile.TemporaryDirectory() as folder:
        text = filled(PAGE.read_text(encoding="utf-8"), Runs.of(demonstration(Path(folder) / "demo").folder))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
