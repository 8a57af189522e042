"""What unjudged hits could make of a measure, at most and at least, against every grade that each of them could have."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measured import NAMES, everything, graded_of, grades, orders, plain, qrels_of, run_of, tied_of
from tiepoint.measures import parse
from tiepoint.measures.graded import GradedRun


@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(st.lists(st.sampled_from([None, None, 0, 1, 2, 3]), max_size=6), min_size=1, max_size=3),
    missed=st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=3, max_size=3),
    cutoff=st.integers(1, 6),
    ceiling=st.integers(1, 3),
    more=st.integers(0, 2),
)
def test_the_range_over_unjudged_hits_equals_every_grade_of_each(
    rows: list[list[int | None]], missed: list[list[int]], cutoff: int, ceiling: int, more: int
) -> None:
    """rows: of each query the grades of its hits; missed: of its other judged documents."""
    capped = [[g and min(g, ceiling) for g in row] for row in rows]
    rest = [[min(g, ceiling) for g in missed[i]] for i in range(len(rows))]
    judged = [
        {d: g for d, g in enumerate(row) if g is not None} | {10 + d: g for d, g in enumerate(rest[i])}
        for i, row in enumerate(capped)
    ]
    run = run_of([[(d, -float(d)) for d in range(len(row))] for row in capped], 6, 20)
    qrels = qrels_of(judged, 20)
    graded = GradedRun.of(run, qrels, everything(qrels)).missing(np.full(len(rows), more))
    top = max([g for of in judged for g in of.values()], default=1) or 1
    if more:
        assert graded.top == top
    for name in NAMES:
        measure = parse(f"{name}@{cutoff}")
        if not measure.kind.decides:
            continue
        found = measure.over_unjudged(graded)
        for i, row in enumerate(capped):
            known = [*judged[i].values(), *[top] * more]
            values = possible(name, cutoff, row, known, top)
            assert near(found.largest.values[i], max(values, default=None)), (name, row, known, top)
            # Where it has no value as ranked, its smallest has none either.
            if plain(name, cutoff, row, known) is None:
                assert not found.smallest.defined[i]
            else:
                assert near(found.smallest.values[i], min(values)), (name, row, known, top)


def possible(name: str, k: int, row: list[int | None], known: list[int], top: int) -> list[float]:
    places = [i for i, g in enumerate(row[:k]) if g is None]
    found = set()
    for given_grades in itertools.product(range(top + 1), repeat=len(places)):
        new = dict(zip(places, given_grades, strict=True))
        found.add(plain(name, k, [new.get(i, g) for i, g in enumerate(row)], [*known, *new.values()]))
    return sorted(found - {None})


def near(ours: float, expected: float | None) -> bool:
    return bool(np.isnan(ours)) if expected is None else ours == pytest.approx(expected, abs=1e-12)


def test_unjudged_hits_as_best_raise_the_figure_and_count() -> None:
    graded = graded_of([5, 0, 6], {0: 1, 1: 1}, depth=3)
    assert parse("recall@3")(graded).values[0] == pytest.approx(1 / 2)
    found = parse("recall@3").over_unjudged(graded)
    assert (found.smallest.values[0], found.largest.values[0]) == (pytest.approx(1 / 2), pytest.approx(3 / 4))


def test_an_unjudged_hit_below_all_relevant_ones_can_lower_ndcg_and_ap_but_not_recall() -> None:
    """Relevant at rank 1 of one: 1. If the hit at rank 3 were relevant, 1.5 / 1.63093, and (1 + 2 / 3) / 2."""
    graded = graded_of([0, 1, 9], {0: 1, 1: 0}, depth=3)
    lowest = {name: parse(f"{name}@3").over_unjudged(graded).smallest.values[0] for name in ("nDCG", "AP", "recall")}
    assert lowest == {"nDCG": pytest.approx(0.9197, abs=5e-5), "AP": pytest.approx(5 / 6), "recall": 1}


def test_the_best_grade_of_an_unjudged_hit_need_not_be_the_highest() -> None:
    """Grade 1 at rank 1, unjudged at rank 2, another of grade 1 missed, grades to 3: as grade 1 it gives 1, as 3 it gives .71."""
    run = run_of([[(0, 2.0), (1, 1.0)], [(5, 1.0)]], 2, 9)
    qrels = qrels_of([{0: 1, 2: 1}, {5: 3}], 9)
    found = parse("nDCG@2").over_unjudged(GradedRun.of(run, qrels, everything(qrels)))
    assert found.largest.values[0] == pytest.approx(1, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    scores=st.lists(st.integers(0, 2), min_size=1, max_size=5),
    given_grades=st.lists(st.sampled_from([None, None, 0, 1, 2]), min_size=5, max_size=5),
    missed=st.lists(st.integers(0, 2), max_size=2),
    depth=st.integers(1, 4),
    cutoff=st.integers(1, 4),
)
def test_bounds_over_ties_and_unjudged_hits_hold_every_order_with_every_grade(
    scores: list[int], given_grades: list[int | None], missed: list[int], depth: int, cutoff: int
) -> None:
    """They are reached by all measures but nDCG, whose bounds may lie beyond."""
    hits = [(d, float(s)) for d, s in enumerate(scores)]
    judged = {d: g for d, g in enumerate(given_grades[: len(scores)]) if g is not None}
    judged |= {10 + n: g for n, g in enumerate(missed)}
    run, qrels, k = run_of([hits], depth, 20), qrels_of([judged], 20), min(cutoff, depth)
    graded, tied = tied_of(run, qrels)
    rankings = {tuple(grades(order, judged)[:k]) for order in orders(hits)}
    top = max([*judged.values(), 1])
    for name in NAMES:
        measure = parse(f"{name}@{k}")
        if not measure.kind.decides:
            continue
        found = measure.over_ties_and_unjudged(measure(graded), graded, tied)
        values = [v for row in rankings for v in possible(name, k, list(row), list(judged.values()), top)]
        if not values:
            assert not found.largest.defined[0]
            continue
        high, low = found.largest.values[0], found.smallest.values[0]
        if name.startswith("nDCG"):
            assert high >= max(values) - 1e-12
        else:
            assert high == pytest.approx(max(values), abs=1e-12), name
        if plain(name, k, grades(next(orders(hits)), judged), list(judged.values())) is None:
            continue
        if name.startswith("nDCG"):
            assert low <= min(values) + 1e-12
        else:
            assert low == pytest.approx(min(values), abs=1e-12), name
