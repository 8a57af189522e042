"""A space that the benchmark made, read as it lies: `spaces/<candidate>-<sig8>/` to what it holds, and no more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tiepoint.core.contract import Contract
from tiepoint.core.held import SCHEMA, Held
from tiepoint.encoding.shelf import ON_SHELF
from tiepoint.encoding.store import LAYOUT
from tiepoint.errors import InputError

FILES = ("manifest.json", "items.parquet", "vectors.npy")
FIX = "name a folder below spaces/ that tiepoint bench made"
ALONE = (
    "a store alone says which texts its vectors were made from, one row a text: what is under the ids today, acl and source "
    "revision are the study's (name the STUDY to have them)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A store as it lies; nothing in it is mended, and a broken vector is not hidden.

    contract   as its manifest says
    items      columns of encoding.shelf.ON_SHELF, one row a vector
    vectors    (rows, dimension), memory-mapped
    noise      the largest that its encodings measured; None: none did
    """

    folder: Path
    contract: Contract
    items: pa.Table
    vectors: NDArray[np.floating]
    noise: float | None = None

    def held(self) -> Held:
        """What the store says by itself: role, item and content hash of each row; everything else is not known."""
        rows = len(self.items)
        nothing = pa.nulls(rows, pa.string())
        columns = [
            self.items.column("item"),
            self.items.column("role"),
            self.items.column("content_hash"),
            pa.nulls(rows, pa.list_(pa.string())),
            nothing,
            nothing,
            pa.array(np.zeros(rows, dtype=bool)),
        ]
        return Held(
            name=self.folder.name,
            where=str(self.folder),
            contract=self.contract,
            table=pa.table(columns, schema=SCHEMA),
            vectors=self.vectors,
            stretch=pc.fill_null(self.items.column("encoding").cast(pa.int64()), -1).to_numpy(),
            notes=(ALONE,),
            noise=self.noise,
        )


def is_space_folder(path: Path) -> bool:
    """Whether a path is a folder with a manifest."""
    return (path / FILES[0]).is_file()


def read_space_folder(folder: Path) -> Stored:
    """A store, its vectors mapped and not looked at.

    raises   InputError where a file is missing or cannot be read, the layout is another version's, the signature is not the
             contract's own, or there are not as many vectors as items
    """
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise InputError(f"{folder.name} has no {', no '.join(missing)}", where=str(folder), fix=FIX)
    try:
        manifest = json.loads((folder / FILES[0]).read_text(encoding="utf-8"))
        layout, signature, stated = manifest["layout"], manifest["signature"], manifest["contract"]
        measured = [one.get("noise") for one in manifest["encodings"]]
        items = pq.read_table(folder / FILES[1], memory_map=False).combine_chunks()
        vectors: NDArray[np.floating] = np.load(folder / FILES[2], mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException) as error:
        raise InputError(
            f"{folder.name} cannot be read as a space ({type(error).__name__})", where=str(folder), fix=FIX
        ) from None
    if not isinstance(stated, Mapping) or layout != LAYOUT:
        raise InputError(f"{folder.name} has the layout {layout!r}, not {LAYOUT}", where=str(folder), fix=FIX)
    contract = Contract.from_claims(str(stated.get("space_id", folder.name)), stated)
    if signature != contract.signature():
        raise InputError(
            f"the signature in the manifest of {folder.name} is not its contract's",
            where=str(folder / FILES[0]),
            fix="the manifest was changed by hand: encode the space again with tiepoint bench STUDY",
        )
    if items.schema.names != ON_SHELF.names or vectors.ndim != 2 or len(vectors) != len(items):
        raise InputError(
            f"{folder.name} has {len(items):,} items of the columns {', '.join(items.schema.names)} and vectors of the "
            f"shape {vectors.shape}",
            where=str(folder),
            fix="encode the space again with tiepoint bench STUDY",
        )
    noise = max((float(one) for one in measured if isinstance(one, int | float)), default=None)
    return Stored(folder, contract, items, vectors, noise)
