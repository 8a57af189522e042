"""A run beside its judgements, in columns: the one input of every measure, and the one place that refuses a bad one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.qrels import GRADES, Qrels
from tiepoint.core.run import Run
from tiepoint.errors import InputError, some

UNJUDGED = -1
NO_HIT = -2
CELLS = 4_000_000
"""Of the table in which grades are looked up: small enough for a processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """What an error calls the queries and the documents of a run, by position."""

    queries: Sequence[str]
    documents: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class GradedRun:
    """The grades of each ranking's hits, best first, and the relevant documents that count for each query.

    grade      (queries, depth) int8 in 0..3, UNJUDGED, or NO_HIT after the last hit
    relevant   (queries, 4) int64: how many judged documents of each grade 0..3 count (R of docs/measures.md)
    top        the highest grade of all documents that count, at least 1: what an unjudged hit can be at most
    """

    grade: NDArray[np.int8]
    relevant: NDArray[np.int64]
    top: int

    @classmethod
    def of(cls, run: Run, qrels: Qrels, counted: NDArray[np.bool_], names: Names | None = None) -> GradedRun:
        """Look up every hit's grade.

        counted   (judgements,) True where the judged document counts for its query: eligible, or absent from the corpus where
                  the query has no filter
        names     None: errors name positions
        raises    InputError naming each query and document of a ranking that repeats one, or the documents with a bad grade
        """
        _refuse_repeats(run, names)
        _refuse_grades(qrels)
        queries = np.arange(len(run))
        relevant = _per_query(len(run), qrels, counted)
        return cls(grades_of(qrels, queries, run.document), relevant, _top(relevant))

    def counting(self, qrels: Qrels, counted: NDArray[np.bool_]) -> GradedRun:
        """The same hits over other relevant documents: what a filter removed left in, say."""
        relevant = _per_query(len(self), qrels, counted)
        return GradedRun(self.grade, relevant, _top(relevant))

    def take(self, queries: NDArray[np.int64], depth: int | None = None) -> GradedRun:
        """The same for some of the queries, to this depth; None: as deep as it is."""
        return replace(self, grade=self.grade[queries, :depth], relevant=self.relevant[queries])

    def ordered(self, other: GradedRun) -> GradedRun:
        """The same documents that count, the hits as another ranks them."""
        return replace(self, grade=other.grade)

    def __len__(self) -> int:
        return len(self.grade)

    @property
    def depth(self) -> int:
        """How many hits a ranking holds at most."""
        return int(self.grade.shape[1])

    def count(self, rel: int) -> NDArray[np.int64]:
        """(queries,) |R|: counted documents of grade rel or better."""
        counts: NDArray[np.int64] = self.relevant[:, rel:].sum(axis=1)
        return counts

    def unjudged(self, k: int) -> NDArray[np.bool_]:
        """(queries, k) True where one of the first k hits carries no judgement."""
        mask: NDArray[np.bool_] = self.grade[:, :k] == UNJUDGED
        return mask

    def unjudged_as_best(self, k: int) -> GradedRun:
        """As if every unjudged one of the first k hits had the highest grade of these judgements, and counted."""
        unjudged = self.unjudged(k)
        grade = self.grade.copy()
        grade[:, :k][unjudged] = self.top
        return replace(self, grade=grade, relevant=self.relevant + self._of_top(unjudged.sum(axis=1)))

    def missing(self, more: NDArray[np.int64]) -> GradedRun:
        """As if so many documents that are not ranked (of each query: (queries,) int64) had the highest grade, and counted."""
        return replace(self, relevant=self.relevant + self._of_top(more))

    def _of_top(self, more: NDArray[np.int64]) -> NDArray[np.int64]:
        added = np.zeros_like(self.relevant)
        added[:, self.top] = more
        return added


def grades_of(qrels: Qrels, queries: NDArray[np.int64], documents: NDArray[np.int32]) -> NDArray[np.int8]:
    """The grade of each (query, document) pair; UNJUDGED without a judgement, NO_HIT where document is -1.

    queries     (rows,) int64 positions, rising
    documents   (rows, ...) int32 positions
    """
    result = np.full(documents.shape, NO_HIT, dtype=np.int8)
    width = 1 + int(max(qrels.document.max(initial=0), documents.max(initial=0)))
    step = max(1, CELLS // width)
    judged_query, asked = qrels.query, queries.reshape(-1, *[1] * (documents.ndim - 1))
    # The judgements of a few queries at a time are laid out over all documents, looked up, and taken away again.
    table = np.full(step * width, UNJUDGED, dtype=np.int8)
    for first in range(0, len(qrels.start) - 1, step):
        rows = slice(*np.searchsorted(queries, [first, first + step]))
        if rows.start == rows.stop:
            continue
        judged = slice(qrels.start[first], qrels.start[min(first + step, len(qrels.start) - 1)])
        present = qrels.document[judged] >= 0
        cell = ((judged_query[judged] - first) * width + qrels.document[judged])[present]
        table[cell] = qrels.grade[judged][present]
        result[rows] = table[(asked[rows] - first) * width + documents[rows]]
        table[cell] = UNJUDGED
    result[documents < 0] = NO_HIT
    return result


def _per_query(queries: int, qrels: Qrels, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(queries, 4) int64: how many of the counted judgements each query has of each grade."""
    cell = qrels.query[counted] * len(GRADES) + qrels.grade[counted]
    return np.bincount(cell, minlength=queries * len(GRADES)).reshape(queries, len(GRADES)).astype(np.int64)


def _top(relevant: NDArray[np.int64]) -> int:
    held = np.flatnonzero(relevant.sum(axis=0))
    return max(int(held[-1]) if len(held) else 1, 1)


def _refuse_repeats(run: Run, names: Names | None) -> None:
    ordered = np.sort(run.document, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if repeated.any():
        query, place = np.nonzero(repeated)
        pairs = dict.fromkeys(zip(query.tolist(), ordered[query, place].tolist(), strict=True))
        raise InputError(
            f"{int(repeated.any(axis=1).sum()):,} rankings hold a document twice",
            where=some(
                f"query {names.queries[q]}, document {names.documents[d]}"
                if names
                else f"query at position {q}, document at position {d}"
                for q, d in pairs
            ),
            fix="a document may be ranked once; passages collapse to their parent before the cut",
        )


def _refuse_grades(qrels: Qrels) -> None:
    whole = qrels.grade.dtype.kind in "iu"
    bad = (qrels.grade < min(GRADES)) | (qrels.grade > max(GRADES)) if whole else ~np.isin(qrels.grade, GRADES)
    if not whole or bad.any():
        raise InputError(
            f"{int(bad.sum()):,} grades are not 0, 1, 2 or 3" if bad.any() else "grades are not whole numbers",
            where=f"documents {some(qrels.document_id[i] for i in np.flatnonzero(bad))}" if bad.any() else "",
            fix="another scale only through an explicit map",
        )
