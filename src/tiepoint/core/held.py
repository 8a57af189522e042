"""One side of an audit: everything that an embedding space holds, in columns, every row of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.contract import Contract

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
    encoded   vectors that it made; cached: vectors that were there before
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
    table      columns SCHEMA, one row a vector or tombstone, in the order in which they lie
    vectors    (rows, dimension) float16, float32 or float64; memory-mapped where the file allows it, held once; the row of a
               tombstone is of no meaning
    ledger     counts of the encoding
    texts      item id to text, by role, where the study or the file has them; None: provenance cannot be checked
    """

    name: str
    where: str
    contract: Contract
    table: pa.Table
    vectors: NDArray[np.floating]
    ledger: Ledger = field(default_factory=Ledger)
    texts: Mapping[str, Mapping[str, str]] | None = None

    def __len__(self) -> int:
        return int(self.table.num_rows)
