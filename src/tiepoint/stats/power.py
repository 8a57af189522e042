"""The chance that the rule decides, before a run: samples of a supposed population, walked with the rule's own code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.enough import FEWEST, fewest
from tiepoint.stats.population import Population, Sampled
from tiepoint.stats.settle import POWER, SAMPLES, first_enough, how_often, rounded_up
from tiepoint.stats.walk import IN, OPEN, OUT, walk

HALVINGS = 9


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
        found = self.population.at(difference)
        if found is None or number < 1:
            return None
        states = self._walked(number, found, rng=rng, samples=samples)
        decided = (states == IN).any(axis=1)
        return Chance(
            float(decided.mean()),
            float(self._right(states, difference).mean()),
            float(self._settled(states, difference).mean()),
        )

    def needed(self, difference: float, *, rng: np.random.Generator) -> int | None:
        """Roughly the least number of independent units that decides rightly with a chance of POWER; None: none is found."""
        least, found = self.fewest, self.population.at(difference)
        if least is None or abs(difference - self.gap) < 1e-9 or found is None:
            return None

        def chance(number: int) -> float:
            return how_often(lambda n: self._right(self._walked(number, found, rng=rng, samples=n), difference))

        enough = first_enough(chance, least, least)
        return None if enough is None else rounded_up(enough)

    @property
    def fewest(self) -> int | None:
        """Below so many units of the population's mix nothing is decided; None: no number would do."""
        mix = self.population.mix
        return fewest(self.gap, self.confidence, mix.sizes, mix.largest)

    def shown_inside(self, number: int, *, rng: np.random.Generator) -> float | None:
        """The largest true loss that so many units still show inside the gap with a chance of POWER; None: not even 0.

        Where no loss beyond it is possible it is the population's `furthest`.
        """
        furthest = self.population.furthest
        if furthest < self.gap and self._shows(number, furthest, rng=rng):
            return furthest
        return self._edge(number, 0.0, min(furthest, self.gap), rng=rng) if self._shows(number, 0.0, rng=rng) else None

    def shown_outside(self, number: int, *, rng: np.random.Generator) -> float | None:
        """The least true loss that so many units show outside the gap with a chance of POWER; None: none that is possible."""
        furthest = self.population.furthest
        if furthest <= self.gap or not self._shows(number, furthest, rng=rng):
            return None
        return self._edge(number, furthest, self.gap, rng=rng)

    def _edge(self, number: int, good: float, bad: float, *, rng: np.random.Generator) -> float:
        """The true loss nearest to `bad`, which is not settled often enough, that is; `good` is."""
        for _ in range(HALVINGS):
            middle = (good + bad) / 2
            if self._shows(number, middle, rng=rng):
                good = middle
            else:
                bad = middle
        return good

    def _shows(self, number: int, loss: float, *, rng: np.random.Generator) -> bool:
        """True where so many units settle a true loss of the cheapest with a chance of POWER."""
        found = self.population.at(loss)
        if found is None:
            return False
        return how_often(lambda n: self._settled(self._walked(number, found, rng=rng, samples=n), loss)) >= POWER

    def _walked(self, number: int, found: Sampled, *, rng: np.random.Generator, samples: int) -> NDArray[np.int8]:
        """The states of every arm: (samples, arms), see stats.walk; below FEWEST units nothing is called in or out."""
        if number < FEWEST:
            return np.full((samples, found.units.arms), OPEN, dtype=np.int8)
        counts = found.drawn(number, rng=rng, samples=samples)
        return walk(found.units, gap=self.gap, confidence=self.confidence, counts=counts)

    def _right(self, states: NDArray[np.int8], difference: float) -> NDArray[np.bool_]:
        cheapest = states[:, 0] == IN
        inside = difference <= self.gap
        return np.asarray(cheapest if inside else (states == IN).any(axis=1) & ~cheapest)

    def _settled(self, states: NDArray[np.int8], difference: float) -> NDArray[np.bool_]:
        return np.asarray(states[:, 0] == (IN if difference <= self.gap else OUT))
