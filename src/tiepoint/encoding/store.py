"""The store of one signature on disk: what is there is found again, and a kill at any moment loses nothing that was finished.

spaces/<candidate>-<sig8>/     manifest.json  contract, signature, encodings
items.parquet  one row a vector: role, item, hashes, tokens, encoding
vectors.npy    (vectors, dimension), memory-mapped when read
spaces/<candidate>-<sig8>.parts/    shards of an encoding that is going on
spaces/.<candidate>-<sig8>.new/     the next store while it is written; its manifest comes last
spaces/.<candidate>-<sig8>.old/     the former store between the two renames
spaces/.<candidate>-<sig8>.lock     empty; held by the run that is at work here
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tiepoint.core.contract import Contract
from tiepoint.encoding.check import check_vectors
from tiepoint.encoding.parts import BROKEN, Parts
from tiepoint.encoding.shelf import ON_SHELF, Encoding, Latency, Shelf, Work, numbered, positions

LAYOUT = 1
BLOCK_ROWS = 16_384


@dataclass(slots=True)
class DiskStore:
    """Built by open_store. Raises OSError where the disk does not let it write."""

    folder: Path
    contract: Contract
    shelf: Shelf
    parts: Parts
    notes: list[str] = field(default_factory=list)

    @property
    def pending(self) -> pa.Array:
        """Keys of vectors that were finished, by this run or by one that was killed, and are not on the shelf yet."""
        return self.parts.pending

    def add(self, table: pa.Table, vectors: NDArray[np.floating], work: Work) -> None:
        """Write one shard beside the store."""
        self.parts.add(table, vectors, work)

    def vectors_of(self, keys: pa.Array) -> NDArray[np.floating]:
        """(keys, dimension) vectors on the shelf or in the parts; NaN where there is none."""
        found = self.shelf.vectors_of(keys)
        rows = np.where(np.isnan(found).any(axis=1), positions(keys, self.pending), -1)
        found[rows >= 0] = self.parts.take(rows[rows >= 0])
        return found

    def finish(self, *, load_s: float, threads: int, latency: Latency, noise: float | None) -> Shelf:
        """Write the next store beside, put it in this one's place by two renames, read it.

        Vectors of texts that the study no longer has are kept: they cost disk, and making them again costs time or money.
        Peak memory is one block of rows or one part.
        """
        if not self.parts.tables:
            return self.shelf
        kept = np.flatnonzero(self.shelf.usable)
        encoding = Encoding.of(self.parts.works, load_s=load_s, threads=threads, latency=latency, noise=noise)
        history = (*self.shelf.history, encoding)
        new = [numbered(table, len(self.shelf.history)) for table in self.parts.tables]
        table = pa.concat_tables([self.shelf.table.take(pa.array(kept)), *new])
        beside = _beside(self.folder, "new")
        _remove(beside)
        beside.mkdir(parents=True)
        shape = (len(table), self.contract.dimension)
        out = np.lib.format.open_memmap(beside / "vectors.npy", "w+", np.dtype(self.contract.dtype), shape)
        row = 0
        for start in range(0, len(kept), BLOCK_ROWS):
            block = kept[start : start + BLOCK_ROWS]
            out[row : row + len(block)] = self.shelf.vectors[block]
            row += len(block)
        for vectors in self.parts.vectors():
            out[row : row + len(vectors)] = vectors
            row += len(vectors)
        out.flush()
        del out
        pq.write_table(table, beside / "items.parquet")
        _write_manifest(beside, self.contract, history)
        self.shelf = Shelf.empty(self.contract)  # lets go of the mapped file before it is moved
        _swap(self.folder)
        self.parts.clear()
        self.shelf = _read(self.folder, self.contract)
        return self.shelf


def open_store(folder: Path, contract: Contract, *, fresh: bool) -> DiskStore:
    """The store of a contract, taken up where the last run left it, finished or killed.

    fresh    True: whatever is there is ignored, and replaced once the encoding is finished
    returns  a store whose notes say what was broken and is made again
    """
    recover(folder)
    parts = Parts(folder.with_name(folder.name + ".parts"), contract)
    store = DiskStore(folder, contract, Shelf.empty(contract), parts)
    if fresh:
        parts.clear()
        return store
    if folder.exists():
        try:
            store.shelf = _read(folder, contract)
        except BROKEN as error:
            reason = str(error) if isinstance(error, Refused) else type(error).__name__
            store.notes.append(f"the store {folder.name} could not be read ({reason}) and is built anew")
    broken = int((~store.shelf.usable).sum())
    if broken:
        store.notes.append(f"{broken} of {len(store.shelf.table)} stored vectors were broken and are not used")
    parts.read()
    store.notes.extend(parts.notes)
    if parts.tables and (store.shelf.rows_of(parts.pending) >= 0).all():
        parts.clear()  # killed after the renames: everything in the parts is on the shelf
    return store


def peek_store(folder: Path, contract: Contract) -> DiskStore:
    """What open_store would find, as it lies there: nothing is mended, moved or written. For looking only."""
    parts = Parts(folder.with_name(folder.name + ".parts"), contract)
    store = DiskStore(folder, contract, Shelf.empty(contract), parts)
    new = _beside(folder, "new")
    whole = new if (new / "manifest.json").is_file() else _beside(folder, "old")
    place = folder if folder.exists() else whole
    if place.exists():
        try:
            store.shelf = _read(place, contract)
        except BROKEN as error:
            store.notes.append(f"the store {folder.name} could not be read ({type(error).__name__})")
    parts.read()
    return store


def recover(folder: Path) -> None:
    """Mend what a kill between the two renames left: a whole new store comes first, else the former one."""
    new, old = _beside(folder, "new"), _beside(folder, "old")
    if not folder.exists():
        if (new / "manifest.json").is_file():
            new.rename(folder)
        elif old.exists():
            old.rename(folder)
    _remove(new)
    _remove(old)


class Refused(ValueError):
    """A store that can be read and must not be used."""


def _read(folder: Path, contract: Contract) -> Shelf:
    text = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if text["layout"] != LAYOUT:
        raise Refused(f"its layout is {text['layout']}, this version writes {LAYOUT}")
    if text["signature"] != contract.signature():
        raise Refused("its signature is of another contract")
    history = tuple(Encoding(**one) for one in text["encodings"])
    table = pq.read_table(folder / "items.parquet", memory_map=False).combine_chunks()
    if table.schema.names != ON_SHELF.names:
        raise Refused("its items have other columns")
    vectors: NDArray[np.floating] = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
    found = check_vectors(vectors, contract, items=len(table))
    if found.shape or found.dtype:
        raise Refused(found.shape or found.dtype)
    usable = np.ones(len(table), dtype=bool)
    usable[found.broken] = False
    usable[found.off_norm] = False
    return Shelf(table, vectors, usable, history)


def _write_manifest(folder: Path, contract: Contract, history: tuple[Encoding, ...]) -> None:
    text = {
        "layout": LAYOUT,
        "signature": contract.signature(),
        "contract": contract.stated(),
        "encodings": [asdict(encoding) for encoding in history],
    }
    half = folder / "manifest.json.tmp"
    half.write_text(json.dumps(text, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    half.replace(folder / "manifest.json")


def _swap(folder: Path) -> None:
    """The new store takes the place of the former one; recover() mends a kill between any two of these lines."""
    old = _beside(folder, "old")
    if folder.exists():
        folder.rename(old)
    _beside(folder, "new").rename(folder)
    _remove(old)


def _beside(folder: Path, ending: str) -> Path:
    return folder.with_name(f".{folder.name}.{ending}")


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
