"""CSV and TSV with quoting, strictly: a header, everything text, no ragged row, no open quote; read line by line."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tiepoint.core.rows import BOM, Rows
from tiepoint.errors import Problems, some

LONGEST = 2**31 - 1
"""Characters of a value; the reader of the standard library stops at 131,072 unless told otherwise."""
FORMS = {",": "comma-separated", "\t": "tab-separated"}
OTHERS = {";": '";"', "\t": '"\\t"', ",": '","', "|": '"|"'}
"""What else may part the columns of a file whose header reads as one, as study.toml writes it."""


def read_delimited(
    path: Path, *, columns: Collection[str] | None = None, separator: str | None = None, name: str | None = None
) -> Rows:
    r"""Every row of a CSV or TSV file; a value is the text that stands there (`007`, `NA`), an empty cell is None.

    columns     only these are kept; None: all
    separator   None: a tab for .tsv and .tab, else a comma
    name        what messages call the file; None: its file name
    returns     Rows of cells; blank lines after the last row are passed over
    raises      InputError with every bad row: not UTF-8 (with byte offsets), another number of values than the header,
                a quote never closed, text after a closing quote; a header with empty or repeated names, or none
    """
    name = name or path.name
    separator = separator or ("\t" if path.suffix.lower() in {".tsv", ".tab"} else ",")
    with path.open("rb") as file, _values_of_any_length():
        lines = _Lines(file)
        reader = _Reader(separator, None if columns is None else frozenset(columns))
        reader.read(lines)
    reader.check(lines, name)
    kind = FORMS.get(separator, f"separated by {separator!r}")
    form = f"{name}: {kind} with a header, {'UTF-8 with BOM' if lines.bom else 'UTF-8'}"
    seen = dict.fromkeys(reader.header, len(reader.lines))
    return Rows(name, form, reader.columns, seen, reader.lines, lines.digest.hexdigest(), cells=True)


@contextmanager
def _values_of_any_length() -> Iterator[None]:
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


@dataclass(slots=True)
class _Lines:
    """Lines of text ended by LF, CR LF kept: other characters that Unicode calls line ends belong to a value."""

    file: BinaryIO
    bom: bool = False
    bad: list[str] = field(default_factory=list)
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def __iter__(self) -> Iterator[str]:
        offset = 0
        for number, raw in enumerate(self.file, 1):
            self.digest.update(raw)
            start = 0
            if number == 1 and raw.startswith(BOM):
                self.bom, start = True, len(BOM)
            try:
                yield raw[start:].decode("utf-8")
            except UnicodeDecodeError as error:
                self.bad.append(f"{number:,} (byte offset {offset + start + error.start})")
                yield raw[start:].decode("utf-8", errors="replace")
            offset += len(raw)


@dataclass(slots=True)
class _Reader:
    """What has been read so far, and which rows could not be."""

    separator: str
    wanted: frozenset[str] | None
    header: list[str] = field(default_factory=list)
    columns: dict[str, list[object]] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    quotes: list[int] = field(default_factory=list)
    ragged: list[int] = field(default_factory=list)

    def read(self, lines: _Lines) -> None:
        """Take every row; a row that cannot be read costs no other."""
        rows = csv.reader(iter(lines), delimiter=self.separator, strict=True)
        blank: list[int] = []
        while True:
            start = rows.line_num + 1
            try:
                values = next(rows)
            except StopIteration:
                return
            except csv.Error:
                self.quotes.append(start)
                continue
            if not values:
                blank.append(start)
            elif not self.header and not self.quotes:
                self.header = values
                keep = [name for name in values if self.wanted is None or name in self.wanted]
                self.columns = {name: [] for name in keep}
            else:
                self.ragged += blank
                blank.clear()
                self._take(start, values)

    def _take(self, line: int, values: list[str]) -> None:
        if len(values) != len(self.header):
            self.ragged.append(line)
            return
        self.lines.append(line)
        for name, value in zip(self.header, values, strict=True):
            if name in self.columns:
                self.columns[name].append(value or None)

    def check(self, lines: _Lines, name: str) -> None:
        """Raise InputError with everything that is wrong."""
        problems = Problems()
        first = f"{name}, line 1"
        if lines.bad:
            problems.add(
                f"{name} has lines that are not UTF-8 ({len(lines.bad):,})",
                where=f"{name}, lines {some(lines.bad)}",
                fix="save the file as UTF-8",
            )
        if self.quotes:
            problems.add(
                f"{name} has rows with a quote that is never closed, or text after a closing quote ({len(self.quotes):,})",
                where=f"{name}, lines {some(self.quotes)}",
                fix='close every quote, write a quote inside a quoted value as "", and end lines with LF or CR LF',
            )
        elif not self.header:
            problems.add(f"{name} is empty", where=name, fix="write a header and one line for each row")
        if any(not column.strip() for column in self.header):
            problems.add(f"{name}: the header has a column without a name", where=first, fix="name it")
        if repeated := [column for column, count in Counter(self.header).items() if count > 1]:
            problems.add(f"{name}: columns named twice: {some(repeated)}", where=first, fix="rename one of them")
        if len(self.header) == 1 and (other := next((s for s in OTHERS if s in self.header[0]), None)):
            problems.add(
                f"{name}: the header reads as one column, {self.header[0][:60]!r}",
                where=first,
                fix=f"say what parts the columns: delimiter = {OTHERS[other]} in the table of study.toml that names the file",
            )
        elif self.ragged:
            count = "1 row has" if len(self.ragged) == 1 else f"{len(self.ragged):,} rows have"
            problems.add(
                f"{name}: {count} another number of values than the header ({len(self.header)})",
                where=f"{name}, lines {some(sorted(self.ragged))}",
                fix="quote values that hold the separator, and remove blank lines between rows",
            )
        problems.raise_if_any()
