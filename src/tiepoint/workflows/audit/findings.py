"""The owner's table of an audit: one row for each offender, none left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

FINDINGS = pa.schema(
    [
        ("section", pa.string()),  # contracts, inventory, canon, vectors, provenance
        ("side", pa.string()),  # source, target, null: both
        ("kind", pa.string()),
        ("role", pa.string()),  # null: no item
        ("id", pa.string()),  # null: no item
        ("field", pa.string()),
        ("source", pa.string()),
        ("target", pa.string()),
    ]
)
Side: TypeAlias = Literal["source", "target"]
Texts: TypeAlias = Sequence[str | None] | pa.Array | pa.ChunkedArray


def item_findings(
    section: str,
    kind: str,
    ids: pa.Array | pa.ChunkedArray,
    documents: NDArray[np.bool_],
    *,
    side: Side | None = None,
    field: str | None = None,
    source: Texts | None = None,
    target: Texts | None = None,
) -> pa.Table:
    """One row for each item. documents: which of the ids are of documents; source, target: what each side says, by item."""
    rows = len(ids)
    roles = pc.if_else(pa.array(documents), "document", "query")
    fixed = [_repeated(value, rows) for value in (section, side, kind)]
    said = [pa.nulls(rows, pa.string()) if one is None else _strings(one) for one in (source, target)]
    return pa.table([*fixed, roles, ids, _repeated(field, rows), *said], schema=FINDINGS)


def plain_findings(
    section: str, kind: str, rows: Sequence[tuple[str, str | None, str | None]], *, side: Side | None = None
) -> pa.Table:
    """Rows that are of no item: (field, what the source says, what the target says)."""
    return pa.Table.from_pylist(
        [
            {"section": section, "side": side, "kind": kind, "field": name, "source": source, "target": target}
            for name, source, target in rows
        ],
        schema=FINDINGS,
    )


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """All of them, in order."""
    return pa.concat_tables([FINDINGS.empty_table(), *tables])


def _strings(values: Texts) -> pa.Array | pa.ChunkedArray:
    return values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, pa.string())


def _repeated(value: str | None, rows: int) -> pa.Array:
    return pa.nulls(rows, pa.string()) if value is None else pa.repeat(pa.scalar(value, pa.string()), rows)
