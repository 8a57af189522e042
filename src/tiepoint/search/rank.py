"""Scores to rankings: the only code in tiepoint that orders hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.run import Run
from tiepoint.search.eligibility import Eligibility, Part

Scorer: TypeAlias = Callable[[Part], NDArray[np.float64]]
"""Scores of a part's queries against its rows: (queries, rows) float64; -inf where a document cannot be found."""
CELLS = 4_000_000
"""Scores held at once: a part with more of them is taken some queries at a time."""


def tie_groups(scores: NDArray[np.float64], tolerance: float) -> NDArray[np.int64]:
    """The tie group of each hit of one ranking, from 0; a hit belongs to a group when it lies within tolerance of its head.

    scores   (hits,) float64, descending
    """
    if tolerance == 0:
        return np.concatenate([[0], np.cumsum(scores[1:] != scores[:-1])]).astype(np.int64)[: len(scores)]
    groups = np.zeros(len(scores), dtype=np.int64)
    head = 0
    for i in range(1, len(scores)):
        if scores[head] - scores[i] > tolerance:
            head = i
        groups[i] = groups[i - 1] + (head == i)
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
    queries = len(eligibility.group)
    document = np.full((queries, depth), -1, dtype=np.int32)
    scores = np.full((queries, depth), -np.inf)
    eligible = np.zeros(queries, dtype=np.int64)
    tied: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)] * queries
    for part in eligibility.parts():
        eligible[part.queries] = len(part.units)
        askable = np.array([q for q in part.queries if int(q) not in reasons], dtype=np.int64)
        if len(part.rows) == 0 or len(askable) == 0:
            continue
        step = max(1, CELLS // len(part.rows))
        for start in range(0, len(askable), step):
            some = replace(part, queries=askable[start : start + step])
            found = np.maximum.reduceat(scorer(some), part.starts, axis=1)
            for query, unit_scores in zip(some.queries, found, strict=True):
                order = _best(unit_scores, depth, tolerance)
                top = order[:depth]
                document[query, : len(top)] = part.units[top]
                scores[query, : len(top)] = unit_scores[top]
                tied[query] = part.units[order[depth:]].astype(np.int32)
    return Run(
        document=document,
        score=scores,
        eligible=eligible,
        tied_start=np.concatenate([[0], np.cumsum([len(t) for t in tied])]).astype(np.int64),
        tied=np.concatenate([np.empty(0, dtype=np.int32), *tied]),
        tolerance=tolerance,
        failed=reasons,
    )


def _best(scores: NDArray[np.float64], depth: int, tolerance: float) -> NDArray[np.int64]:
    """Positions of the best scores in order, followed by those beyond depth that tie with the last of them."""
    near = np.flatnonzero(scores > -np.inf)
    if len(near) > depth:
        kth = np.partition(scores[near], len(near) - depth)[len(near) - depth]
        near = near[scores[near] >= kth - tolerance]
    # Units stand in ascending id, so a stable sort by score alone leaves equal scores in ascending id.
    order = near[np.argsort(-scores[near], kind="stable")]
    if len(order) <= depth:
        return order
    groups = tie_groups(scores[order], tolerance)
    kept: NDArray[np.int64] = order[(np.arange(len(order)) < depth) | (groups == groups[depth - 1])]
    return kept
