"""What is known of a space's documents before any query: their norms, and which of them a first pass cannot bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Metric
from tiepoint.core.space import Space

LEAST, GREATEST = 2.0**-400, 2.0**400
"""Between these norms every square and product of float64 stays in range; beyond them nothing is bounded."""
BLOCK_VALUES = 2**19


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The norms of a space's documents, made once and used by every search of it.

    norm     (vectors,) float64 euclidean norms within Certificate.slack; 0 where wild
    wild     (vectors,) True where a vector cannot be bounded: not finite, beyond LEAST and GREATEST, zero under cosine. A
             vector of nothing but zeros is no such one under the other metrics, a norm that vanishes by underflow is.
             Such a vector is scored exactly for every query that it is eligible for
    """

    norm: NDArray[np.float64]
    wild: NDArray[np.bool_]

    @classmethod
    def of(cls, space: Space) -> Prepared:
        """Look once at every vector of the space's documents."""
        return cls(*norms_of(space.documents.array, space.contract.metric))


def norms_of(vectors: NDArray[np.floating], metric: Metric) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Norms and which vectors are wild, as in Prepared. vectors: (vectors, dimension)."""
    norm = np.empty(len(vectors))
    empty = np.zeros(len(vectors), dtype=bool)
    step = max(1, BLOCK_VALUES // max(1, vectors.shape[1]))
    with np.errstate(all="ignore"):
        for start in range(0, len(vectors), step):
            block = np.asarray(vectors[start : start + step], dtype=np.float64)
            norm[start : start + step] = np.sqrt(np.einsum("ij,ij->i", block, block))
            low = np.flatnonzero(norm[start : start + step] == 0)
            empty[start + low] = ~block[low].any(axis=1)
    wild = ~((norm >= LEAST) & (norm <= GREATEST)) & ~(empty & (metric != "cosine"))
    norm[wild] = 0
    return norm, wild
