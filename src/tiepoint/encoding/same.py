"""When two vectors are one: equal in every value, or apart by no more than rounding. Every row, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tiepoint.encoding.check import BLOCK_VALUES

AGREEMENT = 0.9998
"""The cosine from which two vectors of one text come from one model, for every dtype a contract may name.

Measured with all-MiniLM-L6-v2 on 60 scifact abstracts: alone and in batches of 32 the fp32 model agrees with itself to 6e-8; the
same weights run in bfloat16 give 0.99992 and more; the int8 weights, another space, give 0.99907 to 0.99968. Storing float16
costs 1e-7. A graph that quantises its activations as it runs may drift further between processors, and then shows as elsewhere.
"""
APART = float(np.sqrt(2 - 2 * AGREEMENT))
"""The same bound as a distance, in lengths of the longer vector: 0.02."""


def blocks(rows: NDArray[np.int64], dimension: int) -> Iterator[slice]:
    """Stretches of these rows that hold about BLOCK_VALUES values, so that a mapped array is never in memory as a whole."""
    step = max(1, BLOCK_VALUES // max(1, dimension))
    return (slice(start, min(start + step, len(rows))) for start in range(0, len(rows), step))


def taken(array: NDArray[np.floating], rows: NDArray[np.int64]) -> NDArray[np.floating]:
    """(rows, dimension) these rows, ascending, of an array: a view where they lie side by side, else a copy."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
        return array[rows[0] : rows[-1] + 1]
    return array[rows]


def vector_numbers(array: NDArray[np.floating], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """(rows,) a number for each of these rows of an array: equal for two rows exactly where every value is equal.

    Rows are hashed, and what the hash calls equal is compared value by value: no two different vectors get one number.
    0 and -0 are equal. rows ascend, and none holds NaN.
    """
    hashes = _hashes(array, rows)
    order = np.argsort(hashes, kind="stable")
    twin = np.append(False, hashes[order][1:] == hashes[order][:-1])
    at = np.flatnonzero(twin)
    equal = np.ones(len(at), dtype=bool)
    for block in blocks(at, array.shape[1]):
        here, before = rows[order[at[block]]], rows[order[at[block] - 1]]
        equal[block] = (array[here] == array[before]).all(axis=1)
    numbers = np.empty(len(rows), dtype=np.int64)
    numbers[order] = np.cumsum(~twin) - 1
    if not equal.all():
        _settle(array, rows, hashes, np.unique(hashes[order[at[~equal]]]), numbers)
    return numbers


def same_vector(ours: NDArray[np.floating], theirs: NDArray[np.floating], *, length_matters: bool) -> NDArray[np.bool_]:
    """(rows,) True where two vectors may be one model's for one text: a cosine of AGREEMENT or more.

    length_matters   where a contract is not normalised: their distance must also lie within APART of the longer length
    """
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        squares, others = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
        same: NDArray[np.bool_] = np.einsum("ij,ij->i", a, b) >= AGREEMENT * np.sqrt(squares * others)
        same &= np.isfinite(squares) & np.isfinite(others) & (squares > 0) & (others > 0)
        if length_matters:
            distance = np.einsum("ij,ij->i", a - b, a - b)
            same &= distance <= APART**2 * np.maximum(squares, others) * (1 + 1e-9)
    return same


def spread(array: NDArray[np.floating], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """(dimension,) standard deviation of each dimension over these rows; exactly 0 where it has one value in all of them."""
    dimension = array.shape[1]
    low, high = np.full(dimension, np.inf), np.full(dimension, -np.inf)
    mean, squares, seen = np.zeros(dimension), np.zeros(dimension), 0
    for block in blocks(rows, dimension):
        given = taken(array, rows[block])
        low, high = np.minimum(low, given.min(axis=0)), np.maximum(high, given.max(axis=0))
        values = given.astype(np.float64)
        count, own = len(values), values.mean(axis=0)
        values -= own
        step = own - mean
        squares += np.square(values, out=values).sum(axis=0) + step**2 * (seen * count / (seen + count))
        mean += step * (count / (seen + count))
        seen += count
    deviation = np.sqrt(squares / max(1, seen))
    deviation[low == high] = 0.0
    return deviation


def _hashes(array: NDArray[np.floating], rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    row_bytes = array.shape[1] * array.dtype.itemsize
    word = next(kind for kind in (np.uint64, np.uint32, np.uint16) if row_bytes % np.dtype(kind).itemsize == 0)
    words = row_bytes // np.dtype(word).itemsize
    factors = np.random.Generator(np.random.Philox(7)).integers(0, 1 << 63, size=words, dtype=np.uint64) * np.uint64(2)
    factors += np.uint64(1)
    hashes = np.empty(len(rows), dtype=np.uint64)
    for block in blocks(rows, array.shape[1]):
        values = taken(array, rows[block]) + array.dtype.type(0)  # a copy in which -0 is 0
        hashes[block] = np.einsum(
            "ij,j->i", np.ascontiguousarray(values).view(word).astype(np.uint64, copy=False), factors
        )
    return hashes


def _settle(
    array: NDArray[np.floating],
    rows: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    struck: NDArray[np.uint64],
    numbers: NDArray[np.int64],
) -> None:
    """Number anew, in place, the rows of hashes that two different vectors share."""
    following = int(numbers.max(initial=-1)) + 1
    for value in struck:
        members = np.flatnonzero(hashes == value)
        _, groups = np.unique(array[rows[members]], axis=0, return_inverse=True)
        numbers[members] = following + groups.ravel()
        following += int(groups.max()) + 1
