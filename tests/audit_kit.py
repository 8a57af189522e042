"""Spaces for the tests of the audit: 3,000 rows as Parquet with their contract, clean until a test plants a fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tiepoint.core.held import Held
from tiepoint.formats.study_toml.write import toml_value
from tiepoint.workflows.audit.bounds import EVERYTHING, Bounds
from tiepoint.workflows.audit.canon import audit_canon
from tiepoint.workflows.audit.inventory import audit_inventory
from tiepoint.workflows.audit.items import Items
from tiepoint.workflows.audit.sides import Asked, Sides, read_sides

ROWS, QUERIES, DIMENSION = 3_000, 100, 16
CONTRACT: dict[str, object] = {
    "provider": "vendor",
    "model": "made-up",
    "revision": "2026-05-01",
    "dimension": DIMENSION,
    "metric": "cosine",
    "normalized": True,
    "dtype": "float32",
    "query_role": "query",
    "document_role": "document",
}
Change = Callable[["Columns"], None]


@dataclass
class Columns:
    """A clean space in Python columns, for a test to spoil: d00000 to d02899 and q00 to q99."""

    ids: list[object] = field(default_factory=list)
    text: list[str | None] = field(default_factory=list)
    role: list[object] = field(default_factory=list)
    acl: list[object] = field(default_factory=list)
    source_revision: list[str | None] = field(default_factory=list)
    version: list[object] = field(default_factory=list)
    deleted: list[bool | None] = field(default_factory=list)
    vectors: np.ndarray = field(default_factory=lambda: np.empty((0, DIMENSION), np.float32))

    def add(self, other: int, **changes: object) -> int:
        """One more row, a copy of another but for what is said; its position."""
        for name in ("ids", "text", "role", "acl", "source_revision", "version", "deleted"):
            column = getattr(self, name)
            column.append(changes.get(name, column[other]))
        vector = np.asarray(changes.get("vector", self.vectors[other]), dtype=np.float32)
        self.vectors = np.concatenate([self.vectors, vector[None]])
        return len(self.ids) - 1

    def drop(self, *rows: int) -> None:
        """Leave rows out."""
        kept = [i for i in range(len(self.ids)) if i not in set(rows)]
        for name in ("ids", "text", "role", "acl", "source_revision", "version", "deleted"):
            setattr(self, name, [getattr(self, name)[i] for i in kept])
        self.vectors = self.vectors[kept]

    def table(self) -> pa.Table:
        return pa.table(
            {
                "id": self.ids,
                "vector": pa.array(list(self.vectors), pa.list_(pa.float32())),
                "text": self.text,
                "role": self.role,
                "acl": self.acl,
                "source_revision": self.source_revision,
                "version": self.version,
                "deleted": self.deleted,
            }
        )


def unit(rows: int, seed: int = 0, dimension: int = DIMENSION) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(rows, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def clean(seed: int = 0) -> Columns:
    documents = ROWS - QUERIES
    return Columns(
        ids=[f"d{i:05}" for i in range(documents)] + [f"q{i:02}" for i in range(QUERIES)],
        text=[f"text {i} of a survey" for i in range(documents)] + [f"question {i}" for i in range(QUERIES)],
        role=["document"] * documents + ["query"] * QUERIES,
        acl=[["planning", "staff"] if i % 3 else ["staff"] for i in range(documents)] + [None] * QUERIES,
        source_revision=["r3"] * ROWS,
        version=[str(i % 12) for i in range(ROWS)],
        deleted=[False] * ROWS,
        vectors=unit(ROWS, seed),
    )


def write_contract(path: Path, **changes: object) -> Path:
    """The contract as TOML; a field that is None is left out."""
    fields = {k: v for k, v in {**CONTRACT, **changes}.items() if v is not None}
    path.write_text("".join(f"{k} = {toml_value(v)}\n" for k, v in fields.items()), encoding="utf-8")
    return path


def write_side(folder: Path, name: str, change: Change | None = None, *, seed: int = 0, **contract: object) -> Asked:
    """A clean space, spoilt by `change`, and what names it to the audit."""
    columns = clean(seed)
    if change is not None:
        change(columns)
    pq.write_table(columns.table(), folder / f"{name}.parquet", row_group_size=1_000)
    toml = write_contract(folder / f"{name}.toml", **contract)
    return Asked(str(folder / f"{name}.parquet"), toml, f"--{name}")


def both(folder: Path, source: Change | None = None, target: Change | None = None, **contract: object) -> Sides:
    """Both sides read; contract: changes of the target's."""
    return read_sides(None, write_side(folder, "source", source), write_side(folder, "target", target, **contract))


def inventory_and_canon(sides: Sides, bounds: Bounds = EVERYTHING):
    """Both sections."""
    items = Items.of(sides.source, sides.target)
    return (
        audit_inventory(sides.source, sides.target, items, bounds),
        audit_canon(sides.source, sides.target, items, bounds),
    )


def named(findings: pa.Table, **where: object) -> list[str]:
    """Ids of the findings that fit."""
    return [row["id"] for row in findings.to_pylist() if all(row[k] == v for k, v in where.items())]


def rows_of(held: Held, *ids: str) -> list[dict[str, object]]:
    """Rows of a side, by id."""
    return [row for row in held.table.to_pylist() if row["id"] in ids]
