"""What the questions can settle, before a run: the command, its spreads, and its field cases."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from command import Command
from recorded import benched, change, runnable
from sample import contract
from tiepoint.core.power import Power
from tiepoint.errors import InputError
from tiepoint.formats.study_toml.write import toml_value
from tiepoint.stats.paired import least_units
from tiepoint.workflows.intake.load import load_study
from tiepoint.workflows.power import power


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


ARCHIVE = 240
CAND = """
[[candidate]]
id = "{id}"
embedder = "callable"
options = {{ function = "own:{id}" }}
contract = {{ provider = "test", model = "{id}", revision = "1", dimension = {dim}, metric = "dot", normalized = false, \
dtype = "float32", query_role = "query", document_role = "document" }}
"""
OWN = """import numpy as np

def _encode(texts, dim, misses):
    vectors = np.full((len(texts), dim), 1e-3, dtype=np.float32)
    for row, text in enumerate(texts):
        if text.isdigit():
            vectors[row, int(text) % 20] = 1
        elif text[:1] == "q" and text[1:].isdigit():
            number = int(text[1:])
            vectors[row, number % 20] = 1
            if number % misses == 0:
                vectors[row, (number + 1) % 20] = 1.5
    return vectors

def small(texts): return _encode(texts, 20, 7)
def middle(texts): return _encode(texts, 30, 11)
def large(texts): return _encode(texts, 40, 13)
"""


def archive(
    folder: Path,
    *,
    queries: int = ARCHIVE,
    dev: int = 0,
    names: tuple[str, ...] = ("small", "large"),
    subgroups: int = 3,
) -> Path:
    """Twenty documents and questions of one relevant document each; every candidate misses a few of its own."""
    tables = {
        "study": {"name": "archive", "k": 3, "measures": ["RR@3"], "seed": 7},
        "corpus": {"path": "corpus.jsonl", "id": "_id", "text": "{text}"},
        "queries": {"path": "queries.jsonl", "id": "_id", "text": "text", "subgroups": "subgroups", "split": "split"},
        "qrels": {"path": "qrels.tsv"},
        "access": {"public": True},
        "decision": {"measure": "RR@3", "slice": "unfiltered", "gap": 0.05, "prefer": ["dimension"]},
    }
    folder.mkdir(parents=True)
    split = {i: "dev" if i < dev else "test" for i in range(queries)} if dev else dict.fromkeys(range(queries))
    documents = [{"_id": f"d{i:02}", "text": str(i)} for i in range(20)]
    asked = [
        {"_id": f"q{i:03}", "text": f"q{i}", "subgroups": [f"part {i % subgroups:02}"], "split": split[i]}
        for i in range(queries)
    ]
    for name, rows in (("corpus", documents), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines = "".join(f"q{i:03}\td{i % 20:02}\t1\n" for i in range(queries))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + lines, encoding="utf-8")
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    text = "".join(
        f"[{table}]\n" + "".join(f"{key} = {toml_value(value)}\n" for key, value in keys.items())
        for table, keys in tables.items()
    )
    dims = {"small": 20, "middle": 30, "large": 40}
    text += "".join(CAND.format(id=name, dim=dims[name]) for name in names)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder


def test_power_tells_the_chance_by_number_of_queries_and_what_it_assumed(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s")
    answer = command("power", folder)
    assert (answer.code, answer.err) == (0, "")
    text = " ".join(answer.out.split())
    assert "below 59 independent queries no candidate can be shown inside it" in text
    assert "assumed, not measured: the queries name no dev split" in text
    assert text.count("would decide rightly four times in five") == 3
    found = json.loads(command("power", folder, "--json").out)
    assert [one["spread"]["source"] for one in found["outlooks"]] == ["assumed"] * 3
    first = found["outlooks"][0]
    shares = {row["clusters"]: row["decides"] for row in first["rows"]}
    assert shares[50] == 0 < shares[100] < shares[2000] == 1
    assert first["own"]["clusters"] == ARCHIVE
    assert set(found["definitions"]) >= {"decides", "right", "spread", "needed"}
    assert not (folder / "results").exists()
    assert not (folder / "spaces").exists(), "nothing was encoded"


def test_the_named_number_decides_four_times_in_five_and_the_detectable_losses_lie_around_the_gap(
    tmp_path: Path,
) -> None:
    study = load_study(archive(tmp_path / "s"))
    (found,) = power(study, spread=0.15, unequal=0.3).outlooks
    assert found.spread.source == "stated"
    assert found.needed > 59
    again = chance_at(study, found.needed, spread=0.15, unequal=0.3)
    assert again == pytest.approx(0.8, abs=0.10)
    assert 0 <= found.shown_inside < study.rule.gap < found.shown_outside < 0.2
    beyond = power(study, difference=found.shown_outside, spread=0.15, unequal=0.3)
    assert beyond.outlooks[0].own.right == pytest.approx(0.8, abs=0.12)


def chance_at(study: tp.Study, number: int, **how: float) -> float:
    from tiepoint.stats.power import Supposed
    from tiepoint.stats.resample import stream
    from tiepoint.workflows.spreads import suppositions

    (one,) = suppositions(study, **how)
    found = Supposed(one.population, study.rule.gap, study.rule.level).chance(number, 0.0, rng=stream(9), samples=1_000)
    return found.right


def test_the_spread_of_dev_queries_is_taken_from_the_latest_result(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", dev=80)
    why = power(load_study(folder)).outlooks[0].spread
    assert why.source == "assumed"
    assert "no result under results/" in why.sentence
    result = benched(command, folder)
    (one,) = power(load_study(folder)).outlooks
    assert one.spread.source == "measured"
    assert f"80 dev queries, 80 independent, in the result {result.name}" in one.spread.sentence
    rows = tp.load_result(result).per_query.to_pandas()
    dev = rows[(rows.slice == "unfiltered") & (rows["query"] < "q080")].pivot(
        index="query", columns="candidate", values="value"
    )
    away = (dev["large"] - dev["small"]).to_numpy()
    assert one.spread.sd == pytest.approx(np.sqrt((away**2).mean()))
    assert one.spread.unequal == pytest.approx((away != 0).mean())
    assert one.own.clusters == ARCHIVE - 80, "the test queries decide, and dev alone says how they spread"
    checked = json.loads(command("check", folder, "--json").out)["deciding"]
    (words,) = checked["chances"]
    assert words.startswith("measured, spread")
    assert checked["chances"][words] == pytest.approx(one.own.decides)


def test_a_difference_that_too_few_queries_could_make_is_said_to_be_impossible(
    tmp_path: Path, command: Command
) -> None:
    answer = command("power", archive(tmp_path / "s"), "--spread", "0.05", "--unequal", "0.01", "--difference", "0.6")
    assert answer.code == 0
    assert "no true difference of 0.6 is possible" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--spread", "0.9", "--unequal", "0.5"), "--spread 0.9"),
        (("--spread", "0"), "--spread 0"),
        (("--unequal", "0"), "--unequal 0"),
        (("--difference", "1.5"), "--difference 1.5"),
    ],
)
def test_numbers_that_cannot_be_are_refused(
    tmp_path: Path, command: Command, options: tuple[str, ...], said: str
) -> None:
    answer = command("power", archive(tmp_path / "s"), *options)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert "fix:" in answer.err


def test_a_rule_by_point_estimate_has_no_power(tmp_path: Path, command: Command) -> None:
    folder = change(archive(tmp_path / "s"), ("gap = 0.05", 'gap = 0.05\nconfidence = "point"'))
    answer = command("power", folder)
    assert (answer.code, answer.out) == (2, "")
    assert "it always decides, and is never sure" in answer.err


def test_uneven_clusters_and_a_difference_on_the_gap_are_noted(tmp_path: Path) -> None:
    found: Power = power(load_study(runnable(tmp_path / "s", public=True)), difference=0.02)
    assert found.largest_cluster == 2
    assert found.least > least_units(0.02, 0.95)
    assert any("the clusters are uneven" in note for note in found.notes)
    assert any("on the gap itself is never settled" in note for note in found.notes)
    assert all(one.needed is None for one in found.outlooks)


def test_the_same_study_has_the_same_power(tmp_path: Path) -> None:
    study = load_study(archive(tmp_path / "s"))
    assert power(study, spread=0.2) == power(study, spread=0.2)
    assert power(replace(study, seed=8), spread=0.2) != power(study, spread=0.2)
    with pytest.raises(InputError, match="lies outside"):
        power(study, difference=-1.0)


def test_V027_declared_tests_are_counted_and_small_subgroups_do_not_decide(tmp_path: Path, command: Command) -> None:
    """12 subgroups, 3 models, 40 queries: nothing is called on so little, and everything says what it would take."""
    folder = archive(tmp_path / "s", queries=40, subgroups=12, names=("small", "middle", "large"))
    answer = command("bench", folder, "--quiet")
    assert answer.code == 4, "too few queries to decide is an answer"
    (result,) = (folder / "results").iterdir()
    summary = json.loads((result / "result.json").read_text(encoding="utf-8"))
    decision = summary["decision"]
    assert decision["verdict"] == "undecided"
    assert decision["tests"] == 2 * 2 * sum(s["state"] != "not tested" for s in decision["standings"]) > 0
    sizes = [of["unfiltered"] for of in summary["subgroups"].values()]
    assert len(sizes) == 12
    assert all((size["enough"], size["least"]) == (False, 59) for size in sizes)
    report = (result / "report.md").read_text(encoding="utf-8")
    assert report.count("too few to decide: 59 needed") == 12
    assert f"Tested: {decision['tests']} one-sided hypotheses" in report
    assert "not corrected for their number" in report
    assert "Holm's first step" in summary["definitions"]["tests"]
    outlook = json.loads(command("power", folder, "--spread", "0.2", "--json").out)
    assert outlook["least"] == 59
    groups = [group for group in outlook["groups"] if group["kind"] == "subgroup"]
    assert len(groups) == 12
    assert all(group["clusters"] <= 4 and group["least"] == 59 and group["own"]["decides"] == 0 for group in groups)
    assert all(group["needed"] == outlook["outlooks"][0]["needed"] > 59 for group in groups)
    assert outlook["outlooks"][0]["shown_inside"] is None, "no loss at all can be shown to lie inside"
    assert outlook["outlooks"][0]["shown_outside"] > 0.05, "the least difference that so few queries detect"


def noisy(seed: int) -> tp.Candidate:
    """Every text has a vector of its own, moved a little each time that it is encoded: what a live model's batches do."""
    rng = np.random.default_rng(seed)

    def encode(texts: list[str]) -> np.ndarray:
        vectors = np.full((len(texts), 24), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            known = text.removeprefix("q")
            if known.isdigit():
                vectors[row, int(known) % 20] = 1
                if text == known and int(known) >= 20:
                    vectors[row, int(known) % 20] -= 1e-4
        return vectors + rng.uniform(-3e-5, 3e-5, vectors.shape).astype(np.float32)

    return tp.Candidate(f"noisy-{seed}", encode=encode, contract=contract(24, metric="dot", revision=str(seed)))


def test_V048_what_lies_within_the_noise_of_encoding_decides_nothing(tmp_path: Path) -> None:
    """50 texts repeated measure the noise; two documents within 1e-4 of each other tie at that floor, and are said to."""
    folder = archive(tmp_path / "s")
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({"_id": f"c{i:02}", "text": str(20 + i)}) + "\n" for i in range(20))
    candidates = [noisy(1), noisy(2)]
    texts = [str(i % 25) for i in range(50)]
    first, again = (np.asarray(candidates[0].encode(texts)) for _ in range(2))
    noise = float(np.abs(first @ first.T - again @ again.T).max())
    assert 1e-6 < noise < 5e-4
    strict = tp.bench(load_study(folder), candidates=candidates)
    floor = change(folder, ("seed = 7", f"seed = 7\ntie_tolerance = {2 * noise + 1e-4:.6f}"))
    held = tp.bench(load_study(floor), candidates=candidates)
    for result, moved in ((strict, False), (held, True)):
        arm = result.summary.candidates[0]
        bounds = arm.bounds["unfiltered"]["RR@3"]
        assert (bounds.tie_high - bounds.tie_low > 0.4) == moved
        assert (arm.ties["unfiltered"].queries == 0) or moved
        assert any("tied" in line for line in result.summary.decision.warnings) == moved
    assert held.summary.decision.verdict == "undecided", (
        "the order of documents that tie within the noise decides nothing"
    )
    assert strict.summary.decision.verdict == "decided", "taken at its word, the noise would"
