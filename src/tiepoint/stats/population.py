"""Populations that the rule is tried on before a run: how differences lie, and how large the clusters are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.resample import by_cluster
from tiepoint.stats.units import Units

ROWS = 2_000
"""Units of a population whose spread is only stated, divided among the sizes of clusters."""
LEAST_ROWS = 200
"""Of each size."""
MOST_ROWS = 10_000
"""Units of a measured population; where it would have more, some queries begin no cluster."""
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
class Population:
    """Differences of every other arm to the cheapest one, which is the first: its mid is 0 throughout.

    units    in the order of their sizes, no two of them alike
    weight   (units,) float64: how often each stands among those of its size
    mix      how often each size stands in the population
    """

    units: Units
    weight: NDArray[np.float64]
    mix: Mix

    @classmethod
    def measured(cls, values: NDArray[np.float64], cluster: NDArray[np.int64], mix: Mix = SINGLE) -> Population:
        """From (queries, arms) values, the cheapest first: differences less their mean, and with the other sign.

        So the spread is the standard deviation of the values' differences and the mean is 0, whichever arm was ahead. Every
        query begins a unit of each size, which goes on with the other queries of its cluster, round and round.
        """
        away = (values - values[:, :1])[np.argsort(cluster, kind="stable")]
        away = away - away.mean(axis=0)
        length = np.bincount(cluster)
        begin = np.arange(0, len(away), math.ceil(2 * len(away) * len(mix.size) / MOST_ROWS))
        first, around = (np.repeat(of, length)[begin] for of in (np.cumsum(length) - length, length))
        sums, units = np.zeros((len(begin), away.shape[1])), []
        for step in range(int(mix.size[-1])):
            sums = sums + away[first + (begin - first + step) % around]
            if step + 1 in mix.size:
                units.append(np.concatenate([sums, -sums]))
        return cls._of(np.repeat(mix.size, 2 * len(begin)), np.concatenate(units), mix)

    @classmethod
    def stated(
        cls, spread: float, unequal: float, arms: int, *, rng: np.random.Generator, mix: Mix = SINGLE
    ) -> Population:
        """A share `unequal` of the clusters differs, half of them each way, every query by as much as gives the spread.

        spread    the standard deviation of a difference; at most the root of unequal
        unequal   above 0, at most 1
        arms      at least 2; the differences of the others to the cheapest are drawn apart from each other
        """
        rows = max(LEAST_ROWS, ROWS // len(mix.size))
        column = np.zeros(rows)
        each = max(1, round(rows * unequal / 2))
        by = spread / math.sqrt(2 * each / rows)
        column[:each], column[each : 2 * each] = by, -by
        others = np.stack([rng.permutation(column) for _ in range(arms - 1)], axis=1)
        differences = np.concatenate([np.zeros((rows, 1)), others], axis=1)
        sums = (mix.size[:, None, None] * differences).reshape(-1, arms)
        return cls._of(np.repeat(mix.size, rows), sums, mix)

    @classmethod
    def _of(cls, size: NDArray[np.float64], sums: NDArray[np.float64], mix: Mix) -> Population:
        rows, weight = np.unique(np.concatenate([size[:, None], sums], axis=1), axis=0, return_counts=True)
        values = rows[:, 1:]
        return cls(Units(rows[:, 0], values, values, values, mix.largest), weight.astype(np.float64), mix)

    def shares(self, difference: float) -> NDArray[np.float64] | None:
        """(units,) chances to be drawn with which every other arm is ahead of the cheapest by `difference` in the mean.

        The differences themselves stay as they are, and the sizes as frequent (an exponential tilt among the units of each
        size, the nearest population with that mean); None where no chances would do, because too few queries differ or by
        too little.
        """
        off = self.units.mid[:, 1:] - difference * self.units.size[:, None]
        turn, kind = np.zeros(off.shape[1]), self._kind
        for _ in range(STEPS):
            level = np.einsum("ua,a->u", off, turn)
            share = self.weight * np.exp(level - np.maximum.reduceat(level, self._starts)[kind])
            share *= (self.mix.share / np.add.reduceat(share, self._starts))[kind]
            each = by_cluster(share[:, None] * off, kind) / self.mix.share[:, None]
            mean = np.einsum("ka,k->a", each, self.mix.share)
            if np.abs(mean).max() < 1e-9 * self.units.size.max():
                return np.asarray(share, dtype=np.float64)
            around = off - each[kind]
            curve = np.einsum("ua,ub,u->ab", around, around, share)
            step = np.linalg.lstsq(curve, mean, rcond=1e-10)[0]
            turn = turn - step / max(1.0, float(np.abs(np.einsum("ua,a->u", off, step)).max()) / 2)
        return None

    def drawn(
        self, number: int, share: NDArray[np.float64], *, rng: np.random.Generator, samples: int
    ) -> NDArray[np.float64]:
        """(samples, units) how often each stands in samples of so many: as many of each size as the mix says."""
        found = np.zeros((samples, len(share)))
        of_size = zip(self._starts, np.append(self._starts[1:], len(share)), self.mix.numbers(number), strict=True)
        for start, stop, count in of_size:
            chances = share[start:stop] / share[start:stop].sum()
            found[:, start:stop] = rng.multinomial(count, chances, size=samples)
        return found

    @property
    def _kind(self) -> NDArray[np.int64]:
        """(units,) the place of each one's size in the mix."""
        return np.searchsorted(self.mix.size, self.units.size)

    @property
    def _starts(self) -> NDArray[np.int64]:
        """(kinds,) the first unit of each size."""
        return np.searchsorted(self.units.size, self.mix.size)
