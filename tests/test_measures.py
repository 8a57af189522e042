"""Measures against hand-computed values, a plain loop, pytrec_eval and ir_measures; names; what is refused.

test_measures_ties.py and test_measures_unjudged.py hold their ranges.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import measures_page
import tiepoint as tp
from measured import Hits, everything, graded_of, qrels_of, run_of
from studies import write_study
from tiepoint.core.qrels import Qrels
from tiepoint.errors import Defect, InputError
from tiepoint.measures import kinds, parse
from tiepoint.measures.graded import GradedRun, Names
from tiepoint.measures.measure import Column, Measure, sound
from tiepoint.workflows.figures import measure_run
from tiepoint.workflows.slices import views

GOLDEN = Path(__file__).parent / "golden"


def distinct_study(graded: bool) -> tuple[list[Hits], list[dict[int, int]], int]:
    rng = np.random.default_rng(11)
    documents, queries = 200, 60
    rankings, judged = [], []
    for _ in range(queries):
        chosen = rng.choice(documents, 100, replace=False)
        rankings.append([(int(d), 100.0 - place) for place, d in enumerate(chosen)])
        size = int(rng.integers(1, 30))
        judged.append(
            {int(d): int(rng.integers(0, 4 if graded else 2)) for d in rng.choice(documents, size, replace=False)}
        )
    return rankings, judged, documents


def as_dictionaries(
    rankings: list[Hits], judged: list[dict[int, int]]
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrels = {f"q{i}": {f"d{d:03d}": g for d, g in grades.items()} for i, grades in enumerate(judged)}
    run = {f"q{i}": {f"d{d:03d}": s for d, s in hits} for i, hits in enumerate(rankings)}
    return qrels, run


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("recall@10", "recall_10"),
        ("nDCG@10", "ndcg_cut_10"),
        ("Success@10", "success_10"),
        ("P@10", "P_10"),
        ("AP@10", "map_cut_10"),
        ("AP@100", "map"),
        ("RR@100", "recip_rank"),
    ],
)
def test_measures_equal_pytrec_eval_without_ties(ours: str, theirs: str) -> None:
    rankings, judged, documents = distinct_study(graded=False)
    qrels = qrels_of(judged, documents)
    column = parse(ours)(GradedRun.of(run_of(rankings, 100, documents), qrels, everything(qrels)))
    asked = {theirs.replace("_10", ".10")}
    expected = pytrec_eval.RelevanceEvaluator(as_dictionaries(rankings, judged)[0], asked).evaluate(
        as_dictionaries(rankings, judged)[1]
    )
    for i in np.flatnonzero(column.defined):
        assert column.values[i] == pytest.approx(expected[f"q{i}"][theirs], abs=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("recall@10", ir_measures.R @ 10),
        ("RR@100", ir_measures.RR),
        ("nDCG(gain=linear)@10", ir_measures.nDCG @ 10),
        ("Success@5", ir_measures.Success @ 5),
        ("Judged@10", ir_measures.Judged @ 10),
        ("recall(rel=2)@20", ir_measures.R(rel=2) @ 20),
        ("P@5", ir_measures.P @ 5),
        ("P(rel=2)@10", ir_measures.P(rel=2) @ 10),
        ("AP@100", ir_measures.AP),
        ("AP(rel=2)@20", ir_measures.AP(rel=2) @ 20),
        ("Success(rel=3)@5", ir_measures.Success(rel=3) @ 5),
        ("RR(rel=2)@100", ir_measures.RR(rel=2)),
    ],
)
def test_measures_equal_ir_measures_without_ties_where_the_gain_agrees(ours: str, theirs: object) -> None:
    rankings, judged, documents = distinct_study(graded=True)
    qrels = qrels_of(judged, documents)
    column = parse(ours)(GradedRun.of(run_of(rankings, 100, documents), qrels, everything(qrels)))
    values = {m.query_id: m.value for m in ir_measures.iter_calc([theirs], *as_dictionaries(rankings, judged))}
    for i in np.flatnonzero(column.defined):
        assert column.values[i] == pytest.approx(values[f"q{i}"], abs=1e-12)


@pytest.mark.parametrize("name", sorted(kinds()))
def test_every_measure_has_golden_values(name: str) -> None:
    cases = tomllib.loads((GOLDEN / f"{name}.toml").read_text(encoding="utf-8"))
    assert cases["source"]
    for case in cases["case"]:
        judged = {int(d): g for d, g in case["judged"].items()}
        column = parse(case["measure"])(graded_of(case["ranking"], judged, depth=case.get("depth", 10)))
        if case["value"] == "undefined":
            assert not column.defined[0]
        else:
            assert column.values[0] == pytest.approx(case["value"], abs=5e-5)


@st.composite
def named(draw: st.DrawFn) -> Measure:
    """Any measure with any of its options."""
    kind = draw(st.sampled_from(sorted(kinds().values(), key=lambda kind: kind.name)))
    chosen = {key: draw(st.sampled_from(values)) for key, values in kind.options.items() if draw(st.booleans())}
    options = draw(st.sampled_from([",", ", "])).join(f"{key}={value}" for key, value in chosen.items())
    return parse(f"{kind.name}{f'({options})' if options else ''}@{draw(st.integers(1, 10_000))}")


@given(measure=named())
def test_names_parse_and_print_alike(measure: Measure) -> None:
    assert parse(str(measure)) == measure
    assert str(parse(str(measure))) == str(measure)
    assert "{" not in measure.definition


def test_names_are_read_as_people_write_them() -> None:
    assert str(parse("R@10")) == "recall@10"
    assert str(parse("MAP@10")) == "AP@10"
    assert str(parse("MRR@10")) == "RR@10"
    assert str(parse("nDCG(gain=exponential)@10")) == "nDCG@10"
    assert str(parse(" recall@10 ")) == "recall@10"
    wrong = ("nDCG", "ndgc@10", "recall@0", "recall(rel=9)@10", "recall(rell=1)@10", "RR@1.5", "@10", "p@10")
    for name in (*wrong, "recall(rel=2,rel=3)@10", "recall(rel=2, rel=3)@10", "Judged(rel=2)@10"):
        with pytest.raises(InputError):
            parse(name)
    with pytest.raises(InputError, match="did you mean"):
        parse("nDGC@10")


@pytest.mark.parametrize(
    "name",
    [
        *("recall@1 0", "re call@10", "recall @10", "recall@ 10", "nDCG( gain = linear ) @ 5", "recall(rel = 2)@10"),
        *("recall(,)@10", "recall()@10", "recall(rel=2,)@10", "recall(,rel=2)@10", "recall(rel=2)(rel=2)@10"),
        *("recall@\uff11\uff10", "recall@\u0661\u0660", "recall@+10", "recall@010", "recall@10\n", "recall@1_0"),
    ],
)
def test_a_name_that_is_not_written_so_is_not_a_measure(name: str) -> None:
    with pytest.raises(InputError, match="is not a measure"):
        parse(name)


@pytest.mark.parametrize("cutoff", ["10001", "99999", "1" + 4_999 * "0"])
def test_a_cut_off_deeper_than_any_ranking_is_refused_and_not_repeated_at_length(cutoff: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="looks deeper than 10,000 hits") as caught:
        parse(f"recall@{cutoff}")
    assert len(str(caught.value)) < 200
    folder = write_study(tmp_path, study={"measures": [f"recall@{cutoff}"]})
    with pytest.raises(InputError, match="looks deeper than 10,000 hits"):
        tp.load_study(folder)
    assert parse("recall@10000").cutoff == 10_000


@pytest.mark.parametrize("tables", [{"study": {"measures": ["RBO@10"]}}, {"decision": {"measure": "Jaccard@10"}}])
def test_a_measure_of_two_rankings_in_a_study_is_refused_with_its_place(tables: dict, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="compares two rankings") as caught:
        tp.load_study(write_study(tmp_path, **tables))
    assert "study.toml" in caught.value.problems[0].where
    assert "tiepoint audit" in caught.value.problems[0].fix


def test_a_definition_says_which_relevant_documents_count_under_a_filter() -> None:
    assert "absent from the corpus where the query has no filter" in parse("recall@10").definition
    assert "under a filter" in " ".join(
        measures_page.PAGE.read_text(encoding="utf-8").split("**R** of")[1].split()[:60]
    )


def test_a_definition_says_from_which_grade_on_a_document_is_relevant() -> None:
    assert "grade 1 or better" in parse("AP@10").definition
    assert "grade 2 or better" in parse("AP(rel=2)@10").definition


def test_a_cut_off_beyond_the_depth_is_refused() -> None:
    with pytest.raises(InputError, match="needs rankings of depth 4, these have 3"):
        parse("P@4")(graded_of([0, 1, 2], {0: 1}))


def test_judgements_in_any_order_and_of_absent_documents_are_found() -> None:
    """Within a query the documents stand in rising order where the study is loaded; a caller may hand over others."""
    run = run_of([[(0, 2.0), (3, 1.0)], [(1, 1.0)]], 2, 4)
    qrels = Qrels(
        start=np.array([0, 3, 4]),
        document=np.array([3, -1, 0, 1]),
        document_id=("d3", "gone", "d0", "d1"),
        grade=np.array([2, 3, 1, 0], dtype=np.int8),
    )
    graded = GradedRun.of(run, qrels, everything(qrels))
    assert graded.grade.tolist() == [[1, 2], [0, -2]]
    assert graded.relevant.tolist() == [[0, 1, 1, 1], [1, 0, 0, 0]]


def test_V003_ideal_comes_from_the_qrels() -> None:
    """Three relevant, one retrieved at rank 1: never 1.0."""
    assert parse("nDCG@10")(graded_of([0], {0: 1, 1: 1, 2: 1}, depth=10)).values[0] == pytest.approx(0.4693, abs=5e-5)


def test_V004_one_relevant_document_falls_with_its_rank() -> None:
    for rank, expected in enumerate((1.0, 0.6309, 0.5)):
        ranking = [9, 8, 7]
        ranking[rank] = 0
        assert parse("nDCG@3")(graded_of(ranking, {0: 1})).values[0] == pytest.approx(expected, abs=5e-5)


def test_V005_a_repeated_document_is_refused_by_query_and_id() -> None:
    run = run_of([[(1, 1.0)], [(0, 3.0), (0, 2.0), (0, 1.0)], [(0, 9.0), (1, 3.0), (1, 2.0)]], 3, 2)
    qrels = qrels_of([{}, {0: 1, 1: 1}, {}], 2)
    names = Names(["q1", "q2", "q3"], ["a", "b"])
    with pytest.raises(InputError, match="2 rankings hold a document twice") as caught:
        GradedRun.of(run, qrels, everything(qrels), names)
    assert caught.value.problems[0].where == "query q2, document a, query q3, document b"
    with pytest.raises(InputError, match="query at position 1, document at position 0, query at position 2"):
        GradedRun.of(run, qrels, everything(qrels))


def test_V005_a_ranking_that_repeats_a_document_is_named_where_a_study_is_measured(tmp_path: Path) -> None:
    study = tp.load_study(write_study(tmp_path))
    view = views(study)["unfiltered"]
    hits: list[Hits] = [[] for _ in study.queries.ids]
    hits[1] = [(2, 3.0), (2, 2.0)]
    run = run_of(hits, 5, len(study.corpus.units.ids))
    with pytest.raises(InputError, match=f"query {study.queries.ids[1]}, document {study.corpus.units.ids[2]}"):
        measure_run(study, view, run, [parse("recall@5")])


@pytest.mark.parametrize(
    ("top", "bottom"),
    [(1.5, 1.0), (1.0 + 2e-9, 1.0), (-2e-9, 1.0), (float("nan"), 1.0), (1.0, 0.0), (4.0, 3.0), (-1.0, 3.0)],
)
def test_V005_a_value_that_is_not_within_0_to_1_is_a_defect(top: float, bottom: float) -> None:
    with pytest.raises(Defect, match="1 values of a measure are not within 0 to 1") as caught:
        sound(Column(np.array([0.5, top]), np.array([1.0, bottom]), np.array([True, True])))
    assert caught.value.problems[0].where == "at positions 1"
    assert caught.value.exit_code == 3


def test_V005_a_measure_that_counts_a_document_twice_is_a_defect() -> None:
    """What a repeated document would give, had it passed: recall 1.5 and nDCG above 1."""
    graded = GradedRun(np.array([[1, 1, 1]], dtype=np.int8), np.array([[0, 2, 0, 0]]), 1)
    for name in ("recall@3", "pooled_recall@3", "nDCG@3"):
        with pytest.raises(Defect, match="not within 0 to 1"):
            parse(name)(graded)


def test_rounding_beyond_the_range_is_set_to_it() -> None:
    column = sound(Column.of(np.array([1 + 1e-15, -1e-15, 0.5]), np.array([True, True, True])))
    assert column.values.tolist() == [1, 0, 0.5]


def test_V013_the_gain_decides_the_winner() -> None:
    first, second = ([1, 2, 1, 0, 3], [0, 3, 1, 2, 1])
    judged = {0: first, 1: second}
    gains = {}
    for name in ("nDCG(gain=linear)@5", "nDCG@5"):
        values = [
            parse(name)(graded_of(list(range(5)), dict(enumerate(grades)))).values[0] for grades in judged.values()
        ]
        gains[name] = values[0] - values[1]
    assert gains["nDCG(gain=linear)@5"] == pytest.approx(0.054, abs=5e-4)
    assert gains["nDCG@5"] == pytest.approx(-0.050, abs=5e-4)


def test_the_tables_of_measures_are_up_to_date() -> None:
    """`python tests/measures_page.py` makes it anew."""
    assert measures_page.PAGE.read_text(encoding="utf-8") == measures_page.page()
