"""Which rows of a side the provenance check embeds again: a random, stratified sample in which every row has the same chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.held import Held

TENTHS = 10
MOST_STRATA = 20
"""A column of more values than this in one role makes no strata: the position in the file does."""


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """The rows that may be sampled, and the stratum of each.

    rows    (rows,) positions in the side's table, ascending
    of_row  (rows,) the stratum of each
    names   of the strata, in their order
    """

    rows: NDArray[np.int64]
    of_row: NDArray[np.int64]
    names: tuple[str, ...]


def strata(held: Held, rows: NDArray[np.int64]) -> Strata:
    """Strata by role, and within a role by encoding, else by source revision, else by tenths of the file.

    A column serves where it has from 2 to MOST_STRATA values in that role.
    rows   positions in the table, ascending
    """
    of_row = np.empty(len(rows), dtype=np.int64)
    names: list[str] = []
    documents = held.documents[rows]
    for role, mask in (("document", documents), ("query", ~documents)):
        chosen = rows[mask]
        if len(chosen):
            codes, inner = _parts(held, chosen)
            of_row[mask] = codes + len(names)
            names += [f"{role}, {name}" for name in inner]
    return Strata(rows, of_row, tuple(names))


def sample(found: Strata, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(at most size,) rows to embed again, ascending.

    Systematic sampling from a random start, over the rows put in order of stratum and shuffled within each: every row has the
    same chance, size / rows, and a stratum gets its proportional share, rounded up or down at random. So the share that is
    found needs no weights, and is unbiased.
    """
    rows = len(found.rows)
    if size >= rows:
        return found.rows
    order = np.lexsort((rng.random(rows), found.of_row))
    step = rows / size
    at = np.floor((rng.random() + np.arange(size)) * step).astype(np.int64)
    return np.sort(found.rows[order[np.minimum(at, rows - 1)]])


def _parts(held: Held, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
    """The part of each row of one role, from 0, and the names of the parts."""
    if held.stretch is not None:
        values, codes = np.unique(held.stretch[rows], return_inverse=True)
        if 2 <= len(values) <= MOST_STRATA:
            return codes, [f"encoding {value + 1}" for value in values]
    revisions = pc.fill_null(held.table.column("source_revision").take(pa.array(rows)), "(not known)")
    coded = revisions.combine_chunks().dictionary_encode()
    if 2 <= len(coded.dictionary) <= MOST_STRATA:
        return coded.indices.to_numpy().astype(np.int64), [f"revision {name}" for name in coded.dictionary.to_pylist()]
    parts = min(TENTHS, len(rows))
    codes = np.arange(len(rows)) * parts // len(rows)
    return codes, [f"part {i + 1} of {parts} of its rows" for i in range(parts)]
