"""Jaccard@k: how many of the first k documents two rankings share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.run import Run
from tiepoint.measures.agreement import AgreementKind
from tiepoint.measures.measure import Column, TieRange
from tiepoint.measures.overlap import Overlap


def jaccard(one: Run, other: Run, k: int) -> TieRange:
    """Top-k Jaccard: the documents that both first k hits hold, over those that either holds.

    one, other   rankings of the same queries, over the same units
    k            only the first k hits count; 1 <= k <= depth of both
    returns      Columns in [0, 1]: 1 for the same documents in any order, 0 where one ranking is empty; undefined where both
                 are. expected is the mean over all orders of tied documents, those beyond the depth included
    raises       InputError where k is beyond either depth, or the runs are of different numbers of queries
    source       Jaccard 1901; the chances of tied documents: hypergeometric, as of McSherry & Najork 2008
    """
    overlap = Overlap.of(one, other, k)
    hits = overlap.hits + overlap.other_hits
    smallest, largest = (
        shared / np.maximum(hits - shared, 1) for shared in (overlap.smallest[:, -1], overlap.largest[:, -1])
    )
    expected = largest.copy()
    open_rows = np.flatnonzero(overlap.smallest[:, -1] < overlap.largest[:, -1])
    expected[open_rows] = _means(overlap, hits, open_rows)
    return TieRange(*(Column.of(values, hits > 0) for values in (smallest, expected, largest)))


def _means(overlap: Overlap, hits: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """(rows,) the mean over all orders. Queries that are cut alike have the same."""
    alike = np.column_stack([hits, *overlap.cut.columns])[rows]
    _, first, which = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    found = np.empty(len(first))
    for place, row in enumerate(rows[first]):
        chance = overlap.cut.chances(row)
        shared = np.arange(len(chance))
        found[place] = (chance * (shared / np.maximum(hits[row] - shared, 1))).sum()
    return found[which.reshape(-1)]


AGREEMENT = AgreementKind(
    name="Jaccard",
    compute=jaccard,
    definition="documents that the first k hits of both rankings hold, over those that either holds; 0 where one is empty; tied "
    "documents: the mean over all orders of both rankings, so that one which ties at the cut does not fully agree with itself; "
    "mean over queries, judged or not",
    range="0 to 1; undefined where both rankings are empty",
    ties="hypergeometric: the chances of how many documents of the tie groups at the cut both hold",
    source="Jaccard 1901",
)
