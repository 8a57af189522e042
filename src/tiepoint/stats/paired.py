"""One-sided bounds of paired differences between arms, after one imagined query with the worst possible difference.

Without the imagined query, losses too rare to be in the sample go unseen, and a candidate that loses everything on one
query in fifty passes as harmless (DESIGN.md, section 5, "Decision").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tiepoint.stats.resample import by_cluster, resampled_sums

RESAMPLES = 10_000
SAME = 1e-12
POWER = 0.8
"""The chance that queries_to_settle aims at: four times in five."""


@dataclass(frozen=True, slots=True, eq=False)
class ArmValues:
    """The values of several arms on the same queries: (queries, arms) float64 in [0, 1] each.

    low, high   the smallest and largest value over all orders of tied documents (and, on a pooled study, with the
                unjudged as best); equal to mid where nothing is in question
    """

    low: NDArray[np.float64]
    mid: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DeficitBounds:
    """For candidate c against arm j, (arms, arms) float64 at [c, j]; the diagonal is not used.

    upper   the deficit mean_j - mean_c is at most this, one-sided at the confidence, c at its smallest and j at its largest
    lower   it is more than this, one-sided at the confidence divided among the other arms (Holm's first step), c at its
            largest and j at its smallest
    floor   no gap below this can be shown with so few units: 1 - (1 - confidence) ** (1 / units)
    """

    upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    floor: float


def least_units(gap: float, confidence: float) -> int | None:
    """The smallest number of independent units at which anything can be shown to lie within the gap; None: no number."""
    if gap <= 0:
        return None
    return math.ceil(math.log(1 - confidence) / math.log(1 - gap) - SAME)


def deficit_bounds(
    values: ArmValues, cluster: NDArray[np.int64], *, confidence: float, rng: np.random.Generator
) -> DeficitBounds:
    """Bounds of every arm's deficit against every other, from one set of resamples of whole clusters.

    values       at least two arms, at least one query
    cluster      (queries,) int64 from 0; queries of one cluster are resampled together
    confidence   one-sided, as 0.95

    The imagined unit is a query of its own where no query has a cluster. Among clusters it is a cluster of their mean
    size: a loss on whole seed questions can stay unseen just as one on single queries can.
    """
    queries, arms = values.mid.shape
    ones = np.ones((queries, 1))
    sums = by_cluster(np.concatenate([ones, values.low, values.mid, values.high], axis=1), cluster)
    units = len(sums)
    size = queries / units
    # The last unit is the imagined one: its weight is drawn with the others, its worst difference is added below.
    columns = np.zeros((units + 1, 2 + 3 * arms))
    columns[:units, 0] = sums[:, 0]
    columns[units, 0] = size
    columns[units, 1] = size
    columns[:units, 2:] = sums[:, 1:]
    drawn = resampled_sums(rng, columns, RESAMPLES)
    total, imagined = drawn[:, 0], drawn[:, 1]
    low, _, high = np.split(drawn[:, 2:], 3, axis=1)
    allowed = math.floor((1 - confidence) * (RESAMPLES + 1) + SAME) - 1
    allowed_holm = math.floor((1 - confidence) / (arms - 1) * (RESAMPLES + 1) + SAME) - 1
    floor = 1 - (1 - confidence) ** (1 / units)
    upper = np.full((arms, arms), np.nan)
    lower = np.full((arms, arms), np.nan)
    for c in range(arms):
        for j in range(arms):
            if j != c:
                worst = np.sort((high[:, j] - low[:, c] + imagined) / total)
                mildest = np.sort((low[:, j] - high[:, c] - imagined) / total)
                upper[c, j] = max(worst[RESAMPLES - 1 - allowed] if allowed >= 0 else 1.0, floor)
                lower[c, j] = mildest[allowed_holm] if allowed_holm >= 0 else -1.0
    return DeficitBounds(upper, lower, floor)


def queries_to_settle(
    differences: NDArray[np.float64], cluster: NDArray[np.int64], *, gap: float, confidence: float, others: int
) -> int | None:
    """Roughly how many queries would settle whether a deficit lies within the gap, if the mean and spread stay as they are.

    differences   (queries,) other arm minus candidate
    others        arms that the candidate is compared with (the share of each when it is called out)
    returns       queries, by the normal approximation with the imagined unit, for a chance of POWER; None where no number
                  would (the mean lies on the gap, or the gap is 0)
    """
    sums = by_cluster(np.stack([differences, np.ones(len(differences))], axis=1), cluster)
    units = len(sums)
    size = len(differences) / units
    mean = float(differences.mean())
    spread = float((sums[:, 0] - mean * sums[:, 1]).std(ddof=1) / size) if units > 1 else 1.0
    inside = mean < gap
    if abs(mean - gap) < 1e-9 or (inside and gap <= 0):
        return None
    # To call a candidate out, the confidence is divided among the arms that it is compared with.
    z = -float(special.ndtri((1 - confidence) if inside else (1 - confidence) / others)) + float(special.ndtri(POWER))
    least = (least_units(gap, confidence) or 1) if inside else 2
    for n in _growing(least):
        moved = (n * mean + (1 if inside else -1)) / (n + 1)
        reach = z * math.sqrt(spread**2 + 1 / (n + 1)) / math.sqrt(n + 1)
        if (moved + reach <= gap) if inside else (moved - reach > gap):
            return math.ceil(n * size)
    return None


def _growing(start: int) -> list[int]:
    steps = [start]
    while steps[-1] < 10_000_000:
        steps.append(max(steps[-1] + 1, round(steps[-1] * 1.05)))
    return steps
