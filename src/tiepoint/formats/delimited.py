"""CSV and TSV with quoting, strictly: a header, everything text, no ragged row, no open quote."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tiepoint.core.rows import Rows, encoding_name, utf8_text
from tiepoint.errors import InputError, Problems, some


def read_delimited(path: Path, *, separator: str | None = None, name: str | None = None) -> Rows:
    r"""Every row of a CSV or TSV file; every value is the text that stands there (`007`, `NA`, an empty text).

    separator   None: a tab for .tsv and .tab, else a comma
    name        what messages call the file; None: its file name
    raises      InputError with every bad row: another number of values than the header, a quote never closed,
                text after a closing quote; a header with empty or repeated names; not UTF-8
    """
    name = name or path.name
    separator = separator or ("\t" if path.suffix.lower() in {".tsv", ".tab"} else ",")
    raw = path.read_bytes()
    rows = _rows(utf8_text(raw, name=name), separator, name)
    header = rows.pop(0)[1] if rows else []
    _check(header, rows, name)
    kind = {",": "comma-separated", "\t": "tab-separated"}.get(separator, f"separated by {separator!r}")
    form = f"{name}: {kind} with a header, {encoding_name(raw)}"
    columns = {column: [values[i] for _, values in rows] for i, column in enumerate(header)}
    seen = dict.fromkeys(header, len(rows))
    return Rows(name, form, columns, seen, [line for line, _ in rows], hashlib.sha256(raw).hexdigest())


def _rows(text: str, separator: str, name: str) -> list[tuple[int, list[str]]]:
    """(first line of the row, its values), blank lines at the end left off."""
    reader = csv.reader(_lines(text), delimiter=separator, strict=True)
    found: list[tuple[int, list[str]]] = []
    while True:
        start = reader.line_num + 1
        try:
            values = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            raise InputError(
                f"{name}: a row cannot be read ({error})",
                where=f"{name}, line {start}",
                fix='close every quote, and write a quote inside a quoted value as ""',
            ) from None
        found.append((start, values))
    while found and not found[-1][1]:
        found.pop()
    return found


def _lines(text: str) -> Iterator[str]:
    """Lines ended by LF, CR LF kept: other characters that Unicode calls line ends belong to a value."""
    return (line + "\n" for line in text.removesuffix("\n").split("\n"))


def _check(header: list[str], rows: list[tuple[int, list[str]]], name: str) -> None:
    problems = Problems()
    if not header:
        problems.add(f"{name} is empty", where=name, fix="write a header and one row for each region")
    if any(not column.strip() for column in header):
        problems.add(f"{name}: the header has a column without a name", where=f"{name}, line 1", fix="name it")
    if repeated := [column for column, count in Counter(header).items() if count > 1]:
        problems.add(
            f"{name}: columns named twice: {some(repeated)}", where=f"{name}, line 1", fix="rename one of them"
        )
    if ragged := [line for line, values in rows if len(values) != len(header)]:
        count = "1 row has" if len(ragged) == 1 else f"{len(ragged):,} rows have"
        problems.add(
            f"{name}: {count} another number of values than the header ({len(header)})",
            where=f"{name}, lines {some(ragged)}",
            fix="quote values that hold the separator, and remove blank lines between rows",
        )
    problems.raise_if_any()
