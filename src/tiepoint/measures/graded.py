"""A run beside its judgements, in columns: the one input of every measure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.qrels import GRADES, Qrels
from tiepoint.core.run import Run
from tiepoint.errors import InputError, some
from tiepoint.search.rank import tie_groups

UNJUDGED = -1
NO_HIT = -2


@dataclass(frozen=True, slots=True, eq=False)
class GradedRun:
    """The grades of each ranking's hits, best first, and the relevant documents that count for each query.

    grade      (queries, depth) int8 in 0..3, UNJUDGED, or NO_HIT after the last hit
    relevant   (queries, 4) int64: how many judged documents of each grade 0..3 count (R of DESIGN.md, section 5)
    """

    grade: NDArray[np.int8]
    relevant: NDArray[np.int64]

    @classmethod
    def of(cls, run: Run, qrels: Qrels, counted: NDArray[np.bool_]) -> GradedRun:
        """Look up every hit's grade.

        counted   (judgements,) True where the judged document counts for its query: eligible, or absent from the corpus
        raises    InputError naming the queries whose ranking repeats a document
        """
        _refuse_repeats(run)
        relevant = np.zeros((len(run), len(GRADES)), dtype=np.int64)
        np.add.at(relevant, (qrels.query[counted], qrels.grade[counted].astype(np.int64)), 1)
        queries = np.broadcast_to(np.arange(len(run))[:, None], run.document.shape)
        return cls(_grades(qrels, queries, run.document), relevant)

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

    def tie_extremes(self, run: Run, qrels: Qrels) -> tuple[GradedRun, GradedRun]:
        """The worst and the best grades over all orders of tied documents, those beyond the depth included."""
        worst, best = self.grade.copy(), self.grade.copy()
        beyond_grades = _grades(qrels, np.repeat(np.arange(len(run)), np.diff(run.tied_start)), run.tied)
        for i in range(len(run)):
            hits = int((run.document[i] >= 0).sum())
            if hits == 0:
                continue
            beyond = beyond_grades[run.tied_start[i] : run.tied_start[i + 1]]
            groups = tie_groups(run.score[i, :hits], run.tolerance)
            if len(beyond) == 0 and groups[-1] == hits - 1:
                continue
            groups = np.concatenate([groups, np.full(len(beyond), groups[-1])])
            grades = np.concatenate([self.grade[i, :hits], beyond])
            gains = np.maximum(grades, 0)
            worst[i, :hits] = grades[np.lexsort((gains, groups))][:hits]
            best[i, :hits] = grades[np.lexsort((-gains, groups))][:hits]
        return replace(self, grade=worst), replace(self, grade=best)

    def unjudged_as_best(self, cutoff: int, *, first: int | None = None) -> GradedRun:
        """As if the first unjudged hits within the cut-off had the highest grade of these judgements, and counted.

        first   how many of each ranking; None: all of them
        """
        within = np.arange(self.depth) < cutoff
        unjudged = (self.grade == UNJUDGED) & within
        if first is not None:
            unjudged &= unjudged.cumsum(axis=1) <= first
        held = np.flatnonzero(self.relevant.sum(axis=0))
        top = max(int(held[-1]) if len(held) else 1, 1)
        relevant = self.relevant.copy()
        relevant[:, top] += unjudged.sum(axis=1)
        return GradedRun(np.where(unjudged, np.int8(top), self.grade), relevant)

    def take(self, queries: NDArray[np.int64]) -> GradedRun:
        """The same columns for some of the queries."""
        return GradedRun(self.grade[queries], self.relevant[queries])


def ties_at(run: Run, cutoff: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which rankings tie across the cut-off, and how many (hit, left out) pairs tie there: (queries,) each."""
    crossing = np.zeros(len(run), dtype=bool)
    pairs = np.zeros(len(run), dtype=np.int64)
    for i in range(len(run)):
        hits = int((run.document[i] >= 0).sum())
        if hits < cutoff:
            continue
        beyond = int(run.tied_start[i + 1] - run.tied_start[i])
        groups = tie_groups(run.score[i, :hits], run.tolerance)
        groups = np.concatenate([groups, np.full(beyond, groups[-1])])
        same = groups == groups[cutoff - 1]
        pairs[i] = int(same[:cutoff].sum()) * int(same[cutoff:].sum())
        crossing[i] = pairs[i] > 0
    return crossing, pairs


def _grades(qrels: Qrels, queries: NDArray[np.int64], documents: NDArray[np.int32]) -> NDArray[np.int8]:
    """The grade of each (query, document) pair; UNJUDGED without a judgement, NO_HIT where document is -1."""
    present = qrels.document >= 0
    width = int(max(qrels.document.max(initial=0), documents.max(initial=0))) + 1
    keys = qrels.query[present] * width + qrels.document[present]
    order = np.argsort(keys, kind="stable")
    keys, grades = keys[order], qrels.grade[present][order]
    wanted = queries * width + documents
    at = np.searchsorted(keys, wanted)
    known = at < len(keys)
    known[known] = keys[at[known]] == wanted[known]
    result = np.full(documents.shape, UNJUDGED, dtype=np.int8)
    result[known] = grades[at[known]]
    result[documents < 0] = NO_HIT
    return result


def _refuse_repeats(run: Run) -> None:
    ordered = np.sort(run.document, axis=1)
    repeated = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    if repeated.any():
        raise InputError(
            f"{int(repeated.sum())} rankings hold a document twice",
            where=f"queries at positions {some(np.flatnonzero(repeated))}",
            fix="a document may be ranked once; passages collapse to their parent before the cut",
        )
