"""Seeded resampling of independent units: queries, or whole clusters of queries that vary one seed question."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.fast import gather

CHUNK = 256
"""Resamples drawn at once; what is drawn does not depend on it."""
WORTH = 20_000_000
"""Values to be added up from which on numba is loaded; below, loading takes longer than it saves."""
HALF = 26
"""Bits of the lower half of a whole number: 2 ** 26 of at most 2 ** 27 units add up to less than a float64 holds exactly."""
GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def stream(seed: int, *purpose: str) -> np.random.Generator:
    """A counter-based generator of its own for one purpose: adding a figure moves no other figure's draws."""
    key = hashlib.sha256("\x1f".join([str(seed), *purpose]).encode()).digest()[:16]
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key)))


def resampled_sums(rng: np.random.Generator, columns: NDArray[np.float64], resamples: int) -> NDArray[np.float64]:
    """Sums of every column over each resample of the units.

    The values are added as whole numbers, in steps of the largest value's 2 ** -52 or what 62 bits allow, so that no order of
    adding, no number of threads and no compiler changes a bit.

    columns   (units, columns) float64, finite
    returns   (resamples, columns) float64
    """
    units = len(columns)
    largest = float(np.abs(columns).max(initial=0.0)) or 1.0
    steps = min(52, 61 - math.ceil(math.log2(units))) - math.ceil(math.log2(largest))
    whole = np.rint(np.ldexp(columns, steps)).astype(np.int64)
    key = _key(rng)
    if not columns.size:
        return np.zeros((resamples, columns.shape[1]))
    quick = gather() if resamples * columns.size >= WORTH else None
    if quick is not None:
        sums = quick(np.uint64(key), np.ascontiguousarray(whole), resamples)
    else:
        # Two products of whole numbers that stay below 2 ** 53: exact in any order of adding, whatever BLAS does.
        high, low = (part.astype(np.float64) for part in (whole >> HALF, whole & ((1 << HALF) - 1)))
        sums = np.concatenate(
            [
                ((drawn @ high).astype(np.int64) << HALF) + (drawn @ low).astype(np.int64)
                for drawn in (counts.astype(np.float64) for counts in _counts(key, units, resamples))
            ]
        )
    if abs(steps) < 1_000:  # a power of two that is a number itself: a product is as exact as ldexp, and quicker
        return np.asarray(sums.astype(np.float64) * math.ldexp(1.0, -steps), dtype=np.float64)
    return np.ldexp(sums.astype(np.float64), -steps)


def weights(rng: np.random.Generator, units: int, resamples: int) -> Iterator[NDArray[np.float64]]:
    """Chunks of (resamples, units) float64: how often each unit stands in each resample of as many units."""
    for counts in _counts(_key(rng), units, resamples):
        yield counts.astype(np.float64)


def _key(rng: np.random.Generator) -> int:
    return int(rng.integers(0, 2**64, dtype=np.uint64))


def _counts(key: int, units: int, resamples: int) -> Iterator[NDArray[np.int64]]:
    """As weights, in whole numbers. Draw i of resample r follows from the key, r and i alone (splitmix64), as in stats.fast."""
    pairs = (units + 1) // 2
    for start in range(0, resamples, CHUNK):
        rows = min(CHUNK, resamples - start)
        place = np.arange(start * pairs, (start + rows) * pairs, dtype=np.uint64).reshape(rows, pairs)
        mixed: NDArray[np.uint64] = place * GOLDEN + np.uint64(key)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * FIRST
        mixed = (mixed ^ (mixed >> np.uint64(27))) * SECOND
        mixed ^= mixed >> np.uint64(31)
        halves = np.stack([mixed & np.uint64(0xFFFFFFFF), mixed >> np.uint64(32)], axis=2).reshape(rows, -1)
        scaled: NDArray[np.uint64] = halves[:, :units] * np.uint64(units)
        drawn = (scaled >> np.uint64(32)).astype(np.int64)
        flat = (drawn + np.arange(rows)[:, None] * units).ravel()
        yield np.bincount(flat, minlength=rows * units).reshape(rows, units)


def by_cluster(values: NDArray[np.float64], cluster: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sums over each cluster: (queries, columns) to (clusters, columns), in cluster order."""
    sums = np.zeros((int(cluster.max(initial=-1)) + 1, values.shape[1]))
    if len(sums) == len(values) and np.array_equal(cluster, np.arange(len(cluster))):
        return sums + values
    np.add.at(sums, cluster, values)
    return sums
