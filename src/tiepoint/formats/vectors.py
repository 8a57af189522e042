"""Vectors made elsewhere: `.npy` beside a text file of ids, or Parquet with the columns id and vector."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tiepoint.core.ids import id_problems
from tiepoint.core.rows import utf8_text
from tiepoint.errors import InputError, Problems, did_you_mean, some

IDS = (".ids.txt", ".ids")
"""What the file of ids beside `vectors.npy` may be called after its stem."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorFile:
    """One file of vectors; nothing about their norms is known yet.

    ids     one for each row, as written, none twice
    array   (vectors, dimension) float16, float32 or float64; memory-mapped where the file allows it
    form    which form was read
    """

    ids: tuple[str, ...]
    array: NDArray[np.floating]
    form: str


def read_vectors(path: Path, *, ids: Path | None = None) -> VectorFile:
    """The vectors of one role. ids: the text file of ids for `.npy`; None: the one beside it, `.ids.txt` or `.ids`.

    raises   InputError: no such file, neither form, no two-dimensional float array, ids that are bad or not as many,
             null or ragged rows (every one named up to ten)
    """
    if not path.is_file():
        raise InputError("there is no such file of vectors", where=str(path), fix="correct the path in options")
    if path.suffix == ".npy":
        return _read_npy(path, ids)
    if path.suffix == ".parquet":
        return _read_parquet(path)
    raise InputError(f"{path.name}: vectors are read from .npy and .parquet", where=str(path), fix="convert the file")


def _read_npy(path: Path, ids: Path | None) -> VectorFile:
    try:
        array: NDArray[np.floating] = np.lib.format.open_memmap(path, mode="r")  # never unpickles
    except (ValueError, EOFError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path.name} is no plain .npy array ({reason})",
            where=str(path),
            fix="write it with numpy.save, one array of float16, float32 or float64",
        ) from None
    _check_array(array, path)
    beside = ids or _ids_beside(path)
    names = _read_ids(beside)
    if len(names) != len(array):
        raise InputError(
            f"{path.name} has {len(array):,} vectors, {beside.name} has {len(names):,} ids",
            where=f"{path} and {beside}",
            fix="write one id a line, in the order of the vectors",
        )
    native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    return VectorFile(names, native, f"{path.name}: .npy {_shape(native)}, ids from {beside.name}")


def _ids_beside(path: Path) -> Path:
    choices = [path.with_name(path.stem + ending) for ending in IDS]
    found = [choice for choice in choices if choice.is_file()]
    if len(found) == 1:
        return found[0]
    named = " or ".join(choice.name for choice in choices)
    raise InputError(
        f"{path.name} has {'two files' if found else 'no file'} of ids beside it",
        where=str(path.parent),
        fix=f"put the ids, one a line in the order of the vectors, into {named}, or name the file in options",
    )


def _read_ids(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        raise InputError("there is no such file of ids", where=str(path), fix="correct the path in options")
    text = utf8_text(path.read_bytes(), name=path.name)
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    _check_ids(lines, path, "lines", 1)
    return tuple(lines)


def _check_ids(ids: list[str], path: Path, rows: str, first: int) -> None:
    problems = Problems()
    if empty := [number for number, i in enumerate(ids, first) if not i]:
        problems.add(
            f"{path.name}: {len(empty):,} empty ids",
            where=f"{path}, {rows} {some(empty)}",
            fix="give every vector an id",
        )
    problems.extend(id_problems([i for i in ids if i], what="vectors", where=str(path)))
    problems.raise_if_any()


def _check_array(array: NDArray[np.floating], path: Path) -> None:
    problems = Problems()
    if array.ndim != 2 or 0 in array.shape:
        problems.add(
            f"{path.name} has the shape {array.shape}, not (vectors, dimension)",
            where=str(path),
            fix="save a 2-D array",
        )
    if array.dtype.kind != "f" or array.dtype.itemsize not in {2, 4, 8}:
        problems.add(
            f"{path.name} holds {array.dtype}, not float16, float32 or float64", where=str(path), fix="save floats"
        )
    problems.raise_if_any()


def _read_parquet(path: Path) -> VectorFile:
    try:
        with pq.ParquetFile(path) as file:
            _check_columns(file.schema_arrow, path)
            table = file.read(columns=["id", "vector"]).combine_chunks()
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path.name} is no Parquet file that can be read ({reason})", where=str(path)) from None
    if not table.num_rows:
        raise InputError(f"{path.name} holds no vector", where=str(path), fix="write one row for each text")
    ids = [str(i) if i is not None else "" for i in table.column("id").to_pylist()]
    _check_ids(ids, path, "rows", 1)
    array = _matrix(table.column("vector").chunk(0), ids, path)
    said = ", integer ids read as text" if pa.types.is_integer(table.schema.field("id").type) else ""
    return VectorFile(tuple(ids), array, f"{path.name}: Parquet {_shape(array)}{said}")


def _check_columns(schema: pa.Schema, path: Path) -> None:
    problems = Problems()
    for name in ("id", "vector"):
        if name not in schema.names:
            hint = did_you_mean(name, schema.names) or f"its columns are {some(schema.names)}"
            problems.add(f"{path.name} has no column {name!r}", where=str(path), fix=hint)
    problems.raise_if_any()
    kind, vector = schema.field("id").type, schema.field("vector").type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    fit = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_integer)
    if not any(is_kind(kind) for is_kind in fit):
        problems.add(f"{path.name}: the column id holds {kind}, not text", where=str(path), fix="write ids as text")
    lists = pa.types.is_list(vector) or pa.types.is_large_list(vector) or pa.types.is_fixed_size_list(vector)
    if not lists or not pa.types.is_floating(vector.value_type):
        problems.add(
            f"{path.name}: the column vector holds {vector}, not lists of float16, float32 or float64",
            where=str(path),
            fix="write a list of floats in each row",
        )
    problems.raise_if_any()


def _matrix(lists: pa.Array, ids: list[str], path: Path) -> NDArray[np.floating]:
    """(vectors, dimension) from a column of lists. Raises InputError for null rows, null values and ragged rows."""
    problems = Problems()
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    null = np.flatnonzero(lists.is_null().to_numpy(zero_copy_only=False))
    holed = np.unique(pc.list_parent_indices(lists).filter(pc.list_flatten(lists).is_null()).to_numpy())
    known = lengths[~np.isnan(lengths.astype(float))].astype(np.int64)
    dimension = int(np.bincount(known).argmax()) if len(known) else 0
    ragged = np.flatnonzero(~np.isnan(lengths.astype(float)) & (lengths != dimension))
    for rows, sentence in (
        (null, "have no vector"),
        (holed, "have null in the vector"),
        (ragged, f"have another length than {dimension}"),
    ):
        if len(rows):
            problems.add(
                f"{path.name}: {len(rows):,} of {len(ids):,} rows {sentence}",
                where=f"{path}, ids {some([ids[i] for i in rows])}",
                fix="write one vector of the same length in every row",
            )
    if not dimension and not problems.found:
        problems.add(f"{path.name}: every vector is empty", where=str(path), fix="write vectors")
    problems.raise_if_any()
    values: NDArray[np.floating] = pc.list_flatten(lists).to_numpy(zero_copy_only=False)
    return values.reshape(len(ids), dimension)


def _shape(array: NDArray[np.floating]) -> str:
    return f"{len(array):,} x {array.shape[1]:,} {array.dtype}"
