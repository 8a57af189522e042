"""Exact search of a space: every eligible document scored, none approximated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.run import Run
from tiepoint.core.space import Space
from tiepoint.search.eligibility import Eligibility, Part
from tiepoint.search.rank import rank
from tiepoint.search.score import BLOCK, score


def search(space: Space, eligibility: Eligibility, *, depth: int, tolerance: float = 0.0) -> Run:
    """The exact ranking of every query, by the contract's metric.

    space         documents aligned with the eligibility's corpus, queries with its queries
    depth         hits kept for a query
    returns       a Run. A document without a vector stays eligible and is never found; a query without one is a miss
    """
    documents, queries = space.documents, space.queries

    def scorer(part: Part) -> NDArray[np.float64]:
        result = np.full((len(part.queries), len(part.rows)), -np.inf)
        found = np.flatnonzero(documents.row[part.rows] >= 0)
        asked = queries.array[queries.row[part.queries]]
        # Rows are gathered a block at a time, so that mapped vectors never stand in memory as a whole.
        for start in range(0, len(found), BLOCK):
            block = found[start : start + BLOCK]
            vectors = documents.array[documents.row[part.rows[block]]]
            result[:, block] = score(asked, vectors, space.contract.metric)
        return result

    failed = {int(i): "the query has no vector" for i in queries.missing}
    return rank(eligibility, scorer, depth=depth, tolerance=tolerance, failed=failed)
