"""The certificate: how far a first pass in float32 can be from the final score, proven, and what follows from that.

A first pass gives a key for a pair: an approximate product, in units scaled by powers of two. From a key follow a lower and
an upper bound of the final score; from a score that must be reached follows the key below which no pair can reach it.
The argument: |fl(q.x) - q.x| <= gamma_d |q||x| for any order of summation (Higham 2002, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Metric

Column = NDArray[np.float64]

CONVERSION = 2.0**-21
"""Relative error that any conversion to the first pass's float32 row stays below, in the vector's norm: scaling to norm 1
by a reciprocal rounded to float32 (two roundings), a cast from float64 (one), or a norm that is 1 but for 2**-22."""
FLUSH = 2.0**-124
"""Absolute error of one column, relative to norms of 1, where the processor sets to zero what is below float32's range."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Bounds of one metric in one dimension.

    Norms, keys and thresholds are in scaled units: a query is taken times 2**-e, a row times 2**-f, a key times 2**-(e + f);
    for euclidean both are in the units of the larger exponent m. Cosine needs no units: its norms are 1.
    """

    metric: Metric
    dimension: int

    @property
    def gamma(self) -> float:
        """Relative error of a float32 sum of so many products, whatever the order and whether or not they are fused."""
        du = self.dimension * 2.0**-24
        return du / (1 - du) * (1 + 2.0**-40)

    @property
    def slack(self) -> float:
        """Relative error of the final score's own float64 arithmetic, and of the few float64 operations made on bounds."""
        return (self.dimension + 64) * 2.0**-51

    def epsilon(self, query: Column, row: Column) -> Column:
        """How far a key can be from what it stands for, final rounding included.

        query, row   norms in scaled units, of any shapes that broadcast
        """
        product = query * row
        flush = 4 * self.dimension * FLUSH * (1 + query) * (1 + row)
        found = product * (self.gamma * (1 + 4 * CONVERSION) + 3 * CONVERSION + self.slack) + flush
        if self.metric == "euclidean":
            found += (product + row * row) * 2.0**-22 + (query + row) ** 2 * self.slack
        return np.asarray(found * (1 + 2.0**-40))

    def bounds(self, key: Column, query: Column, row: Column, unit: NDArray[np.int64]) -> tuple[Column, Column]:
        """The least and the greatest final score that a pair with this key can have.

        unit     power of two of the scaled units: of the product; for euclidean of one length
        """
        epsilon = self.epsilon(query, row)
        if self.metric != "euclidean":
            low, high = key - epsilon, key + epsilon
            return np.ldexp(low, unit), np.ldexp(high, unit)
        square = query * query
        far = np.maximum(square - 2 * (key - epsilon), 0) * (1 + self.slack)
        near = np.maximum(square - 2 * (key + epsilon), 0) * (1 - self.slack)
        return (
            -np.ldexp(np.sqrt(far) * (1 + 2.0**-50), unit),
            -np.ldexp(np.sqrt(near) * (1 - 2.0**-50), unit),
        )

    def bar(self, least: Column, query: Column, row: Column, unit: NDArray[np.int64]) -> NDArray[np.float32]:
        """The key below which no pair can reach a final score.

        least    (queries,) the score to reach; -inf: any
        query    (queries,) norms
        row      () the greatest norm of the rows
        unit     (queries,) as in bounds
        returns  (queries,) float32, rounded down
        """
        epsilon = self.epsilon(query, row)
        scaled = np.ldexp(least, -unit)
        if self.metric == "euclidean":
            square = query * query
            exact = (square - scaled * scaled * (1 + 4 * self.slack + 2.0**-48)) / 2 - epsilon
        else:
            exact = scaled - epsilon
        return np.nextafter(exact.astype(np.float32), np.float32(-np.inf))
