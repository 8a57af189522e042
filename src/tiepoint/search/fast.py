"""The inner loops in numba, where it is installed. Without fast-math and without fusing: the same bits as numpy's.

numba is imported only when work asks for it; what it compiles is kept beside this file, or in the user's cache where this
folder cannot be written, or nowhere where neither can.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Metric
from tiepoint.search.kernels import CHUNK, Kept, Kernels, NumpyKernels

SCAN_S, PAIR_S = 0.3e-9, 5e-6
"""What numba saves of a key that is scanned and of a pair of 384 columns that is scored (measured)."""
WORTH_S = 0.5
"""Seconds to be saved from which on numba is loaded: that takes about one, and most searches are followed by others."""
METRICS: dict[Metric, int] = {"dot": 0, "cosine": 1, "euclidean": 2}
FIRST_CELLS = 2**16


def kernels_for(keys: float, pairs: float) -> Kernels:
    """The loops for a search of so many keys and pairs: numba's where they are loaded or worth it and installed, or numpy's."""
    loaded = numba_kernels.cache_info().currsize > 0
    if loaded or keys * SCAN_S + pairs * PAIR_S >= WORTH_S:
        return numba_kernels() or NumpyKernels()
    return NumpyKernels()


@functools.cache
def numba_kernels() -> Kernels | None:
    """Numba's loops; None where numba is not installed, or does not give numpy's bits on this processor."""
    if find_spec("numba") is None:
        return None
    kernels = NumbaKernels(_compiled(_scan), _compiled(_pairs))
    return kernels if _same_bits(kernels) else None


class NumbaKernels:
    """The loops compiled."""

    name = "numba"

    def __init__(self, scan: Callable[..., int], pairs: Callable[..., None]) -> None:
        self._scan, self._pairs = scan, pairs

    def scan(self, keys: NDArray[np.float32], bar: NDArray[np.float32]) -> Kept:
        """See Kernels."""
        cells = FIRST_CELLS
        while True:
            query, column = np.empty(cells, dtype=np.int64), np.empty(cells, dtype=np.int64)
            found = self._scan(keys, bar, query, column)
            if found <= cells:
                return Kept(query[:found].copy(), column[:found].copy())
            cells = found

    def pairs(
        self,
        queries: NDArray[np.floating],
        rows: NDArray[np.floating],
        query: NDArray[np.int64],
        row: NDArray[np.int64],
        metric: Metric,
    ) -> NDArray[np.float64]:
        """See Kernels."""
        if rows.dtype not in (np.float32, np.float64) or not rows.flags.c_contiguous:
            return NumpyKernels().pairs(queries, rows, query, row, metric)
        result = np.empty(len(query))
        asked = np.ascontiguousarray(queries, dtype=np.float64)
        # One type of array for one compiled form: plain, and never to be written.
        asked, plain = asked.view(), np.asarray(rows).view()
        asked.flags.writeable = plain.flags.writeable = False
        self._pairs(asked, plain, query, row, METRICS[metric], result)
        return result


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    numba: Any = import_module("numba")
    compiled: Callable[..., Any]
    try:
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=False)(function)
    except RuntimeError:  # there is no folder to keep it in
        compiled = numba.njit(nogil=True, error_model="numpy", fastmath=False)(function)
    return compiled


def _same_bits(kernels: Kernels) -> bool:
    """Products whose sum shows whether the processor fused a product with its addition, in every metric."""
    rng = np.random.default_rng(0)
    queries, rows = rng.standard_normal((4, 83)), rng.standard_normal((64, 83))
    query, row = np.arange(64) % 4, np.arange(64)
    return all(
        np.array_equal(
            kernels.pairs(queries, rows, query, row, metric), NumpyKernels().pairs(queries, rows, query, row, metric)
        )
        for metric in METRICS
    )


def _scan(keys: Any, bar: Any, query: Any, column: Any) -> int:  # noqa: ANN401
    found = 0
    for i in range(keys.shape[0]):
        least = bar[i]
        for start in range(0, keys.shape[1], CHUNK):
            chunk = keys[i, start : start + CHUNK]
            reached = np.int32(0)
            for j in range(CHUNK):
                reached += np.int32(not (chunk[j] < least))
            if reached > 0:
                for j in range(CHUNK):
                    if not (chunk[j] < least):
                        if found < len(query):
                            query[found], column[found] = i, start + j
                        found += 1
    return found


def _pairs(queries: Any, rows: Any, query: Any, row: Any, metric: int, result: Any) -> None:  # noqa: ANN401
    # Eight lanes each of: products (or squared differences), the query's squares, the row's squares.
    lanes, asked, own = np.zeros(8), np.zeros(8), np.zeros(8)
    width = rows.shape[1]
    whole = width // 8 * 8
    for p in range(len(query)):
        q, r = query[p], row[p]
        lanes[:] = 0
        asked[:] = 0
        own[:] = 0
        for j in range(0, whole, 8):
            for lane in range(8):
                a, b = queries[q, j + lane], np.float64(rows[r, j + lane])
                if metric == 2:
                    lanes[lane] += (b - a) * (b - a)
                else:
                    lanes[lane] += b * a
                if metric == 1:
                    asked[lane] += a * a
                    own[lane] += b * b
        for j in range(whole, width):
            a, b = queries[q, j], np.float64(rows[r, j])
            lanes[j - whole] += (b - a) * (b - a) if metric == 2 else b * a
            asked[j - whole] += a * a
            own[j - whole] += b * b
        total = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
        if metric == 2:
            total = -np.sqrt(total)
        if metric == 1:
            left = ((asked[0] + asked[1]) + (asked[2] + asked[3])) + ((asked[4] + asked[5]) + (asked[6] + asked[7]))
            right = ((own[0] + own[1]) + (own[2] + own[3])) + ((own[4] + own[5]) + (own[6] + own[7]))
            total /= np.sqrt(left) * np.sqrt(right)
        result[p] = total
