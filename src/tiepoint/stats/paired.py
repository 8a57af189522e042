"""One-sided bounds of paired differences between arms, after one imagined unit with the worst possible difference.

Without the imagined unit, losses too rare to be in the sample go unseen, and a candidate that loses everything on one
query in fifty passes as harmless. A bound is the mean under weights drawn at random over
the units and the imagined one, exceeded in a share of the draws that is the error allowed: Gaffke's bound. For differences of
one size it is the exact binomial bound; docs/decision.md says how often it fails for others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tiepoint.stats.resample import by_cluster
from tiepoint.stats.units import Units
from tiepoint.stats.weighted import chance_positive

SAME = 1e-12
STEPS = 60
FAR = 8.0
NEAR = 1e-5
"""A bound is found where its chance, on the normal scale, is so near to the error: then it is off by 1e-5 standard errors."""
SAME_BOUND = 1e-9
CLASSES = 64
"""Where many samples are looked at together, values are put into so many classes of equal width, each kept at its mean."""


def least_units(
    gap: float, confidence: float, sizes: NDArray[np.float64] | None = None, largest: float | None = None
) -> int | None:
    """The smallest number of independent units at which anything can be shown to lie within the gap; None: no number.

    sizes     (units,) float64: queries of each cluster, where they are not all equal; the number is then of such clusters
    largest   queries of the imagined cluster; None: as many as the largest of sizes. So uneven clusters take more
    """
    if gap <= 0:
        return None
    each = -math.log1p(-gap) if sizes is None or not len(sizes) else float(certainty(sizes, gap, largest).mean())
    return math.ceil(-math.log(1 - confidence) / each - SAME)


def least_shown(
    units: int, confidence: float, sizes: NDArray[np.float64] | None = None, largest: float | None = None
) -> float:
    """No loss below this can be ruled out with so many independent units (at least one): the inverse of least_units."""
    if sizes is None or (np.ptp(sizes) == 0 and largest in (None, sizes[0])):
        return float(1 - (1 - confidence) ** (1 / units))
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if certainty(sizes, middle, largest).sum() < -math.log(1 - confidence):
            low = middle
        else:
            high = middle
    return high


def certainty(sizes: NDArray[np.float64], gap: float, largest: float | None = None) -> NDArray[np.float64]:
    """(units,) how much each unit without a difference adds to the certainty that no loss above the gap is unseen."""
    whole = float(sizes.max()) if largest is None else largest
    return np.asarray(np.log1p(gap * sizes / (whole * (1 - gap))), dtype=np.float64)


def chance_beyond(
    deficit: NDArray[np.float64],
    size: NDArray[np.float64],
    at: float,
    *,
    largest: float | None = None,
    counts: NDArray[np.float64] | None = None,
    level: float | None = None,
) -> NDArray[np.float64]:
    """The chance that a mean deficit exceeds `at` under random weights, one imagined unit being lost whole: (rows,).

    deficit   (units,) sums over each unit; with the sign changed, and `at` too, it is the chance that the mean lies below
    size      (units,) queries of each
    at        below 1
    largest   queries of the imagined unit; None: as many as the largest of size
    counts    (rows, units) how often each unit stands in each row; None: one row, once each. With them, more than CLASSES
              different values are put into classes
    level     see stats.weighted.chance_positive
    """
    imagined = (1 - at) * (float(size.max()) if largest is None else largest)
    if counts is None:
        return chance_positive(np.append(deficit - at * size, imagined)[None], level=level)
    found = np.ones(len(counts))
    below = np.flatnonzero(np.einsum("ru,u->r", counts, deficit - at * size) + imagined < 0)
    if len(below):
        values, times = _classed(deficit - at * size, counts[below])
        values = np.broadcast_to(np.append(values, imagined), (len(times), len(values) + 1))
        times = np.concatenate([times, np.ones((len(times), 1))], axis=1)
        found[below] = chance_positive(values, times, level=level)
    return found


def _classed(
    values: NDArray[np.float64], counts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Equal values once, or where there are many, CLASSES of near ones at their mean, with their counts added up."""
    found, of = np.unique(values, return_inverse=True)
    if len(found) > CLASSES:
        width = np.ptp(found) / CLASSES
        of = np.unique(np.minimum(((values - found[0]) / width).astype(np.int64), CLASSES - 1), return_inverse=True)[1]
        found = np.bincount(of, weights=values) / np.bincount(of)
    order = np.argsort(of, kind="stable")
    starts = np.searchsorted(of[order], np.arange(len(found)))
    return found, np.add.reduceat(counts[:, order], starts, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class DeficitBounds:
    """For each arm against all others: (arms,) float64.

    upper   its largest deficit is at most this, one-sided at the confidence, itself at its smallest, the other at its largest
    lower   its largest deficit is more than this, one-sided at the confidence divided among the other arms (Holm's first
            step), itself at its largest and the other at its smallest
    floor   no gap below this can be shown with so few units
    """

    upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    floor: float


def deficit_bounds(units: Units, *, confidence: float) -> DeficitBounds:
    """Bounds of every arm's largest deficit. units: of at least two arms; confidence: one-sided, as 0.95."""
    arms, error = range(units.arms), 1 - confidence
    size, largest = units.size, units.largest
    floor = least_shown(len(size), confidence, size, largest)
    others = [[j for j in arms if j != c] for c in arms]
    each = error / (units.arms - 1)
    upper = [_largest_upper([units.deficit(c, j) for j in others[c]], size, error, largest) for c in arms]
    lower = [_largest_lower([units.least_deficit(c, j) for j in others[c]], size, each, largest) for c in arms]
    return DeficitBounds(np.maximum(upper, floor), np.array(lower), floor)


def _largest_upper(
    deficits: Sequence[NDArray[np.float64]], size: NDArray[np.float64], error: float, largest: float
) -> float:
    """The largest of the upper bounds of several deficits of the same units."""
    ordered = sorted(deficits, key=lambda d: _guess(d, size, error, largest), reverse=True)
    found = upper_bound(ordered[0], size, error, largest)
    for deficit in ordered[1:]:
        if found < 1 and chance_beyond(deficit, size, found, largest=largest, level=error)[0] > error:
            found = upper_bound(deficit, size, error, largest)
    return found


def _largest_lower(
    deficits: Sequence[NDArray[np.float64]], size: NDArray[np.float64], error: float, largest: float
) -> float:
    """The largest of the lower bounds of several deficits of the same units."""
    found = -math.inf
    for deficit in sorted(deficits, key=lambda d: float(d.sum()), reverse=True):
        if float(deficit.sum() / size.sum()) > found:  # no lower bound lies above its own mean
            found = max(found, -upper_bound(-deficit, size, error, largest))
    return found


def upper_bound(
    deficit: NDArray[np.float64], size: NDArray[np.float64], error: float, largest: float | None = None
) -> float:
    """The mean that is exceeded with a chance of `error` under random weights, see chance_beyond; at most 1.

    deficit, size   (units,) float64: sums, and queries, of each unit
    error           below a half
    largest         see chance_beyond
    """
    largest = float(size.max()) if largest is None else largest
    low, spread = _moments(deficit, size, largest)
    high = 1.0
    if high - low < SAME:
        return high
    aim = float(special.ndtri(error))
    at, before = low - aim * spread, (math.nan, math.nan)
    for _ in range(STEPS):
        if not low < at < high:
            at = (low + high) / 2
        off = max(float(special.ndtri(chance_beyond(deficit, size, at, largest=largest, level=error)[0])), -FAR) - aim
        low, high = (at, high) if off > 0 else (low, at)
        # On the normal scale the chance is nearly a straight line: a secant, kept inside the bracket.
        last, last_off = before
        slope = (off - last_off) / (at - last) if math.isfinite(last_off) and at != last else -1 / spread
        if abs(off) < NEAR or high - low < SAME_BOUND:
            return at
        before = (at, off)
        at = at - off / slope if math.isfinite(off) and slope < 0 else math.nan
    return high


def _moments(deficit: NDArray[np.float64], size: NDArray[np.float64], largest: float) -> tuple[float, float]:
    """The mean with the imagined unit, where the chance is about a half, and its spread."""
    total = float(size.sum()) + largest
    mean = (float(deficit.sum()) + largest) / total
    away = float(((deficit - mean * size) ** 2).sum()) + (largest * (1 - mean)) ** 2
    return mean, math.sqrt(away) / total


def _guess(deficit: NDArray[np.float64], size: NDArray[np.float64], error: float, largest: float) -> float:
    """Where an upper bound lies roughly, by the normal approximation."""
    mean, spread = _moments(deficit, size, largest)
    return mean - float(special.ndtri(error)) * spread


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceBounds:
    """One-sided bounds of the means of paired differences: (figures,) float64.

    lower   the mean is at least this, at the confidence, after one imagined query with the difference -1
    upper   it is at most this, at the confidence, after one imagined query with the difference +1
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def difference_bounds(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    cluster: NDArray[np.int64],
    *,
    confidence: float,
    largest: float | None = None,
) -> DifferenceBounds:
    """Bounds of many differences over the same queries, by whole clusters.

    For two arms it says what deficit_bounds says: lower is minus the upper bound of the deficit, upper minus its lower one.

    low, high    (queries, figures) float64 in [-1, 1], at least one query: the smallest and the largest difference of each
                 query over all orders of tied documents; equal where nothing is in question
    cluster      (queries,) int64 from 0
    confidence   one-sided, as 0.95
    largest      queries of the imagined cluster; None: as many as the largest here
    """
    figures = range(low.shape[1])
    sums = by_cluster(np.concatenate([np.ones((len(low), 1)), low, high], axis=1), cluster)
    size, error = sums[:, 0], 1 - confidence
    floor = least_shown(len(size), confidence, size, largest)
    lower = [-max(upper_bound(-sums[:, 1 + f], size, error, largest), floor) for f in figures]
    upper = [upper_bound(sums[:, 1 + len(figures) + f], size, error, largest) for f in figures]
    return DifferenceBounds(np.array(lower), np.array(upper))
