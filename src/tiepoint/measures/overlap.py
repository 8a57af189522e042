"""How many documents the first hits of two rankings share, over all orders of tied documents.

Both rankings are ordered apart, and every order of tied documents is as likely as any other; so nothing here changes when
documents are renamed. Documents that stand in the same two tie groups are looked at together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.run import Run
from tiepoint.errors import InputError
from tiepoint.measures.cut import Cut
from tiepoint.measures.ties import TieGroups, cut_at

CELLS = 4_000_000
"""Pairs of tie groups times depths, or pairs of hits, looked at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """Documents that the first d hits of both hold, d = 1..k, over all orders of tied documents: (queries, k) columns.

    One pair of orders has the smallest overlap at every depth, and one the largest: each group of the one by rising groups of
    the other, or by falling ones with what the other lacks first; within one group of the other both alike, or in reverse.

    hits, other_hits   (queries,) int64: how many of its first k hits each ranking has
    cut                what the first k of both hold: (queries,) columns
    """

    smallest: NDArray[np.int64]
    expected: NDArray[np.float64]
    largest: NDArray[np.int64]
    hits: NDArray[np.int64]
    other_hits: NDArray[np.int64]
    cut: Cut

    @classmethod
    def of(cls, one: Run, other: Run, k: int) -> Overlap:
        """one, other: rankings of the same queries over the same units.

        raises   InputError where k is beyond either depth, or the runs are of different numbers of queries
        """
        same_queries(one, other, k)
        sides = _Placed.of(one, k), _Placed.of(other, k)
        pairs, shape = _Pairs.of(*sides), (len(one), k)
        sure, sure_cut, cut_sure, both_cut = (np.zeros(shape, dtype=np.int64) for _ in range(4))
        single = (pairs.size == 1) & (pairs.other_size == 1)
        # A document that ties with no other counts from the depth at which both lists have shown it.
        np.add.at(sure, (pairs.query[single], np.maximum(pairs.start, pairs.other_start)[single]), 1)
        sure = sure.cumsum(axis=1)
        expected, tied, step = sure.astype(np.float64), np.flatnonzero(~single), max(1, CELLS // k)
        for block in (tied[first : first + step] for first in range(0, len(tied), step)):
            query, held = pairs.query[block], pairs.documents[block][:, None]
            share, whole, cut = _inside(pairs.start[block], pairs.size[block], k)
            other_share, other_whole, other_cut = _inside(pairs.other_start[block], pairs.other_size[block], k)
            _add(expected, query, held * (share * other_share))
            _add(sure, query, held * (whole & other_whole))
            _add(sure_cut, query, held * (whole & other_cut))
            _add(cut_sure, query, held * (cut & other_whole))
            _add(both_cut, query, held * (cut & other_cut))
        cuts = Cut(sure, sure_cut, cut_sure, both_cut, *sides[0].cut(), *sides[1].cut())
        return cls(cuts.smallest, expected, cuts.largest, sides[0].hits, sides[1].hits, cuts.at(k))


def same_queries(one: Run, other: Run, k: int) -> None:
    """Raise InputError where the first k hits of these runs cannot be held beside each other."""
    if len(one) != len(other):
        raise InputError(f"runs of {len(one):,} and of {len(other):,} queries have no agreement")
    if not 1 <= k <= min(one.depth, other.depth):
        raise InputError(f"agreement of the first {k} hits needs rankings of that depth", fix="search deeper")


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """Every document that stands within the first k of a ranking in some order: its query, and where its group begins.

    hits          (queries,) how many of the first k there are
    group_start, group_size   (queries, k) of the group that holds each place as ranked
    """

    query: NDArray[np.int64]
    document: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]
    hits: NDArray[np.int64]
    group_start: NDArray[np.int64]
    group_size: NDArray[np.int64]

    @classmethod
    def of(cls, run: Run, k: int) -> _Placed:
        run = cut_at(run, k)
        groups, hit = TieGroups.of(run), run.document >= 0
        start = np.tile(np.arange(run.depth), (len(run), 1))
        size = np.ones_like(start)
        start[groups.rows], size[groups.rows] = groups.start, groups.size
        ranked = np.nonzero(hit & (start < k))
        owner = np.repeat(np.arange(len(run)), np.diff(run.tied_start))
        beyond = owner, hit.sum(axis=1)[owner] - 1  # they belong to the group of the last hit
        reach = start[beyond] < k
        last = beyond[0][reach], beyond[1][reach]
        return cls(
            query=np.concatenate([ranked[0], last[0]]),
            document=np.concatenate([run.document[ranked], run.tied[reach]]).astype(np.int64),
            start=np.concatenate([start[ranked], start[last]]),
            size=np.concatenate([size[ranked], size[last]]),
            hits=hit[:, :k].sum(axis=1),
            group_start=start[:, :k],
            group_size=size[:, :k],
        )

    def cut(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Columns inside and size of class Cut at every depth."""
        depth = np.arange(1, self.group_start.shape[1] + 1)
        inside = depth - self.group_start
        cut = (inside < self.group_size) & (depth <= self.hits[:, None])
        return inside * cut, self.group_size * cut


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Pairs of tie groups, one of each ranking, that share documents; by rising query.

    documents   how many they share
    """

    query: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]
    other_start: NDArray[np.int64]
    other_size: NDArray[np.int64]
    documents: NDArray[np.int64]

    @classmethod
    def of(cls, one: _Placed, other: _Placed) -> _Pairs:
        width = int(max(one.document.max(initial=0), other.document.max(initial=0))) + 1
        key, other_key = (side.query * width + side.document for side in (one, other))
        _, mine, theirs = np.intersect1d(key, other_key, assume_unique=True, return_indices=True)
        k = one.group_start.shape[1]
        cell = (one.query[mine] * k + one.start[mine]) * k + other.start[theirs]
        _, first, documents = np.unique(cell, return_index=True, return_counts=True)
        mine, theirs = mine[first], theirs[first]
        return cls(one.query[mine], one.start[mine], one.size[mine], other.start[theirs], other.size[theirs], documents)


def _inside(
    start: NDArray[np.int64], size: NDArray[np.int64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """(groups, k) the share of each group's places within the first d, whether that is all of them, and whether it is cut."""
    inside = np.clip(np.arange(1, k + 1) - start[:, None], 0, size[:, None])
    whole = inside == size[:, None]
    return inside / size[:, None], whole, (inside > 0) & ~whole


def _add(total: NDArray[np.float64] | NDArray[np.int64], query: NDArray[np.int64], rows: NDArray[np.generic]) -> None:
    """Add each row to the total of its query; queries rise."""
    first = np.flatnonzero(np.diff(query, prepend=-1))
    total[query[first]] += np.add.reduceat(rows, first, axis=0)
