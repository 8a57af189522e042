"""A population whose spread and share of unequal queries are stated, and hold around whatever mean it has."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.population import SINGLE, Mix, Sampled
from tiepoint.stats.resample import stream
from tiepoint.stats.units import Units

ROWS, LEAST_ROWS = 2_000, 200
"""Units, divided among the sizes of clusters, and of each size at least."""
RARE = 20
"""Rows that differ, where not every combination of differences can be a unit of its own."""
SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Stated:
    """A share `unequal` of the clusters differs, all by one amount, either way; every query of a cluster alike.

    spread    the standard deviation of a difference around its mean: above 0, at most the root of unequal
    unequal   above 0, at most 1
    arms      at least 2; the differences of the others to the cheapest are independent of each other
    """

    spread: float
    unequal: float
    arms: int
    seed: int
    mix: Mix = SINGLE

    @property
    def furthest(self) -> float:
        """All that differ do so one way, or by 1."""
        by_way = math.inf if self.unequal == 1 else self.spread * math.sqrt(self.unequal / (1 - self.unequal))
        return min(by_way, math.sqrt(max(0.0, self.unequal - self.spread**2)))

    def at(self, difference: float) -> Sampled | None:
        """See stats.population.Population."""
        if abs(difference) > self.furthest + SAME:
            return None
        amount = min(1.0, math.sqrt((self.spread**2 + difference**2) / self.unequal))
        ahead, behind = ((self.unequal + way * difference / amount) / 2 for way in (1, -1))
        chances = np.clip([1 - self.unequal, ahead, behind], 0.0, 1.0)
        rows = max(LEAST_ROWS, ROWS // len(self.mix.size))
        others, weight = self._every(chances) if 3 ** (self.arms - 1) <= rows else self._drawn(chances, rows)
        sums = np.concatenate([np.zeros((len(others), 1)), others * amount], axis=1)
        values = (self.mix.size[:, None, None] * sums).reshape(-1, self.arms)
        size = np.repeat(self.mix.size, len(others))
        units = Units(size, values, values, values, self.mix.largest)
        return Sampled.weighted(units, np.tile(weight, len(self.mix.size)), self.mix).tilted(difference)

    def _every(self, chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Every combination of ways with the chance that it has: (combinations, others) of 0, 1, -1 and (combinations,)."""
        others = self.arms - 1
        which = np.indices((3,) * others).reshape(others, -1).T
        weight = chances[which].prod(axis=1)
        return np.array([0.0, 1.0, -1.0])[which][weight > 0], weight[weight > 0]

    def _drawn(self, chances: NDArray[np.float64], rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Combinations that are drawn, each way as often as its chance says but for rounding, which `tilted` corrects."""
        rows = max(rows, math.ceil(RARE / self.unequal))
        ahead, behind = np.rint(rows * chances[1:]).astype(int)
        column = np.repeat([1.0, -1.0, 0.0], [ahead, behind, rows - ahead - behind])
        rng = stream(self.seed, "power", "population")
        every = np.stack([rng.permutation(column) for _ in range(self.arms - 1)], axis=1)
        found, counts = np.unique(every, axis=0, return_counts=True)
        return found, counts.astype(np.float64)
