"""A space: vectors that may be compared, aligned with the corpus and the queries of a study."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Contract


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """One role's vectors, aligned with the documents or with the queries.

    array   (vectors, dimension) float16, float32 or float64; may be memory-mapped
    row     (items,) int64: which row of array is the item's vector, -1 where the item has none
    """

    array: NDArray[np.floating]
    row: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.row)

    @property
    def missing(self) -> NDArray[np.int64]:
        """Positions of the items without a vector."""
        return np.flatnonzero(self.row < 0)


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """A contract and the vectors made under it; queries and documents are never mixed up.

    noise   by how much a score of a document moves at most when its text is encoded again (encoding/noise.py), in units of the
            contract's score; 0: not at all; None: not measured
    """

    contract: Contract
    documents: Vectors
    queries: Vectors
    noise: float | None = None

    @property
    def floor(self) -> float:
        """Two scores of one query no further apart than this are told apart by noise alone: both carry it. 0: not measured."""
        return 2 * (self.noise or 0.0)
