"""Populations that the rule is tried on before a run: how large the clusters are, and what samples are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.resample import by_cluster
from tiepoint.stats.units import Units

STEPS = 100
SAME = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Mix:
    """How large the clusters are that decide.

    sizes     (units,) float64, at least one: queries of each cluster
    largest   queries of the imagined cluster, at least the largest of sizes
    size      (kinds,) float64, ascending: the different sizes
    share     (kinds,) float64: how many of the clusters are so large; adds up to 1
    """

    sizes: NDArray[np.float64]
    largest: float
    size: NDArray[np.float64]
    share: NDArray[np.float64]

    @classmethod
    def of(cls, sizes: NDArray[np.float64], largest: float) -> Mix:
        """sizes: (units,) float64; empty: single queries."""
        sizes = sizes if len(sizes) else np.ones(1)
        size, counts = np.unique(sizes, return_counts=True)
        return cls(sizes, largest, size, counts / len(sizes))

    def numbers(self, number: int) -> NDArray[np.int64]:
        """(kinds,) how many of so many clusters are of each size: never more large ones than their share."""
        at_least = np.floor(number * np.cumsum(self.share[::-1])[::-1] + SAME).astype(np.int64)
        at_least[0] = number
        return np.asarray(at_least - np.append(at_least[1:], 0), dtype=np.int64)


SINGLE = Mix.of(np.ones(1), 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """A population with one true difference. The first arm is the cheapest: its mid is 0 throughout.

    units   in the order of their sizes
    share   (units,) float64: the chances to be drawn; those of one size add up to its share in the mix
    mix     how often each size stands in the population
    """

    units: Units
    share: NDArray[np.float64]
    mix: Mix

    @classmethod
    def weighted(cls, units: Units, weight: NDArray[np.float64], mix: Mix) -> Sampled:
        """weight: (units,) how often each stands among those of its size."""
        starts, kind = _sizes(units, mix)
        return cls(units, weight * (mix.share / np.add.reduceat(weight, starts))[kind], mix)

    def tilted(self, difference: float) -> Sampled | None:
        """The nearest population in which every other arm is ahead of the cheapest by `difference` in the mean.

        The differences themselves stay as they are, and the sizes as frequent (an exponential tilt among the units of each
        size); None where no chances would do, because too few queries differ or by too little.
        """
        off = self.units.mid[:, 1:] - difference * self.units.size[:, None]
        starts, kind = _sizes(self.units, self.mix)
        turn = np.zeros(off.shape[1])
        for _ in range(STEPS):
            level = np.einsum("ua,a->u", off, turn)
            share = self.share * np.exp(level - np.maximum.reduceat(level, starts)[kind])
            share *= (self.mix.share / np.add.reduceat(share, starts))[kind]
            each = by_cluster(share[:, None] * off, kind) / self.mix.share[:, None]
            mean = np.einsum("ka,k->a", each, self.mix.share)
            if np.abs(mean).max() < 1e-9 * self.units.size.max():
                return Sampled(self.units, np.asarray(share, dtype=np.float64), self.mix)
            around = off - each[kind]
            curve = np.einsum("ua,ub,u->ab", around, around, share)
            step = np.linalg.lstsq(curve, mean, rcond=1e-10)[0]
            turn = turn - step / max(1.0, float(np.abs(np.einsum("ua,a->u", off, step)).max()) / 2)
        return None

    def drawn(self, number: int, *, rng: np.random.Generator, samples: int) -> NDArray[np.float64]:
        """(samples, units) how often each stands in samples of so many: as many of each size as the mix says."""
        found = np.zeros((samples, len(self.share)))
        starts, _ = _sizes(self.units, self.mix)
        of_size = zip(starts, np.append(starts[1:], len(self.share)), self.mix.numbers(number), strict=True)
        for start, stop, count in of_size:
            chances = self.share[start:stop] / self.share[start:stop].sum()
            found[:, start:stop] = rng.multinomial(count, chances, size=samples)
        return found


class Population(Protocol):
    """Differences of every other arm to the cheapest one, with whatever true mean is asked for."""

    @property
    def mix(self) -> Mix:
        """How large the clusters are."""

    @property
    def furthest(self) -> float:
        """The largest true difference that is possible, either way; at least 0."""

    def at(self, difference: float) -> Sampled | None:
        """With every other arm ahead of the cheapest by `difference`; None: that is not possible."""


def _sizes(units: Units, mix: Mix) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(kinds,) the first unit of each size, and (units,) the place of each one's size in the mix."""
    return np.searchsorted(units.size, mix.size), np.searchsorted(mix.size, units.size)
