"""The first pass: one matrix product in float32 for a block of rows, with keys that the certificate bounds.

Another first pass offers the same two things, queries made ready and a block of rows made ready, with a certificate of its
own; nothing else in the search knows how keys are made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Metric
from tiepoint.search.certificate import Certificate
from tiepoint.search.prepared import Prepared, norms_of

NAME = "float32"
SMALL, LARGE = 2.0**-30, 2.0**30
"""Norms between these are multiplied in float32 as they are."""
UNIT = 2.0**-22
"""A norm so near 1 is taken as 1 (certificate.CONVERSION holds the difference)."""
FLOOR = -450
"""The least power of two that a vector is scaled by."""
STRIP = 1024
"""Rows multiplied at once: they stay in the processor's cache."""
FEW = 64
"""Fewer queries are multiplied the other way round, which BLAS does faster, and the product is turned."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Queries made ready.

    array    (queries, dimension) float32, scaled
    norm     (queries,) float64 norms in scaled units: 1 under cosine
    power    (queries,) int64: a query was taken times 2**-power
    wild     (queries,) True where a query cannot be bounded (prepared.Prepared)
    """

    array: NDArray[np.float32]
    norm: NDArray[np.float64]
    power: NDArray[np.int64]
    wild: NDArray[np.bool_]

    @classmethod
    def of(cls, queries: NDArray[np.floating], metric: Metric) -> Asked:
        """queries: (queries, dimension) of any floating type."""
        norm, wild = norms_of(queries, metric)
        exact = np.asarray(queries, dtype=np.float64)
        power = np.zeros(len(queries), dtype=np.int64)
        with np.errstate(all="ignore"):
            if metric == "cosine":
                return cls((exact / norm[:, None]).astype(np.float32), np.ones(len(queries)), power, wild)
            odd = (norm != 0) & ~((norm >= SMALL) & (norm <= LARGE))
            power[odd] = np.maximum(np.frexp(norm[odd])[1], FLOOR)
            scaled = np.ldexp(exact, -power[:, None])
            return cls(scaled.astype(np.float32), np.ldexp(norm, -power), power, wild)

    def take(self, chosen: NDArray[np.int64]) -> Asked:
        """Some of the queries."""
        return Asked(self.array[chosen], self.norm[chosen], self.power[chosen], self.wild[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows to be multiplied.

    vectors  (rows,) int64 positions among the documents
    norm     (rows,) float64 norms in scaled units: 1 under cosine; 0 where wild
    power    a row is taken times 2**-power
    over     (rows,) float64 norms that rows are divided by; None: by none
    wild     (rows,) as in prepared.Prepared
    """

    vectors: NDArray[np.int64]
    norm: NDArray[np.float64]
    power: int
    over: NDArray[np.float64] | None
    wild: NDArray[np.bool_]


class Scratch:
    """What one thread copies rows and products into."""

    def __init__(self, dimension: int) -> None:
        self.rows = np.empty((STRIP, dimension), dtype=np.float32)
        self.product = np.empty(STRIP * FEW, dtype=np.float32)


class Float32Pass:
    """Keys of one space's documents by BLAS.

    documents   (vectors, dimension) of any floating type
    prepared    their norms
    """

    def __init__(self, documents: NDArray[np.floating], metric: Metric, prepared: Prepared) -> None:
        self.documents, self.prepared = documents, prepared
        self.certificate = Certificate(metric, documents.shape[1])

    def block(self, vectors: NDArray[np.int64]) -> Block:
        """Some rows, by their positions in documents, ascending."""
        norm, wild = self.prepared.norm[vectors], self.prepared.wild[vectors]
        if self.certificate.metric == "cosine":
            plain = self.documents.dtype == np.float32 and np.abs(norm - 1).max() <= UNIT
            return Block(vectors, np.where(wild, 0.0, 1.0), 0, None if plain else norm, wild)
        greatest, power = float(norm.max()), 0
        if greatest and not SMALL <= greatest <= LARGE:
            power = max(int(np.frexp(greatest)[1]), FLOOR)
        return Block(vectors, np.ldexp(norm, -power), power, None, wild)

    def keys(self, asked: Asked, block: Block, out: NDArray[np.float32], scratch: Scratch) -> None:
        """Keys of every query against every row of the block; infinite where a row or a query is wild.

        out      (queries, columns), columns no fewer than the rows: -inf beyond the last row
        """
        rows, queries = len(block.vectors), len(asked.array)
        # A strip of rows is copied, where it must be, and multiplied before the next drives it out of the cache.
        for start in range(0, rows, STRIP):
            strip = slice(start, min(start + STRIP, rows))
            vectors = self._rows(block, strip, scratch.rows[: strip.stop - start])
            if queries < FEW:
                turned = scratch.product[: len(vectors) * queries].reshape(len(vectors), queries)
                np.matmul(vectors, asked.array.T, out=turned)
                out[:, strip] = turned.T
            else:
                np.matmul(asked.array, vectors.T, out=out[:, strip])
        keys = out[:, :rows]
        if self.certificate.metric == "euclidean":
            half = (block.norm * block.norm / 2).astype(np.float32)
            unit = self.unit(asked, block)
            if (asked.power == block.power).all():
                keys -= half
            else:
                keys *= np.ldexp(1.0, asked.power + block.power - 2 * unit).astype(np.float32)[:, None]
                keys -= np.ldexp(1.0, 2 * (block.power - unit)).astype(np.float32)[:, None] * half
        if block.wild.any():
            keys[:, block.wild] = np.inf
        if asked.wild.any():
            keys[asked.wild] = np.inf
        out[:, rows:] = -np.inf

    def _rows(self, block: Block, strip: slice, buffer: NDArray[np.float32]) -> NDArray[np.float32]:
        """A strip of the block in float32, scaled: where it lies, or copied into the buffer."""
        vectors = block.vectors[strip]
        rows: NDArray[np.floating]
        if vectors[-1] - vectors[0] == len(vectors) - 1 and (np.diff(vectors) == 1).all():
            rows = self.documents[vectors[0] : vectors[-1] + 1]
        elif self.documents.dtype == np.float32:
            rows = np.take(self.documents, vectors, axis=0, out=buffer, mode="clip")
        else:
            rows = self.documents[vectors]
        if block.over is not None:
            norm = block.over[strip]
            if rows.dtype != np.float64 and ((norm >= SMALL) & (norm <= LARGE)).all():
                return np.multiply(np.asarray(rows, np.float32), (1 / norm).astype(np.float32)[:, None], out=buffer)
            rows = np.asarray(rows, dtype=np.float64) / norm[:, None]
        elif block.power:
            rows = np.ldexp(np.asarray(rows, dtype=np.float64), -block.power)
        return np.asarray(rows, dtype=np.float32)

    def unit(self, asked: Asked, block: Block) -> NDArray[np.int64]:
        """(queries,) the power of two of the keys' units, as the certificate means it."""
        if self.certificate.metric == "euclidean":
            return np.maximum(asked.power, block.power)
        return asked.power + block.power

    def bar(self, least: NDArray[np.float64], asked: Asked, block: Block) -> NDArray[np.float32]:
        """(queries,) the key below which no row of the block can reach `least` (final scores, -inf: any)."""
        unit, query, row = self.unit(asked, block), asked.norm, np.asarray(block.norm.max())
        if self.certificate.metric == "euclidean":
            query, row = np.ldexp(query, asked.power - unit), np.ldexp(row, block.power - unit)
        return self.certificate.bar(least, query, row, unit)

    def bounds(
        self,
        keys: NDArray[np.float32],
        asked: Asked,
        block: Block,
        query: NDArray[np.int64],
        row: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest final score of some cells; without limit where the key is not finite or the row wild."""
        exact = keys.astype(np.float64)
        unit = self.unit(asked, block)[query]
        if self.certificate.metric == "cosine":
            low, high = self.certificate.bounds(exact, np.ones(1), np.ones(1), np.zeros(1, dtype=np.int64))
        elif self.certificate.metric == "dot":
            low, high = self.certificate.bounds(exact, asked.norm[query], block.norm[row], unit)
        else:
            asks = np.ldexp(asked.norm[query], asked.power[query] - unit)
            low, high = self.certificate.bounds(exact, asks, np.ldexp(block.norm[row], block.power - unit), unit)
        open_ended = ~np.isfinite(keys) | block.wild[row]
        low[open_ended], high[open_ended] = -np.inf, np.inf
        return low, high
