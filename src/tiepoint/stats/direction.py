"""Which way a paired difference went: Gaffke's bound held against 0, on both sides (see stats/paired.py).

Nothing is drawn and every sum is taken in the order of the values, so that no seed and no name moves a bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.ids import numbered
from tiepoint.stats.paired import certainty, chance_beyond, upper_bound
from tiepoint.stats.resample import by_cluster

SAME = 1e-12
"""A difference nearer to 0 is none: it is rounding alone."""
PLACES = 12
HALF = 0.5
"""The gap at which a unit without a difference adds to the certainty what one that gains all there is adds at a gap of 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """The paired difference of one figure, query by query: (queries,) each, of the queries that both sides score.

    low, high   float64 in [-1, 1]: the smallest and the largest it can be, over all orders of tied documents and whatever else
                is in question; equal where nothing is
    cluster     int64, any numbers
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    cluster: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tested:
    """What a difference is known by. Nothing here is corrected for its number.

    at_least, at_most   one-sided bounds of the mean difference, each at (1 + level) / 2, after one imagined cluster with the
                        worst, or best, possible difference
    p_up, p_down        one-sided, of the hypothesis that the mean is at most 0, and that it is at least 0: what they speak
                        against where they are small
    units               independent ones
    """

    at_least: float
    at_most: float
    p_up: float
    p_down: float
    units: int


def tested(spans: Spans, *, level: float, largest: float) -> Tested:
    """Bounds and p of one difference. spans: at least one query; level: two-sided, as 0.95; largest: see chance_beyond."""
    low, high, size = _units(spans)
    error = (1 - level) / 2
    up, down = (float(np.clip(chance_beyond(of, size, 0.0, largest=largest)[0], 0.0, 1.0)) for of in (-low, high))
    return Tested(
        at_least=-upper_bound(-low, size, error, largest),
        at_most=upper_bound(high, size, error, largest),
        p_up=up,
        p_down=down,
        units=len(size),
    )


def least_for_direction(spans: Spans, tests: int, *, level: float, largest: float) -> int:
    """The fewest independent units, as uneven as these, at which a direction can be shown if every query gains all there is.

    tests   directions of the family: Holm's first step divides the error among both sides of each
    """
    sizes = np.sort(np.unique(spans.cluster, return_counts=True)[1]).astype(np.float64)
    each = float(certainty(sizes, HALF, largest).mean())
    return math.ceil(math.log(2 * tests / (1 - level)) / each - SAME)


def in_order_of_values(rows: NDArray[np.float64], cluster: NDArray[np.int64]) -> NDArray[np.int64]:
    """An order of queries in which what stands where follows from the values alone, and not from any name.

    Clusters stand one after the other by their sorted rows, and queries within them by their rows; what is equal to PLACES
    decimals may stand either way.

    rows      (queries, columns) float64
    cluster   (queries,) int64
    returns   (queries,) int64 positions
    """
    if not len(rows):
        return np.empty(0, dtype=np.int64)
    rank = np.unique(np.round(rows, PLACES), axis=0, return_inverse=True)[1].reshape(-1)
    members: dict[int, list[int]] = {}
    for i in np.argsort(rank, kind="stable").tolist():
        members.setdefault(int(cluster[i]), []).append(i)
    ordered = sorted(members.values(), key=lambda those: [int(rank[i]) for i in those])
    return np.array([i for those in ordered for i in those], dtype=np.int64)


def _units(spans: Spans) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Sums of low and of high over each cluster, and its queries: (units,) each."""
    rows = np.stack([_without_rounding(spans.low), _without_rounding(spans.high)], axis=1)
    order = in_order_of_values(rows, spans.cluster)
    sums = by_cluster(np.column_stack([rows[order], np.ones(len(order))]), numbered(spans.cluster[order].tolist()))
    return sums[:, 0], sums[:, 1], sums[:, 2]


def _without_rounding(difference: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.abs(difference) > SAME, np.clip(difference, -1.0, 1.0), 0.0)
