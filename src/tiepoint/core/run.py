"""A run: all rankings of one space (or baseline) under one filter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Rankings of the queries in columns, best first; equal scores stand in ascending document id.

    document    (queries, depth) int32 units of the corpus (core.corpus.Units): documents, or the parents that passages
                collapse to; -1 after the last hit
    score       (queries, depth) float64, higher is better; -inf after the last hit
    eligible    (queries,) int64: documents that the principal may read and the filter admits
    tied_start  (queries + 1,) int64, and
    tied        int32: for each query the eligible documents beyond depth whose score ties with the last hit
    tolerance   scores within it count as tied
    failed      query position to the reason why it could not be searched; such a query is a miss
    """

    document: NDArray[np.int32]
    score: NDArray[np.float64]
    eligible: NDArray[np.int64]
    tied_start: NDArray[np.int64]
    tied: NDArray[np.int32]
    tolerance: float
    failed: dict[int, str]

    def __len__(self) -> int:
        return len(self.document)

    @property
    def depth(self) -> int:
        """How many hits a ranking holds at most."""
        return int(self.document.shape[1])
