"""What is resampled: independent units, each a query or a whole cluster of queries that vary one seed question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.resample import by_cluster


@dataclass(frozen=True, slots=True, eq=False)
class ArmValues:
    """The values of several arms on the same queries: (queries, arms) float64 in [0, 1] each.

    low, high   the smallest and largest value over all orders of tied documents (and, on a pooled study, over
                all that unjudged hits could be); equal to mid where nothing is in question
    """

    low: NDArray[np.float64]
    mid: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Sums of every arm over each independent unit: (units, arms) float64; size (units,) float64: its queries.

    cap   no unit of the population has more queries than this; None: than the largest here
    """

    size: NDArray[np.float64]
    low: NDArray[np.float64]
    mid: NDArray[np.float64]
    high: NDArray[np.float64]
    cap: float | None = None

    @classmethod
    def of(cls, values: ArmValues, cluster: NDArray[np.int64], cap: float | None = None) -> Units:
        """values: at least one query; cluster: (queries,) from 0, every number in use."""
        ones = np.ones((len(cluster), 1))
        arms = values.mid.shape[1]
        sums = by_cluster(np.concatenate([ones, values.low, values.mid, values.high], axis=1), cluster)
        low, mid, high = (sums[:, 1 + part * arms : 1 + (part + 1) * arms] for part in range(3))
        return cls(sums[:, 0], low, mid, high, cap)

    @property
    def largest(self) -> float:
        """Queries of the imagined unit: as many as any of the population may have."""
        return float(self.size.max()) if self.cap is None else self.cap

    @property
    def arms(self) -> int:
        """How many arms stand side by side."""
        return int(self.mid.shape[1])

    def deficit(self, c: int, j: int) -> NDArray[np.float64]:
        """(units,) what arm c loses against j at most: c at its smallest, j at its largest."""
        return self.high[:, j] - self.low[:, c]

    def least_deficit(self, c: int, j: int) -> NDArray[np.float64]:
        """(units,) what arm c loses against j at least: c at its largest, j at its smallest."""
        return self.low[:, j] - self.high[:, c]
