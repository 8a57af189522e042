"""Finished shards of an encoding that is still going on: a killed run leaves them, and the next one goes on from there."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.contract import Contract, Role
from tiepoint.encoding.check import check_vectors
from tiepoint.encoding.shelf import SCHEMA, Work, keys_of

BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException)
"""What reading a damaged file may raise."""


@dataclass(slots=True)
class Parts:
    """The folder `<store>.parts` with `part-00001.npy` and `part-00001.json`, and so on.

    A part counts only once its .json stands, which is written last and holds the hash of its .npy: a part that was cut
    short, or belongs to another contract, is never used.
    """

    folder: Path
    contract: Contract
    notes: list[str] = field(default_factory=list)
    works: list[Work] = field(default_factory=list)
    tables: list[pa.Table] = field(default_factory=list)
    _files: list[Path] = field(default_factory=list)

    def read(self) -> None:
        """Find what an earlier run left behind."""
        refused = 0
        for path in sorted(self.folder.glob("part-*.json")):
            try:
                self._take(path)
            except BROKEN:
                refused += 1
        if refused:
            self.notes.append(f"{refused} shards of an interrupted run were broken and are encoded again")

    def _take(self, path: Path) -> None:
        text = json.loads(path.read_text(encoding="utf-8"))
        vectors = path.with_suffix(".npy")
        if text["signature"] != self.contract.signature() or text["sha256"] != _sha256(vectors):
            raise ValueError(path.name)
        role: Role = text["role"]
        table = pa.table(
            {
                "role": pa.array([role] * len(text["item"]), pa.string()),
                "item": text["item"],
                "input_hash": [bytes.fromhex(one) for one in text["input_hash"]],
                "content_hash": [bytes.fromhex(one) for one in text["content_hash"]],
                "tokens": pa.array(text["tokens"], pa.int64()),
            },
            schema=SCHEMA,
        )
        found = check_vectors(np.load(vectors, mmap_mode="r"), self.contract, items=len(table))
        if found.shape or found.dtype or len(found.broken) or len(found.off_norm):
            raise ValueError(path.name)
        self._note(path, table, Work(role, len(table), text["taken"], float(text["seconds"])))

    def _note(self, path: Path, table: pa.Table, work: Work) -> None:
        self._files.append(path)
        self.tables.append(table)
        self.works.append(work)

    @property
    def pending(self) -> pa.Array:
        """Keys of every vector in the parts."""
        return keys_of(pa.concat_tables([SCHEMA.empty_table(), *self.tables]))

    def add(self, table: pa.Table, vectors: NDArray[np.floating], work: Work) -> None:
        """Write one part, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = max((int(path.stem.removeprefix("part-")) for path in self._files), default=0) + 1
        path = self.folder / f"part-{number:05}.json"
        beside = path.with_suffix(".npy.tmp")
        with beside.open("wb") as stream:
            np.save(stream, vectors)
        text = {
            "signature": self.contract.signature(),
            "role": work.role,
            "seconds": work.seconds,
            "taken": work.tokens,
            "sha256": _sha256(beside),
            "item": table.column("item").to_pylist(),
            "input_hash": [one.hex() for one in table.column("input_hash").to_pylist()],
            "content_hash": [one.hex() for one in table.column("content_hash").to_pylist()],
            "tokens": table.column("tokens").to_pylist(),
        }
        beside.replace(path.with_suffix(".npy"))
        half = path.with_suffix(".json.tmp")
        half.write_text(json.dumps(text), encoding="utf-8")
        half.replace(path)
        self._note(path, table, work)

    def vectors(self) -> Iterator[NDArray[np.floating]]:
        """The vectors of each part, one part in memory at a time, in the order of tables."""
        for path in self._files:
            yield np.load(path.with_suffix(".npy"))

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.floating]:
        """(rows, dimension) some of the vectors, numbered over all parts; nothing else is read from disk."""
        taken = np.empty((len(rows), self.contract.dimension), dtype=self.contract.dtype)
        start = 0
        for path, table in zip(self._files, self.tables, strict=True):
            inside = (rows >= start) & (rows < start + len(table))
            if inside.any():
                taken[inside] = np.load(path.with_suffix(".npy"), mmap_mode="r")[rows[inside] - start]
            start += len(table)
        return taken

    def clear(self) -> None:
        """Remove the folder: everything in it stands elsewhere now, or is not wanted."""
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.works, self.tables, self._files = [], [], []


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
