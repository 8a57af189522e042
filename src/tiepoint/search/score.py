"""The one function that makes every vector score: a float64 sum in one fixed order.

Eight lanes, then a fixed tree, no fused multiply-add, never BLAS, whose last bits change with the shape of the product
and so make or break ties. Two rows with equal bytes get equal scores wherever they stand (KERNEL.md, "Score").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Metric

LANES = 8
BLOCK = 2048
"""Rows scored at once: a block and its eight lanes stay in the processor's cache. It changes no bit of the result."""


def score(queries: NDArray[np.floating], rows: NDArray[np.floating], metric: Metric) -> NDArray[np.float64]:
    """Scores of every query against every row; higher is better.

    queries   (queries, dimension), and
    rows      (rows, dimension): finite float16, float32 or float64
    metric    cosine: dot / (|q| |d|), so no vector may be zero; dot; euclidean: minus the distance
    returns   (queries, rows) float64, the same for any block size, any order of rows, any number of threads
    source    DESIGN.md, section 5, "Score"
    """
    asked = _padded(queries)
    result = np.empty((len(queries), len(rows)), dtype=np.float64)
    query_norms = np.sqrt(_self_products(asked.T))
    for start in range(0, len(rows), BLOCK):
        block = np.ascontiguousarray(_padded(rows[start : start + BLOCK]).T)
        part = result[:, start : start + BLOCK]
        if metric == "euclidean":
            for i, query in enumerate(asked):
                part[i] = -np.sqrt(_tree(_squares(query, block)))
            continue
        for i, query in enumerate(asked):
            part[i] = _tree(_lanes(query, block))
        if metric == "cosine":
            part /= query_norms[:, None] * np.sqrt(_self_products(block))[None, :]
    return result


def _padded(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """float64 with zeros up to a multiple of eight columns; a zero product leaves a sum as it is."""
    short = -vectors.shape[1] % LANES
    return np.pad(np.asarray(vectors, dtype=np.float64), ((0, 0), (0, short)))


def _lanes(query: NDArray[np.float64], block: NDArray[np.float64]) -> NDArray[np.float64]:
    """(8, rows) partial sums of products; lane l holds the columns l, l + 8, l + 16, ... in that order."""
    lanes = np.zeros((LANES, block.shape[1]))
    product = np.empty_like(lanes)
    for j in range(0, len(query), LANES):
        np.multiply(block[j : j + LANES], query[j : j + LANES, None], out=product)
        lanes += product
    return lanes


def _squares(query: NDArray[np.float64], block: NDArray[np.float64]) -> NDArray[np.float64]:
    """(8, rows) partial sums of squared differences, in the same lanes."""
    lanes = np.zeros((LANES, block.shape[1]))
    difference = np.empty_like(lanes)
    for j in range(0, len(query), LANES):
        np.subtract(block[j : j + LANES], query[j : j + LANES, None], out=difference)
        np.multiply(difference, difference, out=difference)
        lanes += difference
    return lanes


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
