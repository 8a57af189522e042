"""How alike two runs rank the same queries: top-k Jaccard and rank-biased overlap. No judgement is looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.run import Run
from tiepoint.errors import InputError
from tiepoint.measures.measure import Column

PERSISTENCE = 0.9
"""With it the first ten ranks carry 86 % of the weight (Webber, Moffat and Zobel 2010, section 5)."""
CELLS = 4_000_000
"""Pairs of hits compared at once."""


def jaccard(one: Run, other: Run, *, k: int) -> Column:
    """Top-k Jaccard: the documents that both first k hits hold, over those that either holds.

    one, other   rankings of the same queries, over the same units
    k            only the first k hits count; 1 <= k <= depth of both
    returns      Column in [0, 1]: 1 for the same documents in any order, 0 where one ranking is empty; undefined where both
                 are. Documents that tie at the cut-off are in or out as ranked
    raises       InputError where k is beyond either depth, or the runs are of different numbers of queries
    source       Jaccard 1901; DESIGN.md, section 5, for the order of ties
    """
    shared = _overlap(one, other, k)[:, -1]
    either = _hits(one, k) + _hits(other, k) - shared
    return Column.of(shared / np.maximum(either, 1), either > 0)


def rank_biased_overlap(one: Run, other: Run, *, k: int, persistence: float = PERSISTENCE) -> Column:
    """Rank-biased overlap of the first k hits, extrapolated beyond their ends; lists may be of different lengths.

    With s and l hits in the shorter and the longer list, X_d documents shared by their first d hits (of the shorter list:
    at most s), and the persistence p:

        (1 - p) / p * (sum over d = 1..l of X_d / d * p^d  +  sum over d = s+1..l of X_s (d - s) / (s d) * p^d)
        + ((X_l - X_s) / l + X_s / s) * p^l

    one, other    rankings of the same queries, over the same units
    k             only the first k hits count; 1 <= k <= depth of both
    persistence   0 < p < 1: the chance of looking one rank further
    returns       Column in [0, 1]: 1 for equal rankings, 0 for rankings that share nothing or where one is empty; undefined
                  where both are. Tied documents stand in the one order of DESIGN.md (ascending id on both sides), and not
                  at one rank together as in the paper's section 4.4: two rankings that tie alike count as ranking alike
    raises        InputError where k is beyond either depth, or the runs are of different numbers of queries
    source        Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings, ACM TOIS 28(4), equation 32
    """
    if not 0 < persistence < 1:
        raise InputError(f"the persistence of rank-biased overlap cannot be {persistence}", fix="0 < persistence < 1")
    overlap = _overlap(one, other, k).astype(np.float64)
    lengths = np.stack([_hits(one, k), _hits(other, k)])
    short, long = lengths.min(axis=0), lengths.max(axis=0)
    depth = np.arange(1, k + 1)
    # X_s and X_l: nothing is shared by the first 0 hits.
    padded = np.concatenate([np.zeros((len(overlap), 1)), overlap], axis=1)
    at_short = np.take_along_axis(padded, short[:, None], axis=1)
    at_long = np.take_along_axis(padded, long[:, None], axis=1)
    some = np.maximum(short, 1)[:, None]
    beyond = np.maximum(depth - short[:, None], 0)
    agreement = (overlap + at_short * beyond / some) / depth
    weight = np.where(depth <= long[:, None], (1 - persistence) / persistence * persistence**depth, 0.0)
    tail = ((at_long - at_short) / np.maximum(long, 1)[:, None] + at_short / some)[:, 0]
    found = (agreement * weight).sum(axis=1) + tail * persistence**long
    return Column.of(np.clip(found, 0.0, 1.0), long > 0)


def entered(one: Run, other: Run, *, k: int) -> NDArray[np.bool_]:
    """(queries, k) True where a hit of the other run's first k does not stand in the first k of this one."""
    _same_queries(one, other, k)
    return _absent(other.document[:, :k], one.document[:, :k])


def _absent(documents: NDArray[np.int32], among: NDArray[np.int32]) -> NDArray[np.bool_]:
    result = np.zeros(documents.shape, dtype=bool)
    for rows in _blocks(len(documents), documents.shape[1]):
        found = (documents[rows][:, :, None] == among[rows][:, None, :]).any(axis=2)
        result[rows] = (documents[rows] >= 0) & ~found
    return result


def _overlap(one: Run, other: Run, k: int) -> NDArray[np.int64]:
    """(queries, k) X_d: documents that the first d hits of both hold."""
    _same_queries(one, other, k)
    place = np.maximum(np.arange(k)[:, None], np.arange(k)[None, :])
    counts = np.zeros((len(one), k), dtype=np.int64)
    for rows in _blocks(len(one), k):
        mine, theirs = one.document[rows, :k], other.document[rows, :k]
        query, i, j = np.nonzero((mine[:, :, None] == theirs[:, None, :]) & (mine >= 0)[:, :, None])
        # A document counts from the depth at which both lists have shown it.
        np.add.at(counts[rows], (query, place[i, j]), 1)
    return counts.cumsum(axis=1)


def _hits(run: Run, k: int) -> NDArray[np.int64]:
    hits: NDArray[np.int64] = (run.document[:, :k] >= 0).sum(axis=1)
    return hits


def _blocks(queries: int, k: int) -> list[slice]:
    step = max(1, CELLS // (k * k))
    return [slice(start, start + step) for start in range(0, queries, step)]


def _same_queries(one: Run, other: Run, k: int) -> None:
    if len(one) != len(other):
        raise InputError(f"runs of {len(one):,} and of {len(other):,} queries have no agreement")
    if not 1 <= k <= min(one.depth, other.depth):
        raise InputError(f"agreement of the first {k} hits needs rankings of that depth", fix="search deeper")
