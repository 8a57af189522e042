"""What is wrong with vectors: shape, dtype, NaN, infinity, zero, norms. One logic for live and for made vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Contract

BLOCK_VALUES = 1 << 21
"""Values looked at together, so that a mapped array is never in memory as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """What check_vectors found; rows are positions in the array.

    shape        a sentence when the array is not (items, dimension); nothing else is then looked at
    dtype        a sentence when its dtype is not the contract's
    not_finite   rows with NaN or infinity, or too large for their length to be a number
    zero         rows of length 0, which have no direction
    off_norm     rows whose length is not 1, where the contract says normalised
    norms        (rows,) float64 lengths; empty when the shape is wrong
    """

    shape: str | None
    dtype: str | None
    not_finite: NDArray[np.int64]
    zero: NDArray[np.int64]
    off_norm: NDArray[np.int64]
    norms: NDArray[np.float64]

    @property
    def broken(self) -> NDArray[np.int64]:
        """Rows that cannot be used at all, ascending: not finite or zero."""
        return np.union1d(self.not_finite, self.zero)


def check_vectors(array: NDArray[np.generic], contract: Contract, *, items: int | None = None) -> Checked:
    """Hold an array against its contract, every row of it.

    array     what was returned or read; may be memory-mapped
    items     how many rows there must be; None: any number
    returns   every finding at once; nothing is raised
    """
    nothing = np.empty(0, dtype=np.int64)
    rows = items if items is not None else (len(array) if array.ndim else 0)
    if array.ndim != 2 or array.shape != (rows, contract.dimension):
        sentence = f"shape {array.shape} where the contract says ({rows}, {contract.dimension})"
        return Checked(sentence, None, nothing, nothing, nothing, np.empty(0))
    dtype = None
    if array.dtype != np.dtype(contract.dtype):
        dtype = f"dtype {array.dtype} where the contract says {contract.dtype}"
    if array.dtype.kind not in "fiu":
        return Checked(None, dtype, nothing, nothing, nothing, np.empty(0))
    norms = vector_norms(array)
    finite = np.isfinite(norms)
    usable = finite & (norms > 0)
    off = usable & (np.abs(norms - 1) > contract.tolerance) if contract.normalized else np.zeros(rows, dtype=bool)
    return Checked(
        None, dtype, np.flatnonzero(~finite), np.flatnonzero(finite & (norms == 0)), np.flatnonzero(off), norms
    )


def vector_norms(array: NDArray[np.generic]) -> NDArray[np.float64]:
    """(rows,) float64 lengths of (rows, dimension) vectors: NaN or infinite where a value is, 0 for a zero vector."""
    norms = np.empty(len(array), dtype=np.float64)
    step = max(1, BLOCK_VALUES // max(1, array.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(array), step):
            block = np.asarray(array[start : start + step], dtype=np.float64)
            norms[start : start + step] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return norms
