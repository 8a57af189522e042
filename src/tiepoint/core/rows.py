"""Rows as a file gave them, in columns, before anybody judges what they mean; and what makes bytes text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tiepoint.errors import InputError

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Unread:
    """Stands for a cell that is no value of its column's kind, so that whoever checks the column refuses it."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of one file.

    name      the file as messages call it
    form      which form was read: `corpus.jsonl: JSON lines, UTF-8 with BOM`
    columns   the wanted columns that stand in the file: one raw value a row, None where a row has null or lacks it
    seen      every column of the file, wanted or not, and how many rows have it; a name that is not here is in no row
    lines     (rows,) the line of each row in the file, from 1; where `counted` is "rows", its number
    sha256    of the file's bytes, in hexadecimal
    cells     True: every value is the text of a cell, so that lists and true or false stand there as text
    counted   what `lines` counts, as messages say it: "lines" or "rows"
    """

    name: str
    form: str
    columns: Mapping[str, Sequence[object]]
    seen: Mapping[str, int]
    lines: Sequence[int]
    sha256: str
    cells: bool = False
    counted: Literal["lines", "rows"] = "lines"

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def sentence(self) -> str:
        """The form and the number of rows."""
        return f"{self.form}, {len(self):,} rows"


def utf8_text(raw: bytes, *, name: str) -> str:
    """The text of a whole file, a byte order mark at its beginning left off.

    raises   InputError with the byte offset and the line of the first byte that is not UTF-8
    """
    start = len(BOM) if raw.startswith(BOM) else 0
    try:
        return raw[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        offset = start + error.start
        line = raw[:offset].count(b"\n") + 1
        raise InputError(
            f"{name} is not UTF-8: the byte at offset {offset:,} cannot be read",
            where=f"{name}, line {line:,}",
            fix="save the file as UTF-8",
        ) from None


def encoding_name(raw: bytes) -> str:
    """`UTF-8 with BOM` or `UTF-8`, by the first bytes of a file."""
    return "UTF-8 with BOM" if raw.startswith(BOM) else "UTF-8"
