"""Measures against hand-computed values, a plain float64 loop with ties, pytrec_eval and ir_measures."""

from __future__ import annotations

import itertools
import math
import tomllib
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from tiepoint.core.qrels import Qrels
from tiepoint.core.run import Run
from tiepoint.errors import InputError
from tiepoint.measures import kinds, parse
from tiepoint.measures.graded import GradedRun, ties_at

GOLDEN = Path(__file__).parent / "golden"


def run_of(rankings: list[list[tuple[int, float]]], depth: int, documents: int) -> Run:
    """Rankings of (row, score) as the search gives them: by score descending, then row; ties beyond depth kept."""
    document = np.full((len(rankings), depth), -1, dtype=np.int32)
    score = np.full((len(rankings), depth), -np.inf)
    tied = []
    for i, hits in enumerate(rankings):
        ordered = sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        for place, (row, value) in enumerate(ordered[:depth]):
            document[i, place], score[i, place] = row, value
        last = ordered[depth - 1][1] if len(ordered) > depth else None
        tied.append([row for row, value in ordered[depth:] if value == last])
    return Run(
        document=document,
        score=score,
        eligible=np.full(len(rankings), documents),
        tied_start=np.cumsum([0, *map(len, tied)]),
        tied=np.array(list(itertools.chain(*tied)), dtype=np.int32),
        tolerance=0.0,
        failed={},
    )


def qrels_of(grades: list[dict[int, int]], documents: int) -> Qrels:
    rows = [(f"q{i}", f"d{d:03d}", g) for i, judged in enumerate(grades) for d, g in judged.items()]
    return Qrels.from_rows(
        rows, query_ids=[f"q{i}" for i in range(len(grades))], document_ids=[f"d{d:03d}" for d in range(documents)]
    )


def graded_of(ranking: list[int], judged: dict[int, int], depth: int | None = None) -> GradedRun:
    """One ranking of documents by falling score, with its judgements; everything counts."""
    documents = max([*ranking, *judged]) + 1
    hits = [(row, float(len(ranking) - place)) for place, row in enumerate(ranking)]
    qrels = qrels_of([judged], documents)
    return GradedRun.of(run_of([hits], depth or len(ranking), documents), qrels, np.ones(len(qrels), dtype=bool))


# A plain loop, written from the definitions.


def plain(name: str, k: int, ranking: list[int], judged: dict[int, int]) -> float | None:
    grades = [judged.get(d) for d in ranking[:k]]
    relevant = sorted((g for g in judged.values() if g >= 1), reverse=True)
    if not relevant:
        return None
    if name in ("recall", "pooled_recall"):
        return sum(g is not None and g >= 1 for g in grades) / len(relevant)
    if name == "Success":
        return float(any(g is not None and g >= 1 for g in grades))
    if name == "RR":
        return next((1 / (i + 1) for i, g in enumerate(grades) if g is not None and g >= 1), 0.0)
    if name == "Judged":
        return sum(g is not None for g in grades) / len(grades) if grades else None
    gain = {"nDCG": lambda g: 2**g - 1, "nDCG(gain=linear)": lambda g: g}[name]
    found = sum(gain(g or 0) / math.log2(i + 2) for i, g in enumerate(grades))
    return found / sum(gain(g) / math.log2(i + 2) for i, g in enumerate(relevant[:k]))


NAMES = ["recall", "pooled_recall", "Success", "RR", "Judged", "nDCG", "nDCG(gain=linear)"]


@st.composite
def studies(draw: st.DrawFn) -> tuple[list[list[tuple[int, float]]], list[dict[int, int]], int, int]:
    documents, queries = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    depth = draw(st.integers(1, 6))
    rankings = [
        [(d, float(draw(st.integers(0, 3)))) for d in sorted(draw(st.sets(st.integers(0, documents - 1))))]
        for _ in range(queries)
    ]
    judged = [
        {d: draw(st.integers(0, 3)) for d in sorted(draw(st.sets(st.integers(0, documents - 1))))}
        for _ in range(queries)
    ]
    return rankings, judged, documents, depth


@settings(max_examples=200, deadline=None)
@given(study=studies())
def test_measures_equal_a_plain_loop_with_ties_and_their_extremes_equal_every_order(
    study: tuple[list[list[tuple[int, float]]], list[dict[int, int]], int, int],
) -> None:
    rankings, judged, documents, depth = study
    qrels = qrels_of(judged, documents)
    run = run_of(rankings, depth, documents)
    graded = GradedRun.of(run, qrels, np.ones(len(qrels), dtype=bool))
    worst, best = graded.tie_extremes(run, qrels)
    for name in NAMES:
        measure = parse(f"{name}@{depth}")
        columns = [measure(g) for g in (graded, worst, best)]
        for i, hits in enumerate(rankings):
            ordered = [d for d, _ in sorted(hits, key=lambda hit: (-hit[1], hit[0]))]
            expected = plain(name, depth, ordered, judged[i])
            assert columns[0].defined[i] == (expected is not None)
            if expected is None:
                continue
            assert columns[0].values[i] == pytest.approx(expected, abs=1e-12)
            if name != "Judged":
                orders = [plain(name, depth, order, judged[i]) for order in tied_orders(hits)]
                assert columns[1].values[i] == pytest.approx(min(orders), abs=1e-12)
                assert columns[2].values[i] == pytest.approx(max(orders), abs=1e-12)


def tied_orders(hits: list[tuple[int, float]]) -> list[list[int]]:
    """Every ranking that an order of tied documents allows (a sample of them where there are very many)."""
    groups = [[d for d, s in hits if s == value] for value in sorted({s for _, s in hits}, reverse=True)]
    each = [list(itertools.islice(itertools.permutations(group), 5040)) for group in groups]
    rows = itertools.islice(itertools.product(*each), 20_000)
    return [list(itertools.chain(*row)) for row in rows]


def distinct_study(graded: bool) -> tuple[list[list[tuple[int, float]]], list[dict[int, int]], int]:
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
    rankings: list[list[tuple[int, float]]], judged: list[dict[int, int]]
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrels = {f"q{i}": {f"d{d:03d}": g for d, g in grades.items()} for i, grades in enumerate(judged)}
    run = {f"q{i}": {f"d{d:03d}": s for d, s in hits} for i, hits in enumerate(rankings)}
    return qrels, run


@pytest.mark.parametrize(
    ("ours", "theirs"), [("recall@10", "recall_10"), ("nDCG@10", "ndcg_cut_10"), ("Success@10", "success_10")]
)
def test_measures_equal_pytrec_eval_without_ties(ours: str, theirs: str) -> None:
    rankings, judged, documents = distinct_study(graded=False)
    qrels = qrels_of(judged, documents)
    column = parse(ours)(GradedRun.of(run_of(rankings, 100, documents), qrels, np.ones(len(qrels), dtype=bool)))
    expected = pytrec_eval.RelevanceEvaluator(
        as_dictionaries(rankings, judged)[0], {theirs.replace("_10", ".10")}
    ).evaluate(as_dictionaries(rankings, judged)[1])
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
    ],
)
def test_measures_equal_ir_measures_without_ties_where_the_gain_agrees(ours: str, theirs: object) -> None:
    rankings, judged, documents = distinct_study(graded=True)
    qrels = qrels_of(judged, documents)
    column = parse(ours)(GradedRun.of(run_of(rankings, 100, documents), qrels, np.ones(len(qrels), dtype=bool)))
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


def test_names_parse_and_print_alike() -> None:
    for name in (
        "nDCG@10",
        "nDCG(gain=linear)@5",
        "recall(rel=2)@100",
        "RR@1",
        "pooled_recall@20",
        "Success@3",
        "Judged@10",
    ):
        assert str(parse(name)) == name
    assert str(parse("R@10")) == "recall@10"
    assert str(parse("nDCG(gain=exponential)@10")) == "nDCG@10"
    for wrong in ("nDCG", "ndgc@10", "recall@0", "recall(rel=9)@10", "recall(rell=1)@10", "RR@1.5", "@10"):
        with pytest.raises(InputError):
            parse(wrong)
    with pytest.raises(InputError, match="did you mean"):
        parse("nDGC@10")


def test_V003_ideal_comes_from_the_qrels() -> None:
    """Three relevant, one retrieved at rank 1: never 1.0."""
    assert parse("nDCG@10")(graded_of([0], {0: 1, 1: 1, 2: 1}, depth=10)).values[0] == pytest.approx(0.4693, abs=5e-5)


def test_V004_one_relevant_document_falls_with_its_rank() -> None:
    for rank, expected in enumerate((1.0, 0.6309, 0.5)):
        ranking = [9, 8, 7]
        ranking[rank] = 0
        assert parse("nDCG@3")(graded_of(ranking, {0: 1})).values[0] == pytest.approx(expected, abs=5e-5)


def test_V005_a_repeated_document_is_refused() -> None:
    run = run_of([[(0, 3.0), (0, 2.0), (0, 1.0)]], 3, 2)
    qrels = qrels_of([{0: 1, 1: 1}], 2)
    with pytest.raises(InputError, match="twice"):
        GradedRun.of(run, qrels, np.ones(2, dtype=bool))


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


def test_ties_at_the_cut_are_counted() -> None:
    run = run_of([[(0, 1.0), (1, 1.0), (2, 1.0)], [(0, 3.0), (1, 2.0), (2, 1.0)], [(0, 1.0)]], 2, 3)
    crossing, pairs = ties_at(run, 2)
    assert crossing.tolist() == [True, False, False]
    assert pairs.tolist() == [2, 0, 0]


def test_unjudged_hits_as_best_raise_the_figure_and_count() -> None:
    graded = graded_of([5, 0, 6], {0: 1, 1: 1}, depth=3)
    assert parse("recall@3")(graded).values[0] == pytest.approx(1 / 2)
    assert parse("recall@3")(graded.unjudged_as_best(3)).values[0] == pytest.approx(3 / 4)
