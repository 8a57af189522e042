"""What may still be among the best of some queries: pairs with bounds, and the score that each query's best are sure to reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Pairs(NamedTuple):
    """Pairs with proven bounds of their final scores: (pairs,) each.

    query   position in the range of queries that is searched
    row     corpus row
    low, high
    """

    query: NDArray[np.int64]
    row: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def take(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.query[chosen], self.row[chosen], self.low[chosen], self.high[chosen])

    @classmethod
    def joined(cls, some: Sequence[Pairs]) -> Pairs:
        """All of them, one after the other."""
        return cls(
            np.concatenate([pairs.query for pairs in some]),
            np.concatenate([pairs.row for pairs in some]),
            np.concatenate([pairs.low for pairs in some]),
            np.concatenate([pairs.high for pairs in some]),
        )


NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))


class Pool:
    """The pairs of a range of queries that could still be among their best.

    queries     how many
    depth       units wanted of each
    tolerance   pairs so far below the depth-th best are kept too, since they tie with it
    of_row      (documents,) the unit of each row; None where every row is its own
    room        pairs to hold at most; more of them raise Full, but for a single query
    """

    def __init__(
        self, queries: int, *, depth: int, tolerance: float, of_row: NDArray[np.int64] | None, room: int
    ) -> None:
        self.depth, self.tolerance, self.of_row, self.room = depth, tolerance, of_row, room
        self.sure = np.full(queries, -np.inf)
        self._held, self._waiting = NO_PAIRS, 0
        self._new: list[Pairs] = []

    @property
    def least(self) -> NDArray[np.float64]:
        """(queries,) the final score below which no pair can matter."""
        return self.sure - self.tolerance

    def add(self, pairs: Pairs) -> None:
        """Hold more pairs; what has become sure is looked at when there are many."""
        if len(pairs.query):
            self._new.append(pairs)
            self._waiting += len(pairs.query)
            if self._waiting > max(len(self._held.query) // 2, self.depth * len(self.sure) // 2, 4096):
                self.settle()

    def settle(self) -> Pairs:
        """Everything that may still matter, after what cannot is dropped. Raises Full."""
        pairs = Pairs.joined([self._held, *self._new])
        self._new, self._waiting = [], 0
        self.sure = np.maximum(self.sure, self.reached(pairs))
        self._held = pairs.take(pairs.high >= self.least[pairs.query])
        if len(self._held.query) > self.room and len(self.sure) > 1:
            raise Full
        return self._held

    def reached(self, pairs: Pairs) -> NDArray[np.float64]:
        """(queries,) a score that depth distinct units of these pairs are sure to reach; -inf where they are fewer."""
        query, low = pairs.query, pairs.low
        if self.of_row is not None:
            unit = self.of_row[pairs.row]
            order = np.lexsort((-low, unit, query))
            query, unit, low = query[order], unit[order], low[order]
            first = np.ones(len(query), dtype=bool)
            first[1:] = (query[1:] != query[:-1]) | (unit[1:] != unit[:-1])
            query, low = query[first], low[first]
        many = np.bincount(query, minlength=len(self.sure))
        enough = np.flatnonzero(many >= self.depth)
        result = np.full(len(self.sure), -np.inf)
        if len(enough):
            ordered = _ordered(query, low)
            result[enough] = _least(ordered[(np.cumsum(many) - many)[enough] + self.depth - 1])
        return result


QUERY_BITS = 10
"""A range has no more queries than these bits can number; a bound gives up as many of its last bits."""
SIGN = np.uint64(1 << 63)


def _ordered(query: NDArray[np.int64], low: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Queries ascending and in each the bounds descending, as one sorted column of numbers."""
    bits = (low + 0.0).view(np.uint64)
    ascending = np.where(bits & SIGN, ~bits, bits | SIGN)
    return np.sort((query.astype(np.uint64) << np.uint64(64 - QUERY_BITS)) | (~ascending >> np.uint64(QUERY_BITS)))


def _least(ordered: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The least bound that a number of _ordered can stand for."""
    lost = np.uint64((1 << QUERY_BITS) - 1)
    ascending = ~((ordered << np.uint64(QUERY_BITS)) | lost)
    # Below minus infinity stand what are no numbers.
    least = np.where(ascending & SIGN, ascending & ~SIGN, ~ascending).view(np.float64)
    return np.where(np.isnan(least), -np.inf, least)


class Full(Exception):
    """More pairs than there is room for: fewer queries at a time need less."""
