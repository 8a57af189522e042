"""Reads the rows of a table in the form that the study states, or that the file's suffix says; never by its content."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from tiepoint.core.rows import Rows, Unread
from tiepoint.errors import InputError
from tiepoint.formats.delimited import read_delimited
from tiepoint.formats.jsonl import read_jsonl
from tiepoint.formats.table_parquet import read_parquet
from tiepoint.formats.trec_topics import read_topics

SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".topics": "trec-topics",
}
"""The form that a suffix stands for; init looks for files in this order."""
CELLS = ("csv", "tsv")


@dataclass(frozen=True, slots=True)
class Form:
    """How a table lies on disk.

    format           one of the forms of SUFFIXES; None: by the file's suffix
    delimiter        what parts the columns of CSV and TSV; None: comma and tab
    list_separator   what parts the values of a list in a cell; None: a cell is one value or a JSON array
    """

    format: str | None = None
    delimiter: str | None = None
    list_separator: str | None = None

    def of(self, path: Path) -> str | None:
        """The form of this file; None where neither the study nor its suffix says it."""
        return self.format or SUFFIXES.get(path.suffix.lower())


def read_rows(path: Path, form: Form, *, columns: Collection[str]) -> Rows:
    """The rows of a file, in these columns.

    raises   InputError with everything that is wrong with the file; where its form is not said; where a delimiter or
             list_separator is stated and the form knows none
    """
    kind = form.of(path)
    for key in ("delimiter", "list_separator"):
        if kind not in (None, *CELLS) and getattr(form, key) is not None:
            raise InputError(
                f"{key} is stated, but {path.name} is neither CSV nor TSV",
                where=str(path),
                fix=f'remove {key}, or say format = "csv"',
            )
    if kind == "jsonl":
        return read_jsonl(path, columns=columns)
    if kind == "parquet":
        return read_parquet(path, columns=columns)
    if kind == "trec-topics":
        return read_topics(path)
    if kind in CELLS:
        return read_delimited(path, columns=columns, separator=form.delimiter or ("," if kind == "csv" else "\t"))
    raise InputError(
        f"{path.name}: its suffix says no form that is read",
        where=str(path),
        fix=f'say format = "jsonl" (or csv, tsv, parquet), or name the file {" or ".join(SUFFIXES)}',
    )


def with_values(rows: Rows, *, lists: Collection[str], flags: Collection[str], separator: str | None = None) -> Rows:
    """The rows with the texts of cells turned into the lists and flags that they stand for; other forms as they are.

    lists       columns of lists: a cell that begins with `[` is a JSON array, else values between separators, else one
                value; what is none becomes Unread
    flags       columns of true and false, in any letter case; any other text stays as it is
    separator   None: a cell without a JSON array is one value and never split
    """
    if not rows.cells:
        return rows
    columns = dict(rows.columns)
    for name in columns.keys() & set(lists):
        columns[name] = [_list(cell, separator) for cell in columns[name]]
    for name in columns.keys() & set(flags) - set(lists):
        columns[name] = [_flag(cell) for cell in columns[name]]
    return replace(rows, columns=columns)


def _list(cell: object, separator: str | None) -> object:
    if not isinstance(cell, str):
        return cell
    if cell.lstrip().startswith("["):
        try:
            values: object = json.loads(cell)
        except (ValueError, RecursionError):
            return Unread()
        return values
    if separator is None or separator not in cell:
        return cell
    return [part.strip() for part in cell.split(separator)]


def _flag(cell: object) -> object:
    return {"true": True, "false": False}.get(cell.casefold(), cell) if isinstance(cell, str) else cell
