"""The chance that the rule decides, before a run: samples of a supposed population, walked with the rule's own code."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.paired import least_units
from tiepoint.stats.resample import by_cluster
from tiepoint.stats.settle import POWER, SAMPLES, first_enough, walked
from tiepoint.stats.units import Units
from tiepoint.stats.walk import IN, OUT

ROWS = 2_000
"""Units of a population whose spread is only stated."""
STEPS = 100
HALVINGS = 9


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Differences of every other arm to the cheapest one, which is the first: its mid is 0 throughout.

    units    no two of them alike
    weight   (units,) float64: how often each stands in the population
    """

    units: Units
    weight: NDArray[np.float64]

    @classmethod
    def measured(cls, values: NDArray[np.float64], cluster: NDArray[np.int64]) -> Population:
        """From (queries, arms) values, the cheapest first: every unit's differences as they are, and with the other sign.

        So the spread is that of the values and the mean is 0, whichever arm was ahead.
        """
        away = values - values[:, :1]
        sums = by_cluster(np.concatenate([np.ones((len(away), 1)), away], axis=1), cluster)
        return cls._of(np.tile(sums[:, 0], 2), np.concatenate([sums[:, 1:], -sums[:, 1:]]))

    @classmethod
    def stated(cls, spread: float, unequal: float, arms: int, *, rng: np.random.Generator) -> Population:
        """A share `unequal` of the queries differs, half of them each way, all by as much as gives the spread.

        spread    the standard deviation of a difference; at most the root of unequal
        unequal   above 0, at most 1
        arms      at least 2; the differences of the others to the cheapest are drawn apart from each other
        """
        column = np.zeros(ROWS)
        each = max(1, round(ROWS * unequal / 2))
        size = spread / math.sqrt(2 * each / ROWS)
        column[:each], column[each : 2 * each] = size, -size
        others = np.stack([rng.permutation(column) for _ in range(arms - 1)], axis=1)
        return cls._of(np.ones(ROWS), np.concatenate([np.zeros((ROWS, 1)), others], axis=1))

    @classmethod
    def _of(cls, size: NDArray[np.float64], sums: NDArray[np.float64]) -> Population:
        rows, weight = np.unique(np.concatenate([size[:, None], sums], axis=1), axis=0, return_counts=True)
        values = rows[:, 1:]
        return cls(Units(rows[:, 0], values, values, values), weight.astype(np.float64))

    def shares(self, difference: float) -> NDArray[np.float64] | None:
        """(units,) chances to be drawn with which every other arm is ahead of the cheapest by `difference` in the mean.

        The differences themselves stay as they are (an exponential tilt, the nearest population with that mean); None
        where no chances would do, because too few queries differ or by too little.
        """
        off = self.units.mid[:, 1:] - difference * self.units.size[:, None]
        turn = np.zeros(off.shape[1])
        for _ in range(STEPS):
            level = np.einsum("ua,a->u", off, turn)
            share = self.weight * np.exp(level - level.max())
            share /= share.sum()
            mean = np.einsum("ua,u->a", off, share)
            if np.abs(mean).max() < 1e-9 * self.units.size.max():
                return np.asarray(share, dtype=np.float64)
            curve = np.einsum("ua,ub,u->ab", off - mean, off - mean, share)
            step = np.linalg.lstsq(curve, mean, rcond=1e-10)[0]
            turn = turn - step / max(1.0, float(np.abs(np.einsum("ua,a->u", off, step)).max()) / 2)
        return None


@dataclass(frozen=True, slots=True)
class Chance:
    """Shares of the samples.

    decides   the walk ends in a choice, whichever
    right     in the one that the true means ask for: the cheapest where it is inside the gap, another where it is not
    settled   the cheapest itself is called what it is, in or out; where it is out, the others may still be open
    """

    decides: float
    right: float
    settled: float


@dataclass(frozen=True, slots=True)
class Supposed:
    """The rule before a supposed population: gap and one-sided confidence, as 0.95."""

    population: Population
    gap: float
    confidence: float

    def chance(
        self, number: int, difference: float, *, rng: np.random.Generator, samples: int = SAMPLES
    ) -> Chance | None:
        """With so many independent units, every other arm being ahead by `difference`; None: no such population."""
        share = self.population.shares(difference)
        if share is None or number < 1:
            return None
        states = walked(
            self.population.units,
            number,
            gap=self.gap,
            confidence=self.confidence,
            rng=rng,
            share=share,
            samples=samples,
        )
        decided = (states == IN).any(axis=1)
        cheapest = states[:, 0] == IN
        inside = difference <= self.gap
        right = cheapest if inside else decided & ~cheapest
        settled = cheapest if inside else states[:, 0] == OUT
        return Chance(float(decided.mean()), float(right.mean()), float(settled.mean()))

    def needed(self, difference: float, *, rng: np.random.Generator) -> int | None:
        """Roughly the least number of independent units that decides rightly with a chance of POWER; None: none is found."""
        least = least_units(self.gap, self.confidence, self.population.units.size, self.population.units.largest)
        if least is None or abs(difference - self.gap) < 1e-9 or self.population.shares(difference) is None:
            return None

        def enough(number: int) -> bool:
            found = self.chance(number, difference, rng=rng)
            return found is not None and found.right >= POWER

        return first_enough(enough, least, least)

    def shown_inside(self, number: int, *, rng: np.random.Generator) -> float | None:
        """The largest true loss that so many units still show inside the gap with a chance of POWER; None: not even 0."""
        return self._edge(number, 0.0, self.gap, rng=rng)

    def shown_outside(self, number: int, *, rng: np.random.Generator) -> float | None:
        """The least true loss that so many units show outside the gap with a chance of POWER; None: none."""
        top = self.gap
        while self.population.shares(min(2 * top + 0.01, 0.99)) is not None and top < 0.9:
            top = min(2 * top + 0.01, 0.99)
            found = self.chance(number, top, rng=rng)
            if found is not None and found.settled >= POWER:
                return self._edge(number, top, self.gap, rng=rng)
        return None

    def _edge(self, number: int, good: float, bad: float, *, rng: np.random.Generator) -> float | None:
        """The true loss nearest to `bad` that is settled often enough, if `good` is."""
        found = self.chance(number, good, rng=rng)
        if found is None or found.settled < POWER:
            return None
        for _ in range(HALVINGS):
            middle = (good + bad) / 2
            found = self.chance(number, middle, rng=rng)
            if found is not None and found.settled >= POWER:
                good = middle
            else:
                bad = middle
        return good
