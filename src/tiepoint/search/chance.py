"""The random baseline: what a ranking is worth that knows nothing."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.queries import Queries
from tiepoint.core.run import Run
from tiepoint.search.eligibility import Eligibility, Part
from tiepoint.search.rank import rank

DEFINITION = "eligible documents in an order drawn from the study's seed and the query's id"


def search_randomly(queries: Queries, eligibility: Eligibility, *, seed: int, depth: int) -> Run:
    """A seeded random order of each query's eligible documents, without ties."""

    def scorer(part: Part) -> NDArray[np.float64]:
        orders = [_draw(f"{seed}:{queries.ids[q]}").permutation(len(part.rows)) for q in part.queries]
        return np.stack(orders).astype(np.float64)

    return rank(eligibility, scorer, depth=depth, tolerance=0.0)


def _draw(name: str) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=int.from_bytes(hashlib.sha256(name.encode()).digest()[:16])))
