"""Who may read a row, asked of pairs: the groups of an acl in columns, and the lowest group that both sides share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.corpus import Units
from tiepoint.filters.columns import Columns
from tiepoint.filters.readable import ReadableBy

CONTAINERS = 64
NONE = np.iinfo(np.int32).max
"""The lowest common group of a pair that shares none."""


@dataclass(frozen=True, slots=True, eq=False)
class Readers:
    """The groups that principals ask with, largest first: a group's number is its rank.

    size        (groups,) int64 rows that each group may read
    start       (documents + 1,) int64: document d admits the groups of[start[d] : start[d + 1]], ascending
    of          int32
    asking      (principals, groups / 8) uint8: a bit for each group, set where the principal has it
    has         the groups of each principal, ascending
    rows_of     the rows of each group, ascending
    units       what rankings hold
    passages    (documents,) rows ordered by their unit, and
    unit_start  (units + 1,) where each unit's stand there; both empty where every document is its own unit
    """

    size: NDArray[np.int64]
    start: NDArray[np.int64]
    of: NDArray[np.int32]
    asking: NDArray[np.uint8]
    has: tuple[NDArray[np.int64], ...]
    rows_of: tuple[NDArray[np.int64], ...]
    units: Units
    passages: NDArray[np.int64]
    unit_start: NDArray[np.int64]

    @classmethod
    def of_principals(cls, columns: Columns, principals: Sequence[ReadableBy]) -> Readers:
        """Only groups that some principal has, and that some document admits."""
        postings, units = columns.postings("acl"), columns.corpus.units
        asked = {name for p in principals for name in p.groups if name in postings.number}
        rows = {name: postings.rows(name) for name in asked}
        ranked = sorted(rows, key=lambda name: (-len(rows[name]), name))
        number = {name: i for i, name in enumerate(ranked)}
        rows_of = tuple(rows[name] for name in ranked)
        size = np.array([len(r) for r in rows_of], dtype=np.int64)
        row = np.concatenate([np.empty(0, dtype=np.int64), *rows_of])
        # Stable: a document's groups stay in ascending rank.
        order = np.argsort(row, kind="stable")
        of = np.repeat(np.arange(len(ranked), dtype=np.int32), size)[order]
        start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(columns.corpus)))]).astype(np.int64)
        has = tuple(
            np.array(sorted(number[name] for name in p.groups if name in number), dtype=np.int64) for p in principals
        )
        asking = np.zeros((len(principals), (len(ranked) + 7) // 8), dtype=np.uint8)
        for i, groups in enumerate(has):
            np.bitwise_or.at(asking[i], groups >> 3, (128 >> (groups & 7)).astype(np.uint8))
        passages = np.empty(0, dtype=np.int64) if units.plain else np.argsort(units.of_row, kind="stable")
        unit_start = np.searchsorted(units.of_row[passages], np.arange(len(units.ids) + 1)).astype(np.int64)
        return cls(size, start, of, asking, has, rows_of, units, passages, unit_start)

    def lowest(self, principal: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.int32]:
        """(pairs,) the lowest group that the principal and the row's acl share; NONE where the row may not be read."""
        first, many = self.start[row], self.start[row + 1] - self.start[row]
        flat, starts = expanded(first, many)
        group = self.of[flat]
        bits = self.asking[np.repeat(principal, many), group >> 3]
        shared = np.where(bits & (128 >> (group & 7)), group, NONE).astype(np.int32)
        found = np.full(len(row), NONE, dtype=np.int32)
        some = many > 0
        if some.any():
            found[some] = np.minimum.reduceat(shared, starts[some])
        return found

    def read_by_any(self, principals: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(rows,) True where any of the principals may read the row."""
        asked = np.zeros(len(self.size), dtype=bool)
        for principal in np.unique(principals):
            asked[self.has[principal]] = True
        many = self.start[row + 1] - self.start[row]
        flat, starts = expanded(self.start[row], many)
        result = np.zeros(len(row), dtype=bool)
        some = many > 0
        if some.any():
            result[some] = np.logical_or.reduceat(asked[self.of[flat]], starts[some])
        return result

    def opens(self, principal: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(pairs,) True where the principal may open the row's unit (Corpus.units_readable); the row itself is not asked."""
        if self.units.plain:
            return np.ones(len(row), dtype=bool)
        unit = self.units.of_row[row]
        own = self.units.own[unit]
        result = np.ones(len(row), dtype=bool)
        guarded = own >= 0
        result[guarded] = self.lowest(principal[guarded], own[guarded]) != NONE
        free = np.flatnonzero(~guarded)
        if len(free):
            first = self.unit_start[unit[free]]
            many = self.unit_start[unit[free] + 1] - first
            flat, starts = expanded(first, many)
            may = self.lowest(np.repeat(principal[free], many), self.passages[flat]) != NONE
            result[free] = np.logical_and.reduceat(may, starts)
        return result

    def needed(self) -> tuple[NDArray[np.int64], ...]:
        """The groups of each principal that can be lowest for some row: not one that another of theirs contains.

        Only the first CONTAINERS groups are looked at as containers.
        """
        most = min(len(self.size), CONTAINERS)
        inside = np.zeros((len(self.size), most), dtype=bool)
        many = np.diff(self.start)
        for group, rows in enumerate(self.rows_of):
            flat, _ = expanded(self.start[rows], many[rows])
            inside[group] = np.bincount(self.of[flat], minlength=most)[:most] == self.size[group]
            inside[group, group:] = False
        return tuple(groups[~inside[np.ix_(groups, groups[groups < most])].any(axis=1)] for groups in self.has)


def expanded(first: NDArray[np.int64], many: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions first[i], first[i] + 1, ... of every run one after the other, and where each run begins among them."""
    starts = np.cumsum(many) - many
    return np.arange(int(many.sum())) + np.repeat(first - starts, many), starts
