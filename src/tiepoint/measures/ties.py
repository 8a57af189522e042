"""Ties: which hits share a score, and what the grades of a ranking could be over all orders of tied documents.

A tie group is made from its best hit: the hits below it belong to it as long as their scores lie within the tolerance of the
best one's, and the first that does not begins the next group. So with a tolerance above 0 two neighbours can lie nearer than
the tolerance and still stand in two groups, and no document is moved further than the tolerance. Where a run says which scores
noise alone tells apart, such a group is one with the next when its last hit and the next one's first lie within that: every order
that noise could have made is then an order of tied documents, and what ties without noise ties with it. Documents beyond the
depth that tie with the last hit belong to its group.

With noise the groups are of a cut-off: what stands further below the k-th hit than noise moves it cannot take its place, and
would yet be linked to it over what stands between. `cut_at` cuts a run at k, and TiedRuns holds one TiedRun for each cut-off.

Only queries that hold a tie are looked at; a run without any costs one comparison of neighbouring scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.qrels import GRADES, Qrels
from tiepoint.core.run import Run
from tiepoint.measures.graded import NO_HIT, UNJUDGED, GradedRun, grades_of


def cut_at(run: Run, k: int) -> Run:
    """The run as a search of depth k gives it, where noise ties; without noise, or at its depth and beyond, the run itself.

    Hits beyond k that tie with the k-th, and what ties with the last hit, are kept where they lie within tolerance or noise of
    the k-th: see core.run.Run.noise.
    """
    if not run.noise or k >= run.depth:
        return run
    groups = TieGroups.of(run)
    start = np.tile(np.arange(run.depth), (len(run), 1))
    start[groups.rows] = groups.start
    owner = np.repeat(np.arange(len(run)), np.diff(run.tied_start))
    beyond_score = run.score[owner, -1] if run.tied_score is None else run.tied_score
    reach, kth, head = max(run.tolerance, run.noise), run.score[:, k - 1], start[:, k - 1]
    with np.errstate(invalid="ignore"):
        near = (start[:, k:] == head[:, None]) & (kth[:, None] - run.score[:, k:] <= reach) & (run.document[:, k:] >= 0)
    also = (start[owner, -1] == head[owner]) & (kth[owner] - beyond_score <= reach)
    query, place = np.nonzero(near)
    of = np.concatenate([query, owner[also]])
    order = np.argsort(of, kind="stable")
    return replace(
        run,
        document=run.document[:, :k],
        score=run.score[:, :k],
        tied_start=np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(run)))]).astype(np.int64),
        tied=np.concatenate([run.document[query, k + place], run.tied[also]])[order],
        tied_score=np.concatenate([run.score[query, k + place], beyond_score[also]])[order],
    )


@dataclass(frozen=True, slots=True, eq=False)
class TieGroups:
    """The tie group of every hit, of the queries whose ranking holds a tie: `rows`; all other columns are of these alone.

    queries   how many the run has
    rows      (tied,) int64 positions of the queries that hold a tie
    start     (tied, depth) int64: the place, from 0, of the first hit of each hit's group
    size      (tied, depth) int64: documents in each hit's group, those beyond the depth included
    last      (tied,) int64: the place of the last hit
    """

    queries: int
    rows: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, run: Run) -> TieGroups:
        """From the scores of a run and the tied documents beyond its depth."""
        hits = run.document >= 0
        beyond = np.diff(run.tied_start)
        with np.errstate(invalid="ignore"):
            gap = np.where(hits[:, 1:], run.score[:, :-1] - run.score[:, 1:], np.inf)
        near = gap <= max(run.tolerance, run.noise)
        rows = np.flatnonzero(near.any(axis=1) | (beyond > 0))
        start = _starts(run.score[rows], near[rows], gap[rows] <= run.noise, run.tolerance)
        last = hits[rows].sum(axis=1) - 1
        cell = _cells(start)
        size = np.bincount(cell.ravel(), minlength=cell.size)
        size[cell[np.arange(len(rows)), last]] += beyond[rows]
        return cls(len(run), rows, start, size[cell], last)

    @property
    def place(self) -> NDArray[np.int64]:
        """(tied, depth) int64: how many of its group stand above each hit as ranked."""
        return np.arange(self.start.shape[1]) - self.start

    def pairs_at(self, k: int) -> NDArray[np.int64]:
        """(queries,) int64: pairs of a hit within the first k and a document left out that tie; 0 where none crosses k."""
        pairs = np.zeros(self.queries, dtype=np.int64)
        inside = self.place[:, k - 1] + 1
        pairs[self.rows] = np.where(self.last >= k - 1, inside * (self.size[:, k - 1] - inside), 0)
        return pairs


@dataclass(frozen=True, slots=True, eq=False)
class TiedRun:
    """The graded rankings that hold a tie, with what stands in each tie group.

    graded     of the queries groups.rows, as ranked
    worst      every group in its worst order: the unjudged first, then rising grades
    best       every group in its best order: falling grades, the unjudged last
    beyond     the grades of the tied documents beyond the depth, as run.tied
    at_least   (4, tied, depth) int32: documents of each hit's group that are judged of grade 0 (so: judged at all), 1, 2, 3
               or better
    made       orders that several measures ask for, kept
    """

    graded: GradedRun
    worst: GradedRun
    best: GradedRun
    groups: TieGroups
    beyond: NDArray[np.int8]
    at_least: NDArray[np.int32]
    made: dict[tuple[str, int, int], GradedRun] = field(default_factory=dict)

    @classmethod
    def of(cls, graded: GradedRun, groups: TieGroups, run: Run, qrels: Qrels) -> TiedRun:
        """Count the grades of every tie group. graded, groups: of this run."""
        rows, cell = groups.rows, _cells(groups.start)
        grade = graded.grade[rows]
        beyond = np.diff(run.tied_start)[rows]
        owner = np.repeat(np.arange(len(rows)), beyond)
        outside = grades_of(qrels, rows[owner], run.tied)  # queries without a tie have nothing beyond their depth
        # The last hit's group takes in what stands beyond the depth.
        outer = cell[np.arange(len(rows)), groups.last][owner]
        every, where = np.concatenate([grade.ravel(), outside]), np.concatenate([cell.ravel(), outer])
        at_least = np.empty((len(GRADES), *cell.shape), dtype=np.int32)
        for least in GRADES:
            at_least[least] = np.bincount(where[every >= least], minlength=cell.size)[cell]
        ranked = graded.take(rows)
        worst, best = (_ordered(ranked, at_least, at) for at in (groups.size - 1 - groups.place, groups.place))
        return cls(ranked, worst, best, groups, outside, at_least)

    def share(self, least: int, k: int) -> NDArray[np.float64]:
        """(tied, k) the chance that a document of this grade or better stands at each place, all orders as likely."""
        return self.at_least[least, :, :k] / self.groups.size[:, :k]

    def above(self, least: int, k: int) -> NDArray[np.int64]:
        """(tied, k) documents of this grade or better in the groups above each hit's: the same in every order."""
        before = np.zeros((len(self.graded), k + 1), dtype=np.int64)
        np.cumsum(self.graded.grade[:, :k] >= least, axis=1, out=before[:, 1:])
        return np.take_along_axis(before, self.groups.start[:, :k], axis=1)

    def none_yet(self, least: int, k: int) -> NDArray[np.float64]:
        """(tied, k) the chance that no document of this grade or better stands at or above each place."""
        left = self.groups.size[:, :k] - self.groups.place[:, :k]
        free = np.maximum(left - self.at_least[least, :, :k], 0) / left
        chance: NDArray[np.float64] = np.cumprod(free, axis=1)
        return chance

    def unjudged_high(self, rel: int, k: int) -> GradedRun:
        """The first k hits of every group in the order that is best where its unjudged documents may be relevant: the relevant
        ones, of grade rel or better (they stand as the highest grade), then the unjudged, then the others (as grade 0).
        """
        if ("high", rel, k) not in self.made:
            order = self._with_unjudged(self.groups.place[:, :k], self.at_least[rel, :, :k])
            self.made["high", rel, k] = order
        return self.made["high", rel, k]

    def unjudged_low(self, rel: int, k: int) -> GradedRun:
        """The first k hits in the order that is worst where unjudged hits may be relevant: those beyond the first k are the
        relevant ones, as far as there are; then, from the k-th hit up, the relevant ones that are left, the unjudged and the
        others.
        """
        if ("low", rel, k) not in self.made:
            start, size = self.groups.start[:, :k], self.groups.size[:, :k]
            inside = np.minimum(start + size, k) - start
            held = np.maximum(self.at_least[rel, :, :k] - (size - inside), 0)
            self.made["low", rel, k] = self._with_unjudged(inside - 1 - self.groups.place[:, :k], held)
        return self.made["low", rel, k]

    @property
    def unjudged(self) -> NDArray[np.int64]:
        """(tied, depth) documents of each hit's group without a judgement."""
        unjudged: NDArray[np.int64] = self.groups.size - self.at_least[0]
        return unjudged

    def _with_unjudged(self, place: NDArray[np.int64], relevant: NDArray[np.integer[Any]]) -> GradedRun:
        k = place.shape[1]
        grade = np.where(place < relevant + self.unjudged[:, :k], np.int8(UNJUDGED), np.int8(0))
        grade[place < relevant] = max(GRADES)
        grade[self.graded.grade[:, :k] == NO_HIT] = NO_HIT
        return replace(self.graded, grade=grade)


@dataclass(frozen=True, slots=True, eq=False)
class TiedRuns:
    """One run's tied rankings at every cut-off: without noise one for all, else one for each, made when it is asked for."""

    graded: GradedRun
    run: Run
    qrels: Qrels
    made: dict[int, tuple[Run, TiedRun]] = field(default_factory=dict)

    def at(self, k: int) -> TiedRun:
        """At least k hits deep."""
        return self._made(k)[1]

    def run_at(self, k: int) -> Run:
        """The run that `at` is of, see cut_at."""
        return self._made(k)[0]

    def _made(self, k: int) -> tuple[Run, TiedRun]:
        depth = k if self.run.noise and k < self.run.depth else self.run.depth
        if depth not in self.made:
            run = cut_at(self.run, depth)
            graded = replace(self.graded, grade=self.graded.grade[:, :depth])
            self.made[depth] = run, TiedRun.of(graded, TieGroups.of(run), run, self.qrels)
        return self.made[depth]


def _ordered(graded: GradedRun, at_least: NDArray[np.int32], place: NDArray[np.int64]) -> GradedRun:
    """Each hit replaced by the one at this place of its group's falling grades."""
    grade = np.full(graded.grade.shape, UNJUDGED, dtype=np.int8)
    for held in at_least:
        grade += held > place
    grade[graded.grade == NO_HIT] = NO_HIT
    return replace(graded, grade=grade)


def _starts(
    score: NDArray[np.float64], near: NDArray[np.bool_], linked: NDArray[np.bool_], tolerance: float
) -> NDArray[np.int64]:
    """The place at which each hit's group begins.

    near     (queries, depth - 1) the hit may tie with the one above it
    linked   (queries, depth - 1) it does, since noise alone tells them apart
    """
    queries, depth = score.shape
    begins = np.ones((queries, depth), dtype=bool)
    if tolerance == 0:
        begins[:, 1:] = ~near
    else:
        head = score[:, 0].copy()
        for place in range(1, depth):
            with np.errstate(invalid="ignore"):
                apart = ~near[:, place - 1] | (head - score[:, place] > tolerance)
            begins[:, place] = apart & ~linked[:, place - 1]
            head = np.where(apart, score[:, place], head)
    start: NDArray[np.int64] = np.maximum.accumulate(np.where(begins, np.arange(depth), 0), axis=1)
    return start


def _cells(start: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each group of all rankings."""
    cells: NDArray[np.int64] = np.arange(len(start))[:, None] * start.shape[1] + start
    return cells
