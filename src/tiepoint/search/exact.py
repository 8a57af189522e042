"""Exact search of a space: the float64 ranking, proven, without scoring every pair in float64."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tiepoint.core.run import Proof, Run
from tiepoint.core.space import Space
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.fast import kernels_for
from tiepoint.search.first_pass import NAME, Float32Pass
from tiepoint.search.kernels import CHUNK
from tiepoint.search.plan import Plan
from tiepoint.search.prepared import Prepared
from tiepoint.search.rank import assemble
from tiepoint.search.sift import Found, Room, Sieve, Watcher

MEMORY_BYTES = 256 * 2**20
MOST_QUERIES = 1024
"""Queries that go through the products together, at most."""


def search(
    space: Space,
    eligibility: Eligibility,
    *,
    depth: int,
    tolerance: float = 0.0,
    noise: float = 0.0,
    threads: int = 1,
    memory_bytes: int = MEMORY_BYTES,
    prepared: Prepared | None = None,
    watch: Watcher | None = None,
) -> Run:
    """The exact ranking of every query, by the contract's metric: the same bits whatever the last four arguments are.

    space         documents aligned with the eligibility's corpus, queries with its queries
    depth         hits kept for a query, at least 1
    tolerance     scores within it count as tied; the documents beyond depth that tie with the last hit are kept apart
    noise         neighbours within it count as tied too, see Run
    threads       how many work at once, each on queries of its own; 0: one for each processor that this process may use
    memory_bytes  what the search holds at most above vectors, masks and its result, all threads together
    prepared      of this space, to share it between searches; None: made anew
    watch         told of every pair that the first pass bounded, with its bounds (for proofs; slow)
    returns       a Run with its proof. A document without a vector stays eligible and is never found; a query without one is
                  a miss
    raises        CannotRun where a score lies outside its proven bounds: the machine's matrix product is broken
    source        search/certificate.py
    """
    documents, queries = space.documents, space.queries
    threads = threads or processors()
    asked = np.flatnonzero(queries.row >= 0)
    plan = Plan.of(eligibility, documents.row, asked, depth=depth)
    kernels = kernels_for(plan.scores, len(asked) * depth * documents.array.shape[1] / 384)
    first = Float32Pass(documents.array, space.contract.metric, prepared or Prepared.of(space))
    room = Room.of(memory_bytes // threads)
    sieve = Sieve(plan, first, kernels, queries, depth, max(tolerance, noise), room, watch)
    found = _sifted(sieve, threads)
    query, row, score = (
        np.concatenate([np.empty(0, kind), *(getattr(f, name) for f in found)])
        for name, kind in (("query", np.int64), ("row", np.int64), ("score", np.float64))
    )
    return assemble(
        query,
        eligibility.corpus.units.of_row[row],
        score,
        eligible=eligibility.eligible,
        depth=depth,
        tolerance=tolerance,
        noise=noise,
        failed={int(i): "the query has no vector" for i in queries.missing},
        repeated=not eligibility.corpus.units.plain,
        proof=Proof(
            first_pass=NAME,
            epsilon=max((f.widest for f in found), default=0.0),
            scored=sum(f.scores for f in found),
            rescored=len(query),
            kernels=kernels.name,
            numba=find_spec("numba") is not None,
            threads=threads,
            memory_bytes=memory_bytes,
            explained=plan.explained,
        ),
    )


def processors() -> int:
    """How many processors this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _sifted(sieve: Sieve, threads: int) -> list[Found]:
    """The plan's queries in ranges, a thread for each; BLAS has one, since pools inside pools lose."""
    order = sieve.plan.order
    # A range needs room for a chunk of keys and the best of each of its queries, and for as many pairs again that are yet to
    # be told from them.
    fitting = max(1, min(MOST_QUERIES, sieve.room.pairs // (2 * sieve.depth), sieve.room.cells // CHUNK))
    ranges = max(-(-len(order) // fitting), min(threads, len(order)))
    parts: list[NDArray[np.int64]] = [part for part in np.array_split(order, max(1, ranges)) if len(part)]
    with threadpool_limits(1, user_api="blas"):
        if threads == 1:
            return [found for part in parts for found in sieve.sift(part)]
        with ThreadPoolExecutor(threads) as workers:
            return [found for founds in workers.map(sieve.sift, parts) for found in founds]
