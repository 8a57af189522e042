"""The inner loop of resampling in numba, where it is installed: the same whole numbers as numpy's, so the same bits.

numba is imported only when work asks for it; what it compiles is kept beside this file, or in the user's cache where this
folder cannot be written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Gather: TypeAlias = Callable[[np.uint64, NDArray[np.int64], int], NDArray[np.int64]]
"""Key, (units, columns) and number of resamples to (resamples, columns) sums, see stats.resample."""


@cache
def gather() -> Gather | None:
    """Numba's loop; None where numba is not installed."""
    if find_spec("numba") is None:
        return None
    numba: Any = import_module("numba")
    options = {"nogil": True, "error_model": "numpy", "fastmath": False, "boundscheck": False}
    try:
        one, many = (numba.njit(cache=True, **options)(loop) for loop in (_gather_one, _gather_many))
    except RuntimeError:  # nowhere to keep what is compiled
        one, many = (numba.njit(**options)(loop) for loop in (_gather_one, _gather_many))

    def gathered(key: np.uint64, whole: NDArray[np.int64], resamples: int) -> NDArray[np.int64]:
        loop = one if whole.shape[1] == 1 else many
        sums: NDArray[np.int64] = loop(key, whole, resamples)
        return sums

    return gathered


def _gather_one(key: np.uint64, whole: NDArray[np.int64], resamples: int) -> NDArray[np.int64]:
    """A single column: two draws of 32 bits from each mixed number."""
    units = len(whole)
    column = whole[:, 0].copy()
    pairs, many = (units + 1) // 2, np.uint64(units)
    sums = np.zeros((resamples, 1), dtype=np.int64)
    for r in range(resamples):
        total = np.int64(0)
        for p in range(units // 2):
            mixed = np.uint64(r * pairs + p) * np.uint64(0x9E3779B97F4A7C15) + key
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed = mixed ^ (mixed >> np.uint64(31))
            first = ((mixed & np.uint64(0xFFFFFFFF)) * many) >> np.uint64(32)
            second = ((mixed >> np.uint64(32)) * many) >> np.uint64(32)
            total += column[first] + column[second]
        if units % 2:
            mixed = np.uint64(r * pairs + pairs - 1) * np.uint64(0x9E3779B97F4A7C15) + key
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed = mixed ^ (mixed >> np.uint64(31))
            total += column[((mixed & np.uint64(0xFFFFFFFF)) * many) >> np.uint64(32)]
        sums[r, 0] = total
    return sums


def _gather_many(key: np.uint64, whole: NDArray[np.int64], resamples: int) -> NDArray[np.int64]:
    """Several columns: each drawn unit adds its row, eight rows at a time."""
    units, columns = whole.shape
    pairs, many = (units + 1) // 2, np.uint64(units)
    sums = np.zeros((resamples, columns), dtype=np.int64)
    drawn = np.empty(2 * pairs, dtype=np.int64)
    for r in range(resamples):
        for p in range(pairs):
            mixed = np.uint64(r * pairs + p) * np.uint64(0x9E3779B97F4A7C15) + key
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed = mixed ^ (mixed >> np.uint64(31))
            drawn[2 * p] = np.int64(((mixed & np.uint64(0xFFFFFFFF)) * many) >> np.uint64(32))
            drawn[2 * p + 1] = np.int64(((mixed >> np.uint64(32)) * many) >> np.uint64(32))
        total = sums[r]
        for i in range(0, units - 7, 8):
            a, b, c, d = whole[drawn[i]], whole[drawn[i + 1]], whole[drawn[i + 2]], whole[drawn[i + 3]]
            e, f, g, h = whole[drawn[i + 4]], whole[drawn[i + 5]], whole[drawn[i + 6]], whole[drawn[i + 7]]
            for k in range(columns):
                total[k] += ((a[k] + b[k]) + (c[k] + d[k])) + ((e[k] + f[k]) + (g[k] + h[k]))
        for i in range(units - units % 8, units):
            a = whole[drawn[i]]
            for k in range(columns):
                total[k] += a[k]
    return sums
