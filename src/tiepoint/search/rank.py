"""Scores to rankings: the only code in tiepoint that orders hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.run import Proof, Run
from tiepoint.search.eligibility import Eligibility, Part

Scorer: TypeAlias = Callable[[Part], NDArray[np.float64]]
"""Scores of a part's queries against its rows: (queries, rows) float64; -inf where a document cannot be found."""
CELLS = 4_000_000
"""Scores held at once: a part with more of them is taken some queries at a time."""


def tie_groups(scores: NDArray[np.float64], tolerance: float, noise: float = 0.0) -> NDArray[np.int64]:
    """The tie group of each hit of one ranking, from 0; a hit belongs to a group when it lies within tolerance of its head.
    Groups whose last and first hit lie within noise of each other are one: the heads are those of the tolerance alone.

    scores   (hits,) float64, descending
    """
    if tolerance == 0:
        apart = scores[1:] != scores[:-1]
        if noise:
            apart &= ~(scores[:-1] - scores[1:] <= noise)
        return np.concatenate([[0], np.cumsum(apart)]).astype(np.int64)[: len(scores)]
    groups = np.zeros(len(scores), dtype=np.int64)
    head = 0
    for i in range(1, len(scores)):
        if scores[head] - scores[i] > tolerance:
            head = i
        groups[i] = groups[i - 1] + (head == i and scores[i - 1] - scores[i] > noise)
    return groups


def rank(
    eligibility: Eligibility, scorer: Scorer, *, depth: int, tolerance: float, failed: Mapping[int, str] | None = None
) -> Run:
    """Rank each query's eligible documents: by score descending, then by id ascending, the first depth.

    Where parents are declared, hits collapse to their parent by best score before the cut.

    eligibility   which documents each query may be answered with, applied before anything is scored
    scorer        called with the queries of a part and their eligible rows, and with nothing else
    depth         hits kept for a query, at least 1
    tolerance     scores within it count as tied; the documents beyond depth that tie with the last hit are kept apart
    failed        queries that cannot be searched, with the reason; they get no hits
    """
    reasons = dict(failed or {})
    none = np.empty(0, dtype=np.int64)
    query, unit, score = [none], [none], [np.empty(0)]
    for part in eligibility.parts():
        askable = np.array([q for q in part.queries if int(q) not in reasons], dtype=np.int64)
        if len(part.rows) == 0 or len(askable) == 0:
            continue
        step = max(1, CELLS // len(part.rows))
        for start in range(0, len(askable), step):
            some = replace(part, queries=askable[start : start + step])
            for asking, scores in zip(
                some.queries, np.maximum.reduceat(scorer(some), part.starts, axis=1), strict=True
            ):
                near = _near(scores, depth, tolerance)
                query.append(np.full(len(near), asking))
                unit.append(part.units[near])
                score.append(scores[near])
    return assemble(
        np.concatenate(query),
        np.concatenate(unit),
        np.concatenate(score),
        eligible=eligibility.eligible,
        depth=depth,
        tolerance=tolerance,
        failed=reasons,
    )


def assemble(
    query: NDArray[np.int64],
    unit: NDArray[np.int64],
    score: NDArray[np.float64],
    *,
    eligible: NDArray[np.int64],
    depth: int,
    tolerance: float,
    noise: float = 0.0,
    failed: dict[int, str],
    repeated: bool = False,
    proof: Proof | None = None,
) -> Run:
    """Rankings from pairs: for each query all that could be among its first depth or tie with the last of them.

    query, unit, score   (pairs,) each; a score that is -inf or not a number cannot be found
    eligible             (queries,) for the Run, as are tolerance, noise, failed and proof
    repeated             whether a unit may stand more than once for a query; it has its best score
    """
    found = score > -np.inf
    order = np.lexsort((unit[found], -score[found], query[found]))
    query, unit, score = query[found][order], unit[found][order], score[found][order]
    if repeated:
        first = np.lexsort((np.arange(len(query)), unit, query))
        again = np.zeros(len(query), dtype=bool)
        again[first[1:]] = (query[first[1:]] == query[first[:-1]]) & (unit[first[1:]] == unit[first[:-1]])
        query, unit, score = query[~again], unit[~again], score[~again]
    queries = len(eligible)
    start = np.searchsorted(query, np.arange(queries + 1))
    place = np.arange(len(query)) - start[query]
    document = np.full((queries, depth), -1, dtype=np.int32)
    scores = np.full((queries, depth), -np.inf)
    top = place < depth
    document[query[top], place[top]] = unit[top]
    scores[query[top], place[top]] = score[top]
    tied = np.zeros(len(query), dtype=bool)
    for q in np.unique(query[~top]):
        mine = slice(start[q], start[q + 1])
        own = score[mine]
        groups = tie_groups(own, tolerance, noise)
        tied[mine] = (groups == groups[depth - 1]) & ~top[mine]
        if noise:  # what lies further below the last hit cannot take its place, and is here or not as its bounds were
            tied[mine] &= own[depth - 1] - own <= max(tolerance, noise)
    return Run(
        document=document,
        score=scores,
        eligible=eligible,
        tied_start=np.concatenate([[0], np.cumsum(np.bincount(query[tied], minlength=queries))]).astype(np.int64),
        tied=unit[tied].astype(np.int32),
        tolerance=tolerance,
        failed=failed,
        proof=proof,
        noise=noise,
        tied_score=score[tied],
    )


def without_noise(run: Run) -> Run:
    """The same rankings, tied by tolerance alone: what a search without noise gives, to the bit."""
    if not run.noise or run.tied_score is None:
        return replace(run, noise=0.0)
    kept = np.zeros(len(run.tied), dtype=bool)
    for q in np.flatnonzero(np.diff(run.tied_start)):
        mine = slice(run.tied_start[q], run.tied_start[q + 1])
        groups = tie_groups(np.concatenate([run.score[q], run.tied_score[mine]]), run.tolerance)
        kept[mine] = groups[run.depth :] == groups[run.depth - 1]
    start = np.concatenate([[0], np.cumsum(kept)])[run.tied_start].astype(np.int64)
    return replace(run, tied_start=start, tied=run.tied[kept], tied_score=run.tied_score[kept], noise=0.0)


def _near(scores: NDArray[np.float64], depth: int, tolerance: float) -> NDArray[np.int64]:
    """Positions of the scores that are among the depth best, or within tolerance of the last of them."""
    near = np.flatnonzero(scores > -np.inf)
    if len(near) > depth:
        kth = np.partition(scores[near], len(near) - depth)[len(near) - depth]
        near = near[scores[near] >= kth - tolerance]
    return near
