"""The vectors of a Parquet file, written once into one array: block by block, never as Python numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tiepoint.errors import Problems, some
from tiepoint.formats.space_parquet.columns import Columns, mask

BLOCK_ROWS = 16_384


def read_matrix(file: pq.ParquetFile, columns: Columns, deleted: NDArray[np.bool_]) -> NDArray[np.floating]:
    """(rows, dimension) in the file's own float type. Peak memory is the array, one block, and what the file packs into a page.

    columns   for the ids of bad rows, and where problems are noted: no vector, null values, another length than the rest
    deleted   (rows,) tombstones, whose vector is not looked at; where it cannot be read it stands as 0
    """
    rows = len(columns.table)
    kind = file.schema_arrow.field("vector").type
    array: NDArray[np.floating] | None = None
    missing, holed, ragged = (np.zeros(rows, dtype=bool) for _ in range(3))
    start = 0
    for batch in file.iter_batches(batch_size=BLOCK_ROWS, columns=["vector"]):
        lists = batch.column(0)
        here = slice(start, start + len(lists))
        start += len(lists)
        lengths = np.where(mask(lists.is_null()), -1, _lengths(lists, kind))
        if array is None and (lengths > 0).any():
            dimension = int(np.bincount(lengths[lengths > 0]).argmax())
            array = np.zeros((rows, dimension), dtype=kind.value_type.to_pandas_dtype())
        live = ~deleted[here]
        missing[here] = live & (lengths <= 0)
        if array is None:
            continue
        good = lengths == array.shape[1]
        ragged[here] = live & ~good & (lengths > 0)
        kept = lists if good.all() else lists.filter(pa.array(good))
        flat = kept.flatten()
        if flat.null_count:
            bad = np.unique(np.flatnonzero(mask(flat.is_null())) // array.shape[1])
            holed[np.arange(here.start, here.stop)[good][bad]] = True
            flat = pc.fill_null(flat, pa.scalar(0.0).cast(kind.value_type))
        values = flat.to_numpy(zero_copy_only=False).reshape(-1, array.shape[1])
        if good.all():
            array[here] = values
        else:
            array[np.arange(here.start, here.stop)[good]] = values
    problems: Problems = columns.problems
    length = 0 if array is None else array.shape[1]
    for bad_rows, sentence in (
        (missing, "have no vector"),
        (holed & ~deleted, "have null in the vector"),
        (ragged, f"have a vector of another length than {length}"),
    ):
        found = np.flatnonzero(bad_rows)
        if len(found):
            problems.add(
                f"{len(found):,} of {rows:,} rows {sentence}",
                where=f"{columns.where}, ids {some(columns.names(found))}",
                fix="write one vector of the same length in every row that is not deleted",
            )
    return np.zeros((rows, 0), dtype=np.float32) if array is None else array


def _lengths(lists: pa.Array, kind: pa.DataType) -> NDArray[np.int64]:
    if pa.types.is_fixed_size_list(kind):
        return np.full(len(lists), kind.list_size, dtype=np.int64)
    lengths: NDArray[np.int64] = pc.fill_null(pc.list_value_length(lists), -1).to_numpy().astype(np.int64)
    return lengths
