"""What the search is compared with: numpy's product alone, and faiss in the ways that a careful user has."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import faiss
import numpy as np

from benchmarks.workload import Filters

BLOCK = 2048


@dataclass
class Timed:
    """Processor seconds for all queries, the ranking of those that were run, and how many these were.

    found   (asked, k) rows of documents; None where the peer ranks nothing
    asked   positions of the queries that were run; fewer than all: the seconds are scaled up
    """

    name: str
    seconds: float
    found: np.ndarray | None
    asked: np.ndarray


def processor_seconds(work: Callable[[], object]) -> tuple[float, object]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def product_alone(documents: np.ndarray, queries: np.ndarray) -> Timed:
    """The float32 matrix product and nothing else."""
    out = np.empty((len(queries), BLOCK), dtype=np.float32)

    def work() -> None:
        for start in range(0, len(documents), BLOCK):
            block = documents[start : start + BLOCK]
            np.matmul(queries, block.T, out=out[:, : len(block)])

    return Timed("numpy GEMM alone", processor_seconds(work)[0], None, np.arange(len(queries)))


class Flat:
    """faiss over one set of unit vectors, one thread, by inner product."""

    def __init__(self, documents: np.ndarray, queries: np.ndarray) -> None:
        faiss.omp_set_num_threads(1)
        self.documents, self.queries = documents, queries
        self.index = faiss.IndexFlatIP(documents.shape[1])
        self.index.add(documents)

    def unfiltered(self, k: int) -> Timed:
        seconds, (_, found) = processor_seconds(lambda: self.index.search(self.queries, k))
        return Timed("faiss flat", seconds, found, np.arange(len(self.queries)))

    def selector(self, filters: Filters, k: int, asked: np.ndarray) -> Timed:
        """An id selector (a bitmap) for each query; making it counts no time. Scaled from a few queries."""
        found, spent = np.empty((len(asked), k), dtype=np.int64), 0.0
        for i, query in enumerate(asked):
            bits = np.packbits(filters.mask(int(query)), bitorder="little")
            chosen = faiss.IDSelectorBitmap(bits)
            options = faiss.SearchParameters(sel=chosen)
            seconds, (_, ids) = processor_seconds(
                lambda query=query, options=options: self.index.search(
                    self.queries[query : query + 1], k, params=options
                )
            )
            found[i], spent = ids[0], spent + seconds
        return Timed("faiss id selector", spent * len(self.queries) / len(asked), found, asked)


def sorted_slices(documents: np.ndarray, queries: np.ndarray, filters: Filters, k: int) -> Timed:
    """faiss over the rows of each region, which were sorted by it beforehand (that counts no time)."""
    faiss.omp_set_num_threads(1)
    order = np.argsort(filters.region_of, kind="stable")
    rows = documents[order]
    start = np.searchsorted(filters.region_of[order], np.arange(filters.region_of.max() + 2))
    found = np.full((len(queries), k), -1, dtype=np.int64)

    def work() -> None:
        for region in np.unique(filters.region):
            mine = np.flatnonzero(filters.region == region)
            part = slice(start[region], start[region + 1])
            _, ids = faiss.knn(queries[mine], rows[part], k, metric=faiss.METRIC_INNER_PRODUCT)
            found[mine] = np.where(ids >= 0, ids + start[region], -1)

    seconds, _ = processor_seconds(work)
    return Timed("faiss on sorted slices", seconds, np.where(found >= 0, order[found], -1), np.arange(len(queries)))
