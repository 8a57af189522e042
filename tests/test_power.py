"""What the questions can settle, before a run: the command, its spreads, and its field cases."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import tiepoint as tp
from command import Command
from recorded import benched, change, runnable
from tiepoint.core.power import Power
from tiepoint.errors import InputError
from tiepoint.formats.study_toml.write import toml_value
from tiepoint.report.power import sections
from tiepoint.stats.enough import fewest
from tiepoint.stats.paired import least_units
from tiepoint.stats.population import SINGLE
from tiepoint.stats.power import Supposed
from tiepoint.stats.resample import stream
from tiepoint.workflows.intake.load import load_study
from tiepoint.workflows.power import power
from tiepoint.workflows.spreads import suppositions

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
    clusters: tuple[int, ...] = (),
) -> Path:
    """Twenty documents and questions of one relevant document each; every candidate misses a few of its own.

    clusters   queries of each of the first clusters; the other queries stand alone
    """
    tables = {
        "study": {"name": "archive", "k": 3, "measures": ["RR@3"], "seed": 7},
        "corpus": {"path": "corpus.jsonl", "id": "_id", "text": "{text}"},
        "queries": {
            "path": "queries.jsonl",
            "id": "_id",
            "text": "text",
            "subgroups": "subgroups",
            "split": "split",
            "cluster": "cluster",
        },
        "qrels": {"path": "qrels.tsv"},
        "access": {"public": True},
        "decision": {"measure": "RR@3", "slice": "unfiltered", "gap": 0.05, "prefer": ["dimension"]},
    }
    folder.mkdir(parents=True)
    split = {i: "dev" if i < dev else "test" for i in range(queries)} if dev else dict.fromkeys(range(queries))
    of = dict(enumerate(f"seed {c}" for c, size in enumerate(clusters) for _ in range(size)))
    documents = [{"_id": f"d{i:02}", "text": str(i)} for i in range(20)]
    asked = [
        {
            "_id": f"q{i:03}",
            "text": f"q{i}",
            "subgroups": [f"part {i % subgroups:02}"],
            "split": split[i],
            "cluster": of.get(i),
        }
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
    assert text.count("the spread is assumed, not measured: the queries name no dev split") == 1, (
        "said once for all three"
    )
    assert text.count("assumed") == 1
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
    (one,) = suppositions(study, **how)
    supposed = Supposed(one.population(SINGLE), study.rule.gap, study.rule.level)
    return supposed.chance(number, 0.0, rng=stream(9), samples=1_000).right


def test_power_and_check_never_contradict_the_least_number(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", clusters=(4,) * 15)
    found = json.loads(command("power", folder, "--json").out)
    assert (found["clusters"], found["largest_cluster"], found["least"]) == (195, 4, 188)
    for one in found["outlooks"]:
        assert all(row["decides"] == 0 for row in one["rows"] if row["clusters"] < 188)
        assert one["needed"] >= 188
        assert 0.1 < one["own"]["decides"] < 0.8
    small = [group for group in found["groups"] if group["kind"] == "subgroup"]
    assert all(group["clusters"] < group["least"] < group["needed"] and group["own"]["decides"] == 0 for group in small)
    checked = json.loads(command("check", folder, "--json").out)["deciding"]
    assert (checked["clusters"], checked["least"], checked["enough"]) == (195, 188, True)
    assert list(checked["chances"].values()) == pytest.approx([one["own"]["decides"] for one in found["outlooks"]])


def test_the_largest_cluster_is_that_of_any_split(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", dev=40, clusters=(5,))
    found = json.loads(command("power", folder, "--json").out)
    assert (found["clusters"], found["largest_cluster"]) == (200, 5)
    assert found["least"] == least_units(0.05, 0.95, np.ones(200), 5.0) > 200
    assert all(one["own"]["decides"] == 0 for one in found["outlooks"])
    checked = json.loads(command("check", folder, "--json").out)["deciding"]
    assert (checked["least"], checked["enough"]) == (found["least"], False)
    assert set(checked["chances"].values()) == {0}


def test_too_few_dev_queries_tell_no_spread(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", dev=19)
    benched(command, folder)
    (one, *_) = power(load_study(folder)).outlooks
    assert one.spread.source == "assumed"
    assert "it measured 19 independent dev queries by this rule's measure, and 20 are needed" in one.spread.sentence


def test_a_result_that_cannot_be_read_or_is_of_other_candidates_is_passed_over(
    tmp_path: Path, command: Command
) -> None:
    folder = archive(tmp_path / "s", dev=80)
    good = benched(command, folder)
    measured = power(load_study(folder)).outlooks
    texts = {
        "old": ("result.json", b'{"schema_version": 0}', "schema version 0"),
        "cut": ("rows/per_query.parquet", b"PAR1", "per_query.parquet cannot be read"),
        "cut queries": ("rows/queries.parquet", b"", "queries.parquet cannot be read"),
        "other": (
            "result.json",
            good.joinpath("result.json").read_bytes().replace(b'"large"', b'"huge"'),
            "it measured the candidates huge, small of archive",
        ),
    }
    for name, (path, text, why) in texts.items():
        later = good.with_name(f"99990101T000000Z-{name}")
        shutil.copytree(good, later)
        (later / path).write_bytes(text)
        (one,) = power(load_study(folder)).outlooks
        assert one.rows == measured[0].rows
        assert (
            f"in the result {good.name}; cheapest first as there, small, large, the difference" in one.spread.sentence
        )
        assert f"not in a later one, {later.name}: " in one.spread.sentence
        assert why in one.spread.sentence
        assert command("check", folder).code == 0
        shutil.rmtree(later)


def test_a_result_before_its_judgements_changed_says_so(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", dev=80)
    name = benched(command, folder).name
    qrels = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "qrels.tsv").write_text("".join(qrels[:-1]), encoding="utf-8")
    (one,) = power(load_study(folder)).outlooks
    assert f"in the result {name} (whose qrels were others)" in one.spread.sentence


def test_a_result_of_fewer_candidates_than_the_rule_walks_says_no_spread(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", dev=80)
    result = benched(command, folder)
    summary = json.loads((result / "result.json").read_text(encoding="utf-8"))
    summary["candidates"][1]["status"] = "failed"
    (result / "result.json").write_text(json.dumps(summary), encoding="utf-8")
    (one, *_) = power(load_study(folder)).outlooks
    assert one.spread.source == "assumed"
    assert (
        f"{result.name}: it measured the candidates {summary['candidates'][0]['id']} of archive;" in one.spread.sentence
    )


def test_ranges_that_noise_widened_are_not_the_rules(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", dev=80)
    result = benched(command, folder)
    before = power(load_study(folder)).outlooks
    path = result / "rows" / "per_query.parquet"
    rows = pq.read_table(path)
    known = rows["value"].is_valid()
    for name, end in (("low", 0.0), ("high", 1.0)):
        rows = rows.set_column(rows.column_names.index(name), name, pc.if_else(known, end, None))
    pq.write_table(rows, path)
    assert power(load_study(folder)).outlooks[0].needed is None, "any order of all ties: nothing is ever decided"
    summary = json.loads((result / "result.json").read_text(encoding="utf-8"))
    for candidate in summary["candidates"]:
        candidate["noise"] = 0.5
    (result / "result.json").write_text(json.dumps(summary), encoding="utf-8")
    assert power(load_study(folder)).outlooks == before


def test_rankings_made_elsewhere_are_no_arm_of_the_walk(tmp_path: Path) -> None:
    folder = archive(tmp_path / "s")
    before = power(load_study(folder)).outlooks
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[candidate]]\nid = "theirs"\nembedder = "run"\noptions = { run = "theirs.trec" }\n')
    (folder / "theirs.trec").write_text("q000 Q0 d000 1 1.0 theirs\n", encoding="utf-8")
    assert power(load_study(folder)).outlooks == before


def test_what_is_supposed_of_pooled_judgements_is_said(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s")
    assert "unjudged" not in command("power", folder).out
    text = (folder / "study.toml").read_text(encoding="utf-8")
    (folder / "study.toml").write_text(text.replace("[qrels]\n", "[qrels]\npooled = true\n"), encoding="utf-8")
    assert "supposed is that no hit is unjudged" in " ".join(command("power", folder).out.split())


def test_only_queries_that_decide_count_for_a_group(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", queries=80, dev=40, subgroups=1)
    assert command("bench", folder, "--quiet").code == 4
    (result,) = (folder / "results").iterdir()
    summary = json.loads((result / "result.json").read_text(encoding="utf-8"))
    size = summary["subgroups"]["part 00"]["unfiltered"]
    assert (size["queries"], size["scored"], size["clusters"]) == (80, 80, 40)
    assert (size["enough"], size["least"]) == (False, 59)
    assert (summary["decision"]["clusters"], summary["decision"]["least_queries"]) == (40, 59)
    (group,) = json.loads(command("power", folder, "--json").out)["groups"]
    assert (group["clusters"], group["least"]) == (40, 59)


def test_fewer_than_20_independent_queries_never_decide(tmp_path: Path, command: Command) -> None:
    folder = change(archive(tmp_path / "s", queries=24, dev=5, subgroups=1), ("gap = 0.05", "gap = 0.9"))
    found = json.loads(command("power", folder, "--json").out)
    assert (found["clusters"], found["least"], found["groups"][0]["least"]) == (19, 20, 20)
    assert all(one["own"]["decides"] == 0 and one["needed"] == 20 for one in found["outlooks"])
    checked = json.loads(command("check", folder, "--json").out)["deciding"]
    assert (checked["least"], checked["enough"], checked["smallest_gap"]) == (20, False, None)
    assert command("bench", folder, "--quiet").code == 4
    (result,) = (folder / "results").iterdir()
    summary = json.loads((result / "result.json").read_text(encoding="utf-8"))
    assert summary["decision"]["verdict"] == "undecided"
    assert "Fewer than 20 independent queries decide nothing" in summary["decision"]["sentence"]
    assert "not even a million" not in (result / "report.md").read_text(encoding="utf-8")
    size = summary["subgroups"]["part 00"]["unfiltered"]
    assert (size["clusters"], size["enough"], size["least"]) == (19, False, 20)
    assert fewest(0.9, "point") == fewest(0.9, 0.95) == 20
    assert fewest(0.0, 0.95) is None


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
    assert one.spread.sd == pytest.approx(away.std())
    assert abs(away.mean()) > 0.01, "or the root mean square would do as well"
    assert one.spread.unequal == pytest.approx((away != 0).mean())
    assert one.own.clusters == ARCHIVE - 80, "the test queries decide, and dev alone says how they spread"
    checked = json.loads(command("check", folder, "--json").out)["deciding"]
    assert checked["smallest_gap"] == pytest.approx(1 - 0.05 ** (1 / (ARCHIVE - 80)))
    (words,) = checked["chances"]
    assert words.startswith("measured, spread")
    assert checked["chances"][words] == pytest.approx(one.own.decides)


def test_a_difference_that_too_few_queries_could_make_is_said_to_be_impossible(
    tmp_path: Path, command: Command
) -> None:
    answer = command("power", archive(tmp_path / "s"), "--spread", "0.05", "--unequal", "0.01", "--difference", "0.6")
    assert (answer.code, answer.out) == (2, "")
    assert "--difference 0.6 is not possible: under a spread of 0.0500, with 1% of the queries differing" in answer.err
    low, high = re.search(r"a true difference lies between (-\S+) and ([^;\s]+);", answer.err).groups()
    assert -float(low) == float(high) == pytest.approx(0.05 * math.sqrt(0.01 / 0.99), abs=1e-4), "all of them one way"
    assert "state a --difference in that range, or a wider spread" in answer.err
    some = command("power", tmp_path / "s", "--difference", "0.25")
    text = " ".join(some.out.split())
    assert some.code == 0, "one of the spreads that are assumed allows it"
    assert text.count("no true difference of 0.25 is possible under this spread") == 2
    assert text.count("a true difference lies between -0.05 and 0.05;") == 1
    assert text.count("a true difference lies between -0.2 and 0.2;") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--spread", "0.9", "--unequal", "0.5"), "--spread 0.9"),
        (("--spread", "0"), "--spread 0"),
        (("--unequal", "0"), "--unequal 0"),
        (("--difference", "1.5"), "--difference 1.5: a measure lies in 0 to 1"),
        (("--difference", "-1"), "state one above -1 and below 1"),
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
    head = " ".join(sections(found)[0].lines)
    even = f"below {found.least} independent queries (149 if no cluster were larger than the others; the largest here holds 2)"
    assert head.count(even) == 1
    assert any("on the gap itself is never settled" in note for note in found.notes)
    assert all(one.needed is None for one in found.outlooks)


def test_the_same_study_has_the_same_power(tmp_path: Path) -> None:
    study = load_study(archive(tmp_path / "s"))
    assert power(study, spread=0.2) == power(study, spread=0.2)
    assert power(replace(study, seed=8), spread=0.2) != power(study, spread=0.2)
    with pytest.raises(InputError, match="a measure lies in 0 to 1"):
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
    assert sum(report.count(f"too few to decide: {n} of 59 needed") for n in {size["clusters"] for size in sizes}) == 12
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
