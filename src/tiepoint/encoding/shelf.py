"""Vectors that are there already, in columns: which text each was made from, and which encoding made it."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.contract import Contract, Role

SCHEMA = pa.schema(
    [
        ("role", pa.string()),
        ("item", pa.string()),  # the id of the item as last seen; the key is (role, input_hash)
        ("input_hash", pa.binary(32)),
        ("content_hash", pa.binary(32)),
        ("tokens", pa.int64()),  # before any cut; null where they cannot be counted
    ]
)
ON_SHELF = SCHEMA.append(pa.field("encoding", pa.int32()))


@dataclass(frozen=True, slots=True)
class Work:
    """One stretch of encoding, as long as a shard. tokens: taken in by the model; None: not countable."""

    role: Role
    texts: int
    tokens: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Queries encoded one by one; None: none could be."""

    p50_ms: float | None = None
    p95_ms: float | None = None
    per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """One encoding and its figures; a run that was killed and taken up again counts as one, with the seconds of both.

    noise   see encoding.noise.measure_noise; None: not measured, as by versions that did not
    """

    date: str
    documents: int
    document_tokens: int | None
    document_s: float
    load_s: float
    threads: int
    processor: str
    query_p50_ms: float | None
    query_p95_ms: float | None
    queries_per_s: float | None
    noise: float | None = None

    @classmethod
    def of(
        cls, works: Sequence[Work], *, load_s: float, threads: int, latency: Latency, noise: float | None
    ) -> Encoding:
        """The record of an encoding that ends now."""
        made = [work for work in works if work.role == "document"]
        tokens = [work.tokens for work in made if work.tokens is not None]
        return cls(
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            documents=sum(work.texts for work in made),
            document_tokens=sum(tokens) if tokens and len(tokens) == len(made) else None,
            document_s=sum(work.seconds for work in made),
            load_s=load_s,
            threads=threads,
            processor=processor(),
            query_p50_ms=latency.p50_ms,
            query_p95_ms=latency.p95_ms,
            queries_per_s=latency.per_s,
            noise=noise,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """Vectors with their keys.

    table      columns ON_SHELF, one row a vector
    vectors    (rows, dimension) in the contract's dtype; memory-mapped where it comes from disk
    usable     (rows,) False where a stored vector is broken: it is not found, and so it is made again
    history    the encodings that the column `encoding` counts, from 0
    """

    table: pa.Table
    vectors: NDArray[np.floating]
    usable: NDArray[np.bool_]
    history: tuple[Encoding, ...] = ()

    @classmethod
    def empty(cls, contract: Contract) -> Shelf:
        """Nothing yet."""
        nothing = np.empty((0, contract.dimension), dtype=contract.dtype)
        return cls(ON_SHELF.empty_table(), nothing, np.ones(0, dtype=bool))

    def rows_of(self, keys: pa.Array) -> NDArray[np.int64]:
        """(keys,) which row holds the vector, -1 where none does that is usable."""
        rows = positions(keys, keys_of(self.table))
        found = rows >= 0
        rows[found] = np.where(self.usable[rows[found]], rows[found], -1)
        return rows

    def vectors_of(self, keys: pa.Array) -> NDArray[np.floating]:
        """(keys, dimension) the vectors of these keys, NaN where there is none that is usable."""
        rows = self.rows_of(keys)
        found = np.full((len(rows), self.vectors.shape[1]), np.nan, dtype=self.vectors.dtype)
        found[rows >= 0] = self.vectors[rows[rows >= 0]]
        return found

    @property
    def noise(self) -> float | None:
        """The largest noise that one of the encodings measured; None: none did."""
        return max((one.noise for one in self.history if one.noise is not None), default=None)

    def column(self, name: str, rows: NDArray[np.int64], *, unknown: int) -> NDArray[np.int64]:
        """(rows,) numbers of a column; `unknown` where the row is -1 or the number is null."""
        values = pc.fill_null(self.table.column(name).cast(pa.int64()), unknown).to_numpy()
        return np.append(values, unknown)[rows]


class Store(Protocol):
    """Where new vectors go while they are made, and where they are found afterwards."""

    shelf: Shelf
    notes: list[str]

    @property
    def pending(self) -> pa.Array:
        """Keys of vectors that were added and are not on the shelf yet."""

    def add(self, table: pa.Table, vectors: NDArray[np.floating], work: Work) -> None:
        """Take a shard of one role: columns SCHEMA and as many vectors."""

    def vectors_of(self, keys: pa.Array) -> NDArray[np.floating]:
        """(keys, dimension) vectors on the shelf or pending; NaN where there is none."""

    def finish(self, *, load_s: float, threads: int, latency: Latency, noise: float | None) -> Shelf:
        """Put everything that was added onto the shelf, as one encoding."""


@dataclass(slots=True)
class Memory:
    """A store that ends with the process: for functions whose vectors must not be re-used.

    capacity   how many vectors there will be at most, so that they are never copied
    """

    contract: Contract
    capacity: int
    shelf: Shelf = field(init=False)
    notes: list[str] = field(default_factory=list)
    _tables: list[pa.Table] = field(default_factory=list)
    _works: list[Work] = field(default_factory=list)
    _vectors: NDArray[np.floating] = field(init=False)

    def __post_init__(self) -> None:
        self.shelf = Shelf.empty(self.contract)
        self._vectors = np.empty((self.capacity, self.contract.dimension), dtype=self.contract.dtype)

    @property
    def pending(self) -> pa.Array:
        """Keys of vectors that were added."""
        return keys_of(pa.concat_tables([SCHEMA.empty_table(), *self._tables]))

    def add(self, table: pa.Table, vectors: NDArray[np.floating], work: Work) -> None:
        """Take a shard."""
        start = sum(len(one) for one in self._tables)
        self._vectors[start : start + len(table)] = vectors
        self._tables.append(table)
        self._works.append(work)

    def vectors_of(self, keys: pa.Array) -> NDArray[np.floating]:
        """(keys, dimension) vectors that were added; NaN where there is none."""
        rows = positions(keys, self.pending)
        found = np.full((len(rows), self.contract.dimension), np.nan, dtype=self.contract.dtype)
        found[rows >= 0] = self._vectors[rows[rows >= 0]]
        return found

    def finish(self, *, load_s: float, threads: int, latency: Latency, noise: float | None) -> Shelf:
        """Everything that was added, as the one encoding there is."""
        table = pa.concat_tables([SCHEMA.empty_table(), *self._tables])
        encoding = Encoding.of(self._works, load_s=load_s, threads=threads, latency=latency, noise=noise)
        usable = np.ones(len(table), dtype=bool)
        self.shelf = Shelf(numbered(table, 0), self._vectors[: len(table)], usable, (encoding,))
        return self.shelf


def keys_of(table: pa.Table) -> pa.Array:
    """(rows,) binary: the role, then the 32 bytes of the input hash."""
    roles, hashes = (table.column(name).cast(pa.binary()) for name in ("role", "input_hash"))
    joined = pc.binary_join_element_wise(roles, hashes, pa.scalar(b"", pa.binary()))
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined


def positions(keys: pa.Array, among: pa.Array) -> NDArray[np.int64]:
    """(keys,) where each key stands among others, -1 where it does not."""
    found = pc.fill_null(pc.index_in(keys, value_set=among), -1)
    return np.array(found.to_numpy(zero_copy_only=False), dtype=np.int64)


def numbered(table: pa.Table, encoding: int) -> pa.Table:
    """The table with the number of the encoding that made its vectors."""
    return table.append_column("encoding", pa.array(np.full(len(table), encoding, dtype=np.int32)))


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{name}, {os.cpu_count()} cores"
