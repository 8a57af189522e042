"""Paired differences of one figure between two sides, query by query, and their two-sided intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.direction import in_order_of_values
from tiepoint.stats.interval import bca, trusted
from tiepoint.stats.resample import Draws, by_cluster, on_grid

SAME = 1e-12
"""Values nearer than this are equal: they differ by rounding alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """One figure on two sides: (queries,) float64 each; weight 0 where either side does not score the query.

    The judgements of both are the same, and so are the weights: 1, but for pooled measures. Of a query without weight the
    values are of no meaning, and finite.

    unsure   (queries,) True where what both values could be by noise alone overlaps, so that the query does not count as moved;
             None: no noise is known
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    weight: NDArray[np.float64]
    unsure: NDArray[np.bool_] | None = None

    @property
    def scored(self) -> NDArray[np.bool_]:
        """(queries,) True where both sides score the query."""
        return self.weight > 0

    @property
    def away(self) -> NDArray[np.float64]:
        """(queries,) second less first; 0 where they differ by rounding alone, or the query has no weight."""
        difference = self.second - self.first
        return np.where(self.scored & (np.abs(difference) > SAME), difference, 0.0)

    def take(self, queries: NDArray[np.int64]) -> Pairs:
        """The same for some of the queries, or for all in another order."""
        unsure = None if self.unsure is None else self.unsure[queries]
        return Pairs(self.first[queries], self.second[queries], self.weight[queries], unsure)

    def moved(self) -> Moved | None:
        """Means over the queries that both score, and how many of them moved; None without one."""
        scored = self.scored
        if not scored.any():
            return None
        weight, away = self.weight[scored], self.away[scored]
        total = weight.sum()
        sure = away if self.unsure is None else np.where(self.unsure[scored], 0.0, away)
        return Moved(
            n=int(scored.sum()),
            first=float((self.first[scored] * weight).sum() / total),
            second=float((self.second[scored] * weight).sum() / total),
            difference=float((away * weight).sum() / total),
            up=int((sure > 0).sum()),
            down=int((sure < 0).sum()),
            same=int((sure == 0).sum()),
        )


def by_values(pairs: Sequence[Pairs], cluster: NDArray[np.int64]) -> NDArray[np.int64]:
    """The queries of these figures where their values put them, see in_order_of_values; at least one figure.

    Sums go by position, so no id moves what is made of them in this order.
    """
    values = [np.where(p.scored, of, 0.0) for p in pairs for of in (p.first, p.second, p.weight)]
    return in_order_of_values(np.column_stack(values), cluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Means of both sides and of the difference over n queries; of these the second side's value is up, down or the same.

    What noise alone could have moved is the same.
    """

    n: int
    first: float
    second: float
    difference: float
    up: int
    down: int
    same: int


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Low and high of each difference: (figures,) float64, NaN where it cannot be told.

    trusted   (figures,) False where the spread rests on too few units, see stats.interval.trusted; True where there is no
              interval
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    trusted: NDArray[np.bool_]

    @classmethod
    def unknown(cls, figures: int) -> Intervals:
        """Of figures that nothing can be told of."""
        return cls(np.full(figures, np.nan), np.full(figures, np.nan), np.ones(figures, dtype=bool))


def overlapping(
    low: NDArray[np.float64], high: NDArray[np.float64], other_low: NDArray[np.float64], other_high: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """(queries,) True where two ranges have a value in common; False where an end is NaN."""
    common: NDArray[np.bool_] = (low <= other_high + SAME) & (other_low <= high + SAME)
    return common


def intervals(pairs: Sequence[Pairs], cluster: NDArray[np.int64], *, level: float, draws: Draws) -> Intervals:
    """Two-sided BCa intervals of many figures' differences over the same queries, from one set of resamples.

    pairs     at least one
    cluster   (queries,) int64: queries of one cluster are resampled together; only clusters count in which anything is
              scored
    level     two-sided, as 0.95
    draws     the resamples, see bca
    """
    scored = np.flatnonzero(np.any([p.scored for p in pairs], axis=0))
    kept = np.unique(cluster[scored], return_inverse=True)[1]
    away = np.stack([(p.away * p.weight)[scored] for p in pairs])
    weight = np.stack([p.weight[scored] for p in pairs])
    top, bottom = (by_cluster(on_grid(of).T, kept) for of in (away, weight))
    low, high = bca(top, bottom, level=level, draws=draws)
    return Intervals(low, high, trusted(top, bottom) | np.isnan(low))
