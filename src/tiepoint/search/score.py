"""The one function that makes every vector score: a float64 sum in one fixed order.

Eight lanes, then a fixed tree, no fused multiply-add, never BLAS, whose last bits change with the shape of the product
and so make or break ties. Two rows with equal bytes get equal scores wherever they stand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Metric

LANES = 8
PAIRS, TURNED = 128, 64
"""Pairs scored at once, and vectors of them copied at once; they change no bit either."""
BLOCK = 2048
"""Rows scored at once: a block and its eight lanes stay in the processor's cache. It changes no bit of the result."""


def score(queries: NDArray[np.floating], rows: NDArray[np.floating], metric: Metric) -> NDArray[np.float64]:
    """Scores of every query against every row; higher is better.

    queries   (queries, dimension), and
    rows      (rows, dimension): finite float16, float32 or float64
    metric    cosine: dot / (|q| |d|), so no vector may be zero; dot; euclidean: minus the distance
    returns   (queries, rows) float64, the same for any block size, any order of rows, any number of threads
    """
    asked = _padded(queries)
    result = np.empty((len(queries), len(rows)), dtype=np.float64)
    query_norms = np.sqrt(_self_products(asked.T))
    for start in range(0, len(rows), BLOCK):
        block = np.ascontiguousarray(_padded(rows[start : start + BLOCK]).T)
        part = result[:, start : start + BLOCK]
        for i, query in enumerate(asked):
            part[i] = _sums(query[:, None], block, metric)
        if metric == "cosine":
            part /= query_norms[:, None] * np.sqrt(_self_products(block))[None, :]
    return result


def score_pairs(
    queries: NDArray[np.floating],
    rows: NDArray[np.floating],
    query: NDArray[np.int64],
    row: NDArray[np.int64],
    metric: Metric,
) -> NDArray[np.float64]:
    """Scores of some queries against some rows, pair by pair: the bits that `score` gives the pair.

    queries      (queries, dimension), and
    rows         (rows, dimension): float16, float32 or float64
    query, row   (pairs,) positions in them
    returns      (pairs,) float64
    """
    result = np.empty(len(query))
    asked = _Turned(queries)
    own, terms = _Turned(rows), np.empty_like(asked.values)
    for start in range(0, len(query), PAIRS):
        some = slice(start, start + PAIRS)
        left, right = asked.take(query[some]), own.take(row[some])
        space, out = terms[:, : left.shape[1]], result[some]
        if metric == "euclidean":
            np.subtract(right, left, out=right)
            np.negative(np.sqrt(_products(right, right, space)), out=out)
            continue
        out[:] = _products(left, right, space)
        if metric == "cosine":
            out /= np.sqrt(_products(left, left, space)) * np.sqrt(_products(right, right, space))
    return result


class _Turned:
    """Room for some vectors of an array in float64: (columns / 8, PAIRS, 8), padded with zeros.

    Columns that are added to the lanes together stand together for all vectors.
    """

    def __init__(self, vectors: NDArray[np.floating]) -> None:
        self._vectors = vectors
        self._padded = np.zeros((TURNED, -(-vectors.shape[1] // LANES) * LANES))
        self._piece = np.dtype((np.void, LANES * self._padded.itemsize))
        self.values = np.empty((self._padded.shape[1] // LANES, PAIRS, LANES))

    def take(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """(columns / 8, chosen, 8): these vectors, until the next are taken."""
        # Copied in pieces of eight numbers, which is faster than in numbers, and few vectors at a time, in the cache.
        turned = self.values.view(self._piece)[..., 0]
        for start in range(0, len(chosen), TURNED):
            some = self._vectors[chosen[start : start + TURNED]]
            self._padded[: len(some), : some.shape[1]] = some
            turned[:, start : start + len(some)] = self._padded[: len(some)].view(self._piece).T
        return self.values[:, : len(chosen)]


def _products(left: NDArray[np.float64], right: NDArray[np.float64], terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """(pairs,) each vector's product with the one beside it, in the same lanes and tree; terms: room for the products."""
    np.multiply(left, right, out=terms)
    lanes = np.zeros(left.shape[1:])
    for term in terms:
        lanes += term
    return _tree(lanes.T)


def _padded(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """float64 with zeros up to a multiple of eight columns; a zero product leaves a sum as it is."""
    exact, short = np.asarray(vectors, dtype=np.float64), -vectors.shape[1] % LANES
    return np.pad(exact, ((0, 0), (0, short))) if short else exact


def _sums(asked: NDArray[np.float64], block: NDArray[np.float64], metric: Metric) -> NDArray[np.float64]:
    """(rows,) what the metric sums over the columns: products, or minus the root of the squared differences.

    Lane l holds the columns l, l + 8, l + 16, ... in that order.

    asked     (columns, 1) one query, or (columns, rows) a query for each row
    block     (columns, rows)
    """
    lanes = np.zeros((LANES, block.shape[1]))
    term = np.empty_like(lanes)
    squared = metric == "euclidean"
    for j in range(0, len(block), LANES):
        if squared:
            np.subtract(block[j : j + LANES], asked[j : j + LANES], out=term)
            np.multiply(term, term, out=term)
        else:
            np.multiply(block[j : j + LANES], asked[j : j + LANES], out=term)
        lanes += term
    return -np.sqrt(_tree(lanes)) if squared else _tree(lanes)


def _self_products(block: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rows,) each column's product with itself, in the same lanes and tree."""
    lanes = np.zeros((LANES, block.shape[1]))
    for j in range(0, len(block), LANES):
        lanes += block[j : j + LANES] * block[j : j + LANES]
    return _tree(lanes)


def _tree(lanes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Eight lanes to one sum, in one fixed order."""
    pairs = lanes[0::2] + lanes[1::2]
    fours = pairs[0::2] + pairs[1::2]
    total: NDArray[np.float64] = fours[0] + fours[1]
    return total
