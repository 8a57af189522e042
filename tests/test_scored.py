"""Which queries a measure scores, told from the study alone: the same before a run, in it and beside its figures."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from command import Command
from measured import NAMES
from ranked_spaces import RULE
from recorded import change
from studies import JUDGEMENTS, refusal, write_study
from test_differential import made_study, written
from test_power import archive
from tiepoint.core.study import SLICES, Rule
from tiepoint.measures import parse
from tiepoint.search.chance import search_randomly
from tiepoint.workflows.enough import Enough
from tiepoint.workflows.evidence import evidence
from tiepoint.workflows.figures import ArmRun, measure_views
from tiepoint.workflows.slices import scored, slices, views

MEASURES = [parse(f"{name}@5") for name in NAMES if parse(f"{name}@5").kind.decides]
ASKS_FOR_3 = ('measure = "RR@3"', 'measure = "recall(rel=3)@5"')


@pytest.mark.parametrize("seed", range(12))
def test_what_a_measure_scores_is_known_before_any_run(seed: int, tmp_path: Path) -> None:
    study = tp.load_study(written(tmp_path, made_study(seed), RULE))
    by_view = views(study)
    runs = {
        name: search_randomly(study.queries, view.eligibility, seed=seed, depth=5) for name, view in by_view.items()
    }
    arm = ArmRun("random", measure_views(study, by_view, runs, MEASURES))
    for measure in MEASURES:
        for name, view in by_view.items():
            assert (scored(study, view, measure) == arm.views[name].columns[str(measure)].defined).all()
        for part in slices(study, by_view):
            ruled = replace(study, rule=Rule(measure=str(measure), slice=part.name, confidence="point"))
            given, found = evidence(ruled, [], arm, [], {}, [part]), Enough.of(ruled, part)
            assert given.cluster.tolist() == found.cluster.tolist()
            assert given.largest == found.largest


def test_the_made_studies_tell_the_grades_apart(tmp_path: Path) -> None:
    study = tp.load_study(written(tmp_path, made_study(0), RULE))
    sizes = [scored(study, views(study)["filtered"], parse(f"P{rel}@5")).sum() for rel in ("", "(rel=2)", "(rel=3)")]
    assert sizes[0] > sizes[1] > sizes[2] > 0
    assert {measure.least_grade for measure in MEASURES} == {1, 2, 3}
    assert {(m.name, m.least_grade) for m in MEASURES if not m.kind.options.get("rel")} == {("nDCG", 1)}


@pytest.mark.parametrize(("graded_3", "enough"), [(58, False), (59, True)])
def test_power_check_bench_and_report_count_the_queries_that_the_rule_s_measure_scores(
    tmp_path: Path, command: Command, graded_3: int, *, enough: bool
) -> None:
    """70 queries test and 20 dev; on either side of the 59 that the gap takes, and never 70."""
    folder = archive(tmp_path / "s", queries=90, dev=20)
    high = sorted(random.Random(3).sample(range(20, 90), graded_3))  # noqa: S311
    change(
        folder,
        *((f"q{i:03}\td{i % 20:02}\t1", f"q{i:03}\td{i % 20:02}\t3") for i in [*range(10), *high]),
        file="qrels.tsv",
    )
    change(folder, ASKS_FOR_3)
    outlook = json.loads(command("power", folder, "--json").out)
    checked = json.loads(command("check", folder, "--json").out)
    assert command("bench", folder, "--quiet").code in (0, 4)
    (result,) = (folder / "results").iterdir()
    summary = json.loads((result / "result.json").read_text(encoding="utf-8"))
    report = (result / "report.md").read_text(encoding="utf-8")
    decision = summary["decision"]
    counted = [(found["queries"], found["clusters"]) for found in (outlook, checked["deciding"], decision)]
    assert counted == [(graded_3, graded_3)] * 3
    assert outlook["least"] == checked["deciding"]["least"] == decision["least_queries"] == 59
    assert checked["deciding"]["enough"] is enough
    assert f"{graded_3} independent" in " ".join(command("power", folder).out.split())
    sizes = {name: sum(i % 3 == int(name[-2:]) for i in high) for name in summary["subgroups"]}
    assert {g["name"]: g["clusters"] for g in outlook["groups"]} == sizes
    assert {name: of["unfiltered"]["clusters"] for name, of in summary["subgroups"].items()} == sizes
    assert all(f"too few to decide: {size} of 59 needed" in report for size in sizes.values())
    assert summary["denominators"]["unfiltered"]["scored"] == 90, "of any measure"
    assert {of["unfiltered"]["scored"] for of in summary["subgroups"].values()} == {30}


def test_uneven_clusters_are_those_of_the_queries_that_the_rule_s_measure_scores(
    tmp_path: Path, command: Command
) -> None:
    folder = archive(tmp_path / "s", queries=70, clusters=(2, 3))
    change(
        folder, *((f"q{i:03}\td{i % 20:02}\t1", f"q{i:03}\td{i % 20:02}\t3") for i in range(1, 66)), file="qrels.tsv"
    )
    change(folder, ASKS_FOR_3)
    outlook = json.loads(command("power", folder, "--json").out)
    checked = json.loads(command("check", folder, "--json").out)["deciding"]
    command("bench", folder, "--quiet")
    (result,) = (folder / "results").iterdir()
    decision = json.loads((result / "result.json").read_text(encoding="utf-8"))["decision"]
    assert (outlook["queries"], outlook["clusters"]) == (65, 63)
    assert (checked["queries"], checked["clusters"]) == (decision["queries"], decision["clusters"]) == (65, 63)
    assert outlook["least"] == checked["least"] == decision["least_queries"] > 59
    assert outlook["largest_cluster"] == decision["largest_cluster"] == 3


def test_a_rule_whose_measure_scores_no_query_is_refused(tmp_path: Path) -> None:
    rule = {"measure": "recall(rel=3)@3", "slice": "filtered"}
    assert tp.load_study(write_study(tmp_path / "one", decision=rule)).rule.measure == "recall(rel=3)@3"
    judgements = JUDGEMENTS.replace("q3\td5\t3", "q3\td5\t2").replace("q4\td3\t2", "q4\td3\t3")
    message = refusal(write_study(tmp_path / "none", decision=rule, judgements=judgements))
    assert "(slice 'filtered') has a relevant document for recall(rel=3)@3 (grade 3 or better)" in message
    assert "judge documents for them with grade 3 and above" in message
    assert tp.load_study(write_study(tmp_path / "any", judgements=judgements)).rule.measure == "nDCG@3"


@pytest.mark.parametrize("name", SLICES)
def test_without_a_decision_table_grade_1_is_relevant(tmp_path: Path, name: str) -> None:
    study = tp.load_study(write_study(tmp_path, decision=None))
    part = next(part for part in slices(study, views(study)) if part.name == name)
    asked = scored(study, part.view)
    assert Enough.of(study, part).queries.tolist() == part.queries[asked[part.queries]].tolist()
    assert np.array_equal(asked, scored(study, part.view, parse("recall@3")))
