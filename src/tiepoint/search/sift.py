"""One range of queries through the products of a plan: first pass, scan, what survives; then the exact scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.space import Vectors
from tiepoint.errors import CannotRun
from tiepoint.search.first_pass import Asked, Block, Float32Pass, Scratch
from tiepoint.search.kernels import CHUNK, Kernels
from tiepoint.search.plan import Plan, Product
from tiepoint.search.pool import Full, Pairs, Pool

OPENING = 2
"""To find a first score that is sure, so many times depth of the best keys are looked at, where not every pair counts."""
PEAK = 64
"""Keys of which only the best counts where a bar for that is set, at most; it proves nothing."""

Watcher = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]], None]
"""Told of every pair that a first pass bounded: queries, corpus rows, lower and upper bounds (the debug mode)."""


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """What a thread may hold at once.

    cells    keys
    pairs    surviving pairs
    """

    cells: int
    pairs: int

    @classmethod
    def of(cls, memory_bytes: int) -> Room:
        """An eighth for keys, half for pairs (96 bytes each while they are sorted); a strip of rows takes little besides."""
        cells = min(max(memory_bytes // 32, CHUNK), 2**21)
        return cls(cells, max(memory_bytes // 192, 1024))


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The exact scores of what survived: (pairs,) each.

    query     position among the study's queries
    row       corpus row
    score     final; nan where the vectors have none
    widest    half the widest interval of a pair that was scored again; 0 where there is none
    scores    keys that the first pass made
    """

    query: NDArray[np.int64]
    row: NDArray[np.int64]
    score: NDArray[np.float64]
    widest: float
    scores: int


@dataclass(frozen=True, slots=True, eq=False)
class Sieve:
    """All that a range of queries needs.

    watch   None but for the debug mode
    """

    plan: Plan
    first: Float32Pass
    kernels: Kernels
    queries: Vectors
    depth: int
    tolerance: float
    room: Room
    watch: Watcher | None = None

    def sift(self, chosen: NDArray[np.int64]) -> list[Found]:
        """The survivors of some queries, those that stand together in the plan's order; fewer at a time where room is short."""
        with np.errstate(all="ignore"):
            try:
                return [self._sift(chosen)]
            except Full:
                half = len(chosen) // 2
                return [*self.sift(chosen[:half]), *self.sift(chosen[half:])]

    def _sift(self, chosen: NDArray[np.int64]) -> Found:
        units = self.plan.eligibility.corpus.units
        of_row = None if units.plain else units.of_row
        pool = Pool(len(chosen), depth=self.depth, tolerance=self.tolerance, of_row=of_row, room=self.room.pairs)
        asked = Asked.of(self.queries.array[self.queries.row[chosen]], self.first.certificate.metric)
        place = np.full(len(self.plan.principal), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        made = self._multiply_all(place, chosen, asked, pool)
        pairs = pool.settle()
        query, vector = chosen[pairs.query], self.first_row(pairs.row)
        # Documents and queries may share one array: only the vectors that are asked with are handed on.
        score = self.kernels.pairs(
            self.queries.array[self.queries.row[chosen]],
            self.first.documents,
            pairs.query,
            vector,
            self.first.certificate.metric,
        )
        if ((score < pairs.low) | (score > pairs.high)).any():
            raise CannotRun(
                "the matrix product breaks its error bound on this machine",
                where="the exact search",
                fix="use another build of numpy; no ranking was made",
            )
        width = (pairs.high - pairs.low) / 2
        return Found(query, pairs.row, score, float(width[np.isfinite(width)].max(initial=0)), made)

    def first_row(self, row: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which vector a corpus row has."""
        return self.plan.row[row]

    def _multiply_all(self, place: NDArray[np.int64], chosen: NDArray[np.int64], whole: Asked, pool: Pool) -> int:
        """Put the survivors of every product into the pool; how many keys were made."""
        made, cell, admitted = 0, -1, np.empty(0, dtype=bool)
        dimension = self.first.documents.shape[1]
        keys = np.empty(self.room.cells, dtype=np.float32)
        scratch = Scratch(dimension)
        for product in self.plan.products:
            members = place[product.queries]
            members = members[members >= 0]
            if not len(members):
                continue
            if product.cell != cell:
                cell, admitted = product.cell, self.plan.admitted(product.cell)
            rows = self.plan.rows(product, admitted)
            asked = whole if len(members) == len(chosen) else whole.take(members)
            step = self.room.cells // len(members) // CHUNK * CHUNK
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                block = self.first.block(self.first_row(some))
                width = -(-len(some) // CHUNK) * CHUNK  # whole chunks
                out = keys[: len(members) * width].reshape(len(members), width)
                self.first.keys(asked, block, out, scratch)
                _Part(self, product, chosen, members, some, asked, block, out).put(pool)
            made += len(members) * len(rows)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The keys of a product's queries against a block of its rows."""

    sieve: Sieve
    product: Product
    chosen: NDArray[np.int64]
    members: NDArray[np.int64]
    rows: NDArray[np.int64]
    asked: Asked
    block: Block
    keys: NDArray[np.float32]

    def put(self, pool: Pool) -> None:
        """Whatever could be among the best of its query goes to the pool."""
        sieve = self.sieve
        if sieve.watch is not None:
            self._show()
        eligible = sieve.plan.eligibility.eligible[self.chosen[self.members]]
        opening = np.flatnonzero((pool.sure[self.members] == -np.inf) & (eligible >= sieve.depth))
        if len(opening):
            self._open(opening, pool)
        bar = sieve.first.bar(pool.least[self.members], self.asked, self.block)
        pool.add(self._survivors(np.arange(len(self.members)), bar))

    def _open(self, opening: NDArray[np.int64], pool: Pool) -> None:
        """A first sure score for queries that have none, from the best keys of this block."""
        wanted = self.sieve.depth
        if self.product.share < 1 or self.sieve.plan.leaves_out:
            wanted = int(OPENING * wanted / self.product.share)
        keys = self.keys if len(opening) == len(self.members) else self.keys[opening]
        # How many keys share a peak: a power of two, so that there are several peaks for each that is wanted.
        share = min(PEAK, 1 << max(0, (keys.shape[1] // (8 * wanted)).bit_length() - 1))
        peaks = keys.reshape(len(opening), share, -1).max(axis=1)
        if wanted >= peaks.shape[1]:
            bar = np.full(len(opening), -np.inf, dtype=np.float32)
        else:
            at = peaks.shape[1] - wanted
            bar = np.partition(peaks, at, axis=1)[:, at]
        pool.sure = np.maximum(pool.sure, pool.reached(self._survivors(opening, bar)))

    def _survivors(self, some: NDArray[np.int64], bar: NDArray[np.float32]) -> Pairs:
        """The pairs of some of the queries that reach a bar and count, with their bounds."""
        keys = self.keys if len(some) == len(self.members) else self.keys[some]
        query, column = self.sieve.kernels.scan(keys, bar)
        inside = column < len(self.rows)
        query, column = query[inside], column[inside]
        counts = self.sieve.plan.counts(self.product, self.chosen[self.members[some[query]]], self.rows[column])
        query, column = query[counts], column[counts]
        low, high = self.sieve.first.bounds(keys[query, column], self.asked, self.block, some[query], column)
        return Pairs(self.members[some[query]], self.rows[column], low, high)

    def _show(self) -> None:
        everything = self._survivors(
            np.arange(len(self.members)), np.full(len(self.members), -np.inf, dtype=np.float32)
        )
        if self.sieve.watch is not None:
            self.sieve.watch(self.chosen[everything.query], everything.row, everything.low, everything.high)
