"""One side of an audit: everything that an embedding space holds, in columns, every row of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.contract import Contract, Role
from tiepoint.core.space import Vectors

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("role", pa.string()),  # "document" or "query"
        ("content_hash", pa.binary(32)),  # null: not known
        ("acl", pa.list_(pa.string())),  # null: not known; an empty list means nobody
        ("source_revision", pa.string()),  # null: not known
        ("version", pa.string()),  # null: not known; as the file writes it
        ("deleted", pa.bool_()),  # a tombstone: the row says that the item was taken out
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What the encoding of a space says that it did. None: nobody said.

    wanted    items that the encoding was given
    encoded   items whose vectors it made; cached: items whose vectors were there before
    failed    items that got no vector
    """

    wanted: int | None = None
    encoded: int | None = None
    cached: int | None = None
    failed: int | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Held:
    """A space as it lies: nothing in it has been checked but its shape.

    name       the candidate's id, or the file's name
    where      where it lies, for messages
    contract   what its vectors are said to be
    table      columns SCHEMA, one row an item or tombstone, in the order in which they lie
    vectors    (vectors, dimension) float16, float32 or float64; memory-mapped where the file allows it, held once
    row        (rows,) int64: which vector is the row's, -1 for a tombstone without one; items of one text may share one.
               None: row i has vector i, and the vector of a tombstone is of no meaning
    ledger     counts of the encoding
    texts      (rows,) large_string: the text that the row's vector is said to be of, without prompts; null: not known.
               None: no text is known, and provenance cannot be checked
    stretch    (rows,) int64: which stretch of making the row came from (the encoding of a store); None: not known
    notes      what was read and how, what was left out: lines that count and name no document
    noise      see core.space.Space; None: not measured
    """

    name: str
    where: str
    contract: Contract
    table: pa.Table
    vectors: NDArray[np.floating]
    row: NDArray[np.int64] | None = None
    ledger: Ledger = field(default_factory=Ledger)
    texts: pa.ChunkedArray | None = None
    stretch: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()
    noise: float | None = None

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def vector_of(self) -> NDArray[np.int64]:
        """(rows,) which row of vectors each row of the table has; -1: none."""
        return np.arange(len(self), dtype=np.int64) if self.row is None else self.row

    @property
    def live(self) -> NDArray[np.bool_]:
        """(rows,) True where the row is an item, False where it is a tombstone."""
        deleted: NDArray[np.bool_] = pc.fill_null(self.table.column("deleted"), fill_value=False).to_numpy()
        return ~deleted

    @property
    def documents(self) -> NDArray[np.bool_]:
        """(rows,) True where the row is a document's, live or deleted; every other row is a query's."""
        is_document: NDArray[np.bool_] = pc.equal(self.table.column("role"), "document").to_numpy()
        return is_document

    def aligned(self, role: Role, ids: Sequence[str]) -> Vectors:
        """The live vectors of one role in the order of these ids, -1 where the side holds none; of a repeated id the first."""
        wanted = np.flatnonzero(self.live & (self.documents == (role == "document")))
        have = self.table.column("id").take(pa.array(wanted))
        found = pc.fill_null(pc.index_in(pa.array(ids, pa.string()), value_set=have), -1).to_numpy(zero_copy_only=False)
        row = np.append(self.vector_of[wanted], -1)[found.astype(np.int64)]
        return Vectors(self.vectors, row.astype(np.int64))
