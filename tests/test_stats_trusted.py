"""Which intervals are trusted, and, slow, that these cover as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

import decision_coverage as cells
from tiepoint.stats.interval import EFFECTIVE, trusted


def alone(values: np.ndarray) -> bool:
    """Of one column of single queries."""
    return bool(trusted(values[:, None], np.ones((len(values), 1)))[0])


def test_an_interval_is_trusted_where_enough_units_differ_from_most() -> None:
    for differ, sure in ((EFFECTIVE - 2, False), (EFFECTIVE + 2, True)):
        values = np.append(np.ones(differ), np.zeros(1_000))
        assert alone(values) == sure
        assert alone(1 - values) == sure
        assert alone(values - 0.3) == sure, "neither the value that most share nor the side matters"
        assert alone(values * 7) == sure, "nor the scale"


def test_all_units_count_where_they_differ_alike() -> None:
    assert alone(np.tile([0.0, 1.0], EFFECTIVE))
    assert alone(np.linspace(0, 1, 2 * EFFECTIVE))
    assert not alone(np.linspace(0, 1, EFFECTIVE)), "of evenly spread values little more than half"


def test_a_few_that_lie_far_from_the_rest_are_not_hidden_by_small_differences() -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(0.99, 1, 200)
    assert alone(values)
    values[:3] = 0.0
    assert not alone(values)


def test_without_spread_or_units_nothing_is_trusted() -> None:
    assert not alone(np.full(400, 0.3)), "which differs from its mean by rounding"
    assert not alone(np.empty(0))
    assert trusted(np.zeros((50, 2)), np.zeros((50, 2))).tolist() == [False, False]


def test_only_units_that_are_scored_count() -> None:
    top = np.zeros((60, 1))
    top[::2] = 1.0
    bottom = np.ones((60, 1))
    assert trusted(top, bottom)[0]
    bottom[EFFECTIVE - 1 :] = 0.0
    assert not trusted(np.where(bottom > 0, top, 0.0), bottom)[0]


def test_a_figure_that_hangs_on_a_few_large_clusters_is_not_trusted() -> None:
    size = np.append(np.full(8, 30.0), np.ones(300))[:, None]
    rng = np.random.default_rng(2)
    share = np.append(np.full(8, 0.5), rng.integers(0, 2, 300))[:, None]
    assert trusted(share, np.ones_like(size))[0], "if each were one query it would be"
    assert not trusted(share * size, size)[0]


def test_columns_are_judged_as_each_alone() -> None:
    rng = np.random.default_rng(3)
    top = rng.random((40, 30)) ** np.arange(1, 31)
    together = trusted(top, np.ones_like(top))
    assert together.tolist() == [alone(column) for column in top.T]
    assert 0 < together.sum() < 30


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_trusted_intervals_cover_as_they_say(level: float) -> None:
    """Where most samples are trusted: by at most two points less than 95 %, and as many standard deviations elsewhere."""
    samples = 1_000
    least = level - cells.ROOM * math.sqrt(level * (1 - level))
    room = 4 * math.sqrt(least * (1 - least) / samples)
    for cell in (c for c in cells.CELLS if c.units in (30, 50, 150)):
        if not cell.rare:
            found = cells.tried(cell, level, seed=5, samples=samples, resamples=1_500)
            if found.trusted >= cells.FAIR:
                assert found.sure >= least - room, (cell.name, cell.units, found)
