"""A population whose differences are those that were measured on some queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.population import SINGLE, Mix, Sampled
from tiepoint.stats.units import ArmValues, Units

MOST_ROWS = 10_000
"""Units at most; where there would be more, some queries begin no cluster."""
HALVINGS = 12


@dataclass(frozen=True, eq=False)
class Measured:
    """Differences less their mean, and with the other sign, drawn with chances that give the mean asked for.

    So the spread at equal means is the standard deviation of the measured differences, whichever arm was ahead. centred: with
    a mean of 0.
    """

    centred: Sampled

    @classmethod
    def of(cls, values: ArmValues, cluster: NDArray[np.int64], mix: Mix = SINGLE) -> Measured:
        """From (queries, arms) values, the cheapest first, with how far ties move each.

        Every query begins a unit of each size, which goes on with the other queries of its cluster, round and round.
        """
        order = np.argsort(cluster, kind="stable")
        away = (values.mid - values.mid[:, :1])[order]
        away = np.clip(away - away.mean(axis=0), -1.0, 1.0)
        low, high = (away + (end - values.mid)[order] for end in (values.low, values.high))
        rows = np.concatenate([low, away, high], axis=1)
        length = np.bincount(cluster)
        begin = np.arange(0, len(away), math.ceil(2 * len(away) * len(mix.size) / MOST_ROWS))
        first, around = (np.repeat(of, length)[begin] for of in (np.cumsum(length) - length, length))
        sums, units = np.zeros((len(begin), rows.shape[1])), []
        for step in range(int(mix.size[-1])):
            sums = sums + rows[first + (begin - first + step) % around]
            if step + 1 in mix.size:
                low, mid, high = np.split(sums, 3, axis=1)
                units += [sums, -np.concatenate([high, mid, low], axis=1)]
        size = np.repeat(mix.size, 2 * len(begin))
        found, weight = np.unique(np.column_stack([size, np.concatenate(units)]), axis=0, return_counts=True)
        low, mid, high = np.split(found[:, 1:], 3, axis=1)
        return cls(Sampled.weighted(Units(found[:, 0], low, mid, high, mix.largest), weight.astype(np.float64), mix))

    @property
    def mix(self) -> Mix:
        """How large the clusters are."""
        return self.centred.mix

    @cached_property
    def furthest(self) -> float:
        """Found by halving, once, so a little less than it may be."""
        possible, not_ = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (possible + not_) / 2
            if self.at(middle) is None:
                not_ = middle
            else:
                possible = middle
        return possible

    def at(self, difference: float) -> Sampled | None:
        """See stats.population.Population."""
        return self.centred.tilted(difference)
