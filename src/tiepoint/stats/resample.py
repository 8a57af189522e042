"""Seeded resampling of independent units: queries, or whole clusters of queries that vary one seed question."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from tiepoint.stats.fast import single_sums

RESAMPLES = 2_000
"""What DiCiccio and Efron 1996 take for BCa: the ends of an interval move by 1.5 % of its width with the seed."""
BLOCK = 65_536
"""Draws made at once, small enough for a processor's cache; what is drawn does not depend on it."""
WIDE = 1_000
"""Resamples that are added up in one product."""
KEPT = 32_000_000
"""Counts that are kept for the next who resamples as many units; beyond it they are drawn again."""
WORTH = 20_000_000
"""Draws from which on numba is loaded for a single column; below, loading takes longer than it saves."""
EXACT_BITS = 53
GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def stream(seed: int, *purpose: str) -> np.random.Generator:
    """A counter-based generator of its own for one purpose: adding a figure moves no other figure's draws."""
    key = hashlib.sha256("\x1f".join([str(seed), *purpose]).encode()).digest()[:16]
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key)))


class Draws:
    """Resamples of any number of units, with replacement: the same ones for all who resample as many units.

    Draw i of resample r follows from the key, r and i alone (splitmix64), so no number of threads and no order of asking
    changes it. One object may be shared by threads.
    """

    def __init__(self, rng: np.random.Generator, resamples: int = RESAMPLES) -> None:
        """rng: a stream of its own, which the key is taken from."""
        self.key, self.resamples = rng.integers(0, 2**64, dtype=np.uint64), resamples
        self._kept: dict[int, NDArray[np.uint16]] = {}
        self._lock = Lock()

    def counts(self, units: int) -> Iterator[NDArray[np.float64]]:
        """How often each unit stands in each resample: (at most WIDE resamples, units), in turn."""
        kept = self._whole(units) if units * self.resamples <= KEPT else None
        for start in range(0, self.resamples, WIDE):
            stop = min(start + WIDE, self.resamples)
            found = self._counted(units, start, stop) if kept is None else kept[start:stop]
            yield found.astype(np.float64)

    def sums(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of every column over each resample of the units.

        The values are put on_grid first, so no order of adding, no number of threads and no BLAS changes a bit.

        columns   (columns, units) float64, finite
        returns   (columns, resamples) float64
        """
        many, units = columns.shape
        values = on_grid(columns)
        sums = np.zeros((many, self.resamples))
        if many == 1 and units:
            loop = single_sums() if self.resamples * units >= WORTH else None
            sums[0] = self._gathered(values[0]) if loop is None else loop(self.key, values[0], self.resamples)
        elif values.size:
            done = 0
            for counts in self.counts(units):
                sums[:, done : done + len(counts)] = values @ counts.T
                done += len(counts)
        return sums

    def _whole(self, units: int) -> NDArray[np.uint16]:
        with self._lock:
            if units not in self._kept:
                while self._kept and sum(kept.size for kept in self._kept.values()) + units * self.resamples > KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[units] = self._counted(units, 0, self.resamples)
            return self._kept[units]

    def _counted(self, units: int, start: int, stop: int) -> NDArray[np.uint16]:
        found = np.empty((stop - start, units), dtype=np.uint16 if units < 2**16 else np.uint32)
        for at, drawn in self._drawn(units, start, stop):
            rows = len(drawn)
            drawn += np.arange(0, rows * units, units)[:, None]
            found[at - start : at - start + rows] = np.bincount(drawn.ravel(), minlength=rows * units).reshape(
                rows, units
            )
        return found

    def _gathered(self, column: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = [column[drawn].sum(axis=1) for _, drawn in self._drawn(len(column), 0, self.resamples)]
        return np.concatenate(sums)

    def _drawn(self, units: int, start: int, stop: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Blocks of resamples: the first one's number, and (rows, units) the units that are drawn."""
        pairs = (units + 1) // 2  # of each mixed number both halves are a draw
        step = max(1, BLOCK // units)
        for at in range(start, stop, step):
            rows = min(step, stop - at)
            numbers = mixed(np.arange(at * pairs, (at + rows) * pairs, dtype=np.uint64) * GOLDEN + self.key)
            halves = numbers.astype("<u8", copy=False).view("<u4").reshape(rows, -1)[:, :units]
            yield at, ((halves * np.uint64(units)) >> np.uint64(32)).view(np.int64)


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of each number spread over all its bits: the finalizer of splitmix64, of which stats.fast has the same."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * FIRST
    numbers = (numbers ^ (numbers >> np.uint64(27))) * SECOND
    return numbers ^ (numbers >> np.uint64(31))


def on_grid(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values rounded to a step so coarse that a sum of as many as there are units is exact in float64, in any order.

    The step is 2 ** -53 times the column's largest value times the number of units, both rounded up to powers of two: of 2,000
    units a value moves by 1e-13 of the largest at most.

    columns   (columns, units) float64, finite; values on the grid stay as they are
    """
    share, power = np.frexp(np.abs(columns).max(axis=1, keepdims=True, initial=0.0))
    steps = EXACT_BITS - math.ceil(math.log2(max(columns.shape[1], 1))) - (power - (share == 0.5))
    found: NDArray[np.float64] = np.ldexp(np.rint(np.ldexp(columns, steps)), -steps)
    return found


def by_cluster(values: NDArray[np.float64], cluster: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sums over each cluster: (queries, columns) to (clusters, columns), in cluster order."""
    sums = np.zeros((int(cluster.max(initial=-1)) + 1, values.shape[1]))
    if len(sums) == len(values) and np.array_equal(cluster, np.arange(len(cluster))):
        return sums + values
    np.add.at(sums, cluster, values)
    return sums
