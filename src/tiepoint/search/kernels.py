"""The two inner loops of the search, in numpy; fast.py has the same in numba. Both give the same bits.

The scan throws away what lies below a bar, chunk by chunk; the pairs score what is left, in the fixed order.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Metric
from tiepoint.search.score import score_pairs

CHUNK = 128
"""Keys whose maximum is compared at once."""


class Kept(NamedTuple):
    """Cells of a block of keys that reach their bar, in ascending order: (cells,) each."""

    query: NDArray[np.int64]
    column: NDArray[np.int64]


class Kernels(Protocol):
    """What the search asks of its inner loops."""

    name: str

    def scan(self, keys: NDArray[np.float32], bar: NDArray[np.float32]) -> Kept:
        """The cells whose key is not below the bar of their query; a key that is not a number never is.

        keys   (queries, columns) float32; columns a multiple of CHUNK
        bar    (queries,)
        """

    def pairs(
        self,
        queries: NDArray[np.floating],
        rows: NDArray[np.floating],
        query: NDArray[np.int64],
        row: NDArray[np.int64],
        metric: Metric,
    ) -> NDArray[np.float64]:
        """The final score of each pair, by their positions in the two arrays."""


class NumpyKernels:
    """The loops without numba."""

    name = "numpy"

    def scan(self, keys: NDArray[np.float32], bar: NDArray[np.float32]) -> Kept:
        """See Kernels."""
        chunks = keys.reshape(len(keys), -1, CHUNK)
        query, chunk = np.nonzero(~(chunks.max(axis=2) < bar[:, None]))
        cell, place = np.nonzero(~(chunks[query, chunk] < bar[query][:, None]))
        return Kept(query[cell], chunk[cell] * CHUNK + place)

    def pairs(
        self,
        queries: NDArray[np.floating],
        rows: NDArray[np.floating],
        query: NDArray[np.int64],
        row: NDArray[np.int64],
        metric: Metric,
    ) -> NDArray[np.float64]:
        """See Kernels."""
        return score_pairs(queries, rows, query, row, metric)
