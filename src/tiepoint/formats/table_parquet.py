"""Rows from Parquet: row group by row group, and of each only the columns that are asked for."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tiepoint.core.rows import Rows
from tiepoint.errors import InputError, Problems, some


def read_parquet(path: Path, *, columns: Collection[str] | None = None, name: str | None = None) -> Rows:
    """Every row of the file, in the columns asked for; values as Python has them (text, int, bool, list, None).

    columns   only these are read from the file; None: all
    name      what messages call the file; None: its file name
    returns   Rows whose `lines` are row numbers from 1
    raises    InputError where it is no Parquet file, where a column is named twice, and where a text is not UTF-8,
              naming the column and its rows; what a value means is judged by whoever checks the column
    """
    name = name or path.name
    try:
        with pq.ParquetFile(path) as file:
            schema: pa.Schema = file.schema_arrow
            _check_names(schema.names, name)
            wanted = [column for column in schema.names if columns is None or column in columns]
            read = _read(file, wanted, name)
            total = int(file.metadata.num_rows)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{name} is no Parquet file that can be read ({reason})",
            where=str(path),
            fix="write it again, or state its format in the table of study.toml that names it",
        ) from None
    with path.open("rb") as raw:
        sha256 = hashlib.file_digest(raw, "sha256").hexdigest()
    seen = dict.fromkeys(schema.names, total)
    return Rows(name, f"{name}: Parquet", read, seen, range(1, total + 1), sha256, counted="rows")


def _check_names(names: list[str], name: str) -> None:
    if repeated := [column for column, count in Counter(names).items() if count > 1]:
        raise InputError(f"{name}: columns named twice: {some(repeated)}", where=name, fix="rename one of them")


def _read(file: pq.ParquetFile, wanted: list[str], name: str) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {column: [] for column in wanted}
    garbled: dict[str, list[int]] = {}
    row = 1
    for group in range(file.num_row_groups if wanted else 0):
        table = file.read_row_group(group, columns=wanted)
        for column in wanted:
            values = table.column(column)
            try:
                values.validate(full=True)
                columns[column] += values.to_pylist()
            except (pa.ArrowInvalid, UnicodeDecodeError):
                garbled.setdefault(column, []).extend(row + i for i in _not_utf8(values))
        row += table.num_rows
    problems = Problems()
    for column, rows in garbled.items():
        problems.add(
            f"{name}: {len(rows):,} values of the column {column!r} are not UTF-8",
            where=f"{name}, rows {some(rows)}",
            fix="write texts as UTF-8",
        )
    problems.raise_if_any()
    return columns


def _not_utf8(values: pa.ChunkedArray) -> list[int]:
    """Positions of the values that cannot be read."""
    bad = []
    for i, value in enumerate(values):
        try:
            value.as_py()
        except UnicodeDecodeError:
            bad.append(i)
    return bad
