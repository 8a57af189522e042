"""Ties: the groups, and each measure's smallest, expected and largest value against every order of tied documents."""

from __future__ import annotations

import tomllib
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measured import NAMES, Hits, grades, groups_of, orders, plain, qrels_of, run_of, tied_of, tied_studies
from tiepoint.measures import parse
from tiepoint.measures.ties import TieGroups
from tiepoint.search.rank import tie_groups

GOLDEN = Path(__file__).parent / "golden"


@settings(max_examples=60, deadline=None)
@given(study=tied_studies(), cutoff=st.integers(1, 6), tolerance=st.sampled_from([0.0, 1.0]))
def test_the_tie_range_of_every_measure_equals_every_order(
    study: tuple[list[Hits], list[dict[int, int]], int, int], cutoff: int, tolerance: float
) -> None:
    rankings, judged, documents, depth = study
    run, qrels = run_of(rankings, depth, documents, tolerance=tolerance), qrels_of(judged, documents)
    graded, tied = tied_of(run, qrels)
    k = min(cutoff, depth)
    found = {name: parse(f"{name}@{k}") for name in NAMES}
    ranges = {name: measure.over_ties(measure(graded), tied) for name, measure in found.items()}
    for i, hits in enumerate(rankings):
        first = [d for d, _ in sorted(hits, key=lambda hit: (-hit[1], hit[0]))]
        seen = Counter(tuple(grades(order, judged[i])[:k]) for order in orders(hits, tolerance))
        relevant = list(judged[i].values())
        for name, over in ranges.items():
            ranked = found[name](graded)
            assert plain(name, k, grades(first, judged[i]), relevant) == known(ranked.values[i])
            values = [(plain(name, k, order, relevant), n) for order, n in seen.items()]
            if values[0][0] is None:
                assert not any(c.defined[i] for c in (over.smallest, over.expected, over.largest))
                continue
            assert known(over.smallest.values[i]) == min(v for v, _ in values), name
            assert known(over.largest.values[i]) == max(v for v, _ in values), name
            mean = sum(v * n for v, n in values) / sum(n for _, n in values)
            assert known(over.expected.values[i]) == mean, name


def known(value: float) -> object:
    return None if np.isnan(value) else pytest.approx(float(value), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(
    scores=st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=8), min_size=1, max_size=4),
    tolerance=st.sampled_from([0.0, 1.0, 2.0]),
)
def test_tie_groups_begin_at_their_best_hit(scores: list[list[int]], tolerance: float) -> None:
    """0.0, 1.0, 2.0 with a tolerance of 1: two groups, the last alone; and the same groups as the search forms."""
    rankings = [[(d, float(s)) for d, s in enumerate(row)] for row in scores]
    groups = TieGroups.of(run_of(rankings, 8, 8, tolerance=tolerance))
    for i, hits in enumerate(rankings):
        expected = [len(group) for group in groups_of(hits, tolerance)]
        falling = np.array(sorted((s for _, s in hits), reverse=True))
        assert np.bincount(tie_groups(falling, tolerance)).tolist() == expected
        if max(expected) == 1:
            assert i not in groups.rows
            continue
        row = groups.rows.tolist().index(i)
        sizes = groups.size[row, : len(hits)]
        assert sizes[groups.place[row, : len(hits)] == 0].tolist() == expected


def test_ties_at_the_cut_are_counted() -> None:
    run = run_of([[(0, 1.0), (1, 1.0), (2, 1.0)], [(0, 3.0), (1, 2.0), (2, 1.0)], [(0, 1.0)]], 2, 3)
    assert TieGroups.of(run).pairs_at(2).tolist() == [2, 0, 0]
    within = run_of([[(0, 1.0), (1, 1.0), (2, 0.5)], [(0, 3.0), (1, 2.0), (2, 2.0)]], 3, 3)
    assert TieGroups.of(within).pairs_at(2).tolist() == [0, 1]
    assert TieGroups.of(within).pairs_at(1).tolist() == [1, 0]


def test_a_run_without_ties_has_no_tied_rows_and_its_range_is_its_value() -> None:
    run, qrels = run_of([[(0, 2.0), (1, 1.0)], []], 2, 2), qrels_of([{1: 1}, {0: 1}], 2)
    graded, tied = tied_of(run, qrels)
    assert not len(tied.groups.rows)
    column = parse("AP@2")(graded)
    over = parse("AP@2").over_ties(column, tied)
    assert over.smallest is over.expected is over.largest is column


@pytest.mark.parametrize("case", tomllib.loads((GOLDEN / "ties.toml").read_text(encoding="utf-8"))["case"])
def test_tie_ranges_have_golden_values(case: dict[str, object]) -> None:
    hits = [(int(d), float(s)) for d, s in case["scores"].items()]
    judged = {int(d): g for d, g in case["judged"].items()}
    graded, tied = tied_of(run_of([hits], case["depth"], 10), qrels_of([judged], 10))
    measure = parse(case["measure"])
    over = measure.over_ties(measure(graded), tied)
    for column, value in zip((over.smallest, over.expected, over.largest), case["range"], strict=True):
        expected = float(Fraction(value)) if isinstance(value, str) else value
        assert column.values[0] == pytest.approx(expected, abs=1e-12 if isinstance(value, str) else 5e-5)
