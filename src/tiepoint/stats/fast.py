"""The inner loop of resampling one column in numba, where it is installed: sums of the same values, so the same bits.

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

Sums: TypeAlias = Callable[[np.uint64, NDArray[np.float64], int], NDArray[np.float64]]
"""Key, (units,) values whose sums are exact, and number of resamples to (resamples,) sums, see stats.resample."""


@cache
def single_sums() -> Sums | None:
    """Numba's loop; None where numba is not installed."""
    if find_spec("numba") is None:
        return None
    numba: Any = import_module("numba")
    options = {"nogil": True, "error_model": "numpy", "fastmath": False, "boundscheck": False}
    try:
        loop: Sums = numba.njit(cache=True, **options)(_single_sums)
    except RuntimeError:  # nowhere to keep what is compiled
        loop = numba.njit(**options)(_single_sums)
    return loop


def _single_sums(key: np.uint64, column: NDArray[np.float64], resamples: int) -> NDArray[np.float64]:
    """Two draws of 32 bits from each mixed number."""
    units = len(column)
    pairs, many = (units + 1) // 2, np.uint64(units)
    sums = np.zeros(resamples)
    for r in range(resamples):
        total = 0.0
        for p in range(pairs):
            mixed = np.uint64(r * pairs + p) * np.uint64(0x9E3779B97F4A7C15) + key
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed = mixed ^ (mixed >> np.uint64(31))
            total += column[((mixed & np.uint64(0xFFFFFFFF)) * many) >> np.uint64(32)]
            if 2 * p + 1 < units:
                total += column[((mixed >> np.uint64(32)) * many) >> np.uint64(32)]
        sums[r] = total
    return sums
