"""JSON lines, strictly: one object a line, UTF-8, no key twice, no NaN; read line by line, whatever the file's size."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tiepoint.core.rows import BOM, Rows
from tiepoint.errors import InputError, Problem, some


class _BadLineError(ValueError):
    """Why one line cannot be read."""


FIXES = {
    "are not UTF-8": "save the file as UTF-8",
    "are not JSON": "write one JSON object on each line",
    "are not a JSON object": 'write {"name": value, ...} on each line',
    "have one key twice in one object": "keep one of them; the last does not win",
    "hold NaN or Infinity, which are not JSON": "use null for what is not known",
    "hold half of a surrogate pair": "write the character itself, or both halves",
    "are blank": "remove blank lines between rows",
}


def read_jsonl(path: Path, *, columns: Collection[str] | None = None, name: str | None = None) -> Rows:
    r"""Every row of the file, in the columns asked for.

    columns   only these are kept; None: all
    name      what messages call the file; None: its file name
    returns   Rows; blank lines after the last row are passed over
    raises    InputError with every bad line: not UTF-8 (with byte offsets), not JSON, no object, a key twice at any
              depth, NaN or Infinity, half a surrogate pair, a blank line between rows
    """
    name = name or path.name
    reader = _Reader(None if columns is None else frozenset(columns))
    with path.open("rb") as file:
        reader.read(file)
    if reader.bad:
        raise InputError(problems=list(reader.problems(name)))
    form = f"{name}: JSON lines, {'UTF-8 with BOM' if reader.bom else 'UTF-8'}"
    return Rows(name, form, reader.columns, reader.seen, reader.lines, reader.digest.hexdigest())


@dataclass(slots=True)
class _Reader:
    """What has been read so far, and which lines could not be."""

    wanted: frozenset[str] | None
    bom: bool = False
    columns: dict[str, list[object]] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    bad: dict[str, list[str]] = field(default_factory=dict)
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def read(self, file: Iterator[bytes]) -> None:
        """Take every line of an open file."""
        offset = 0
        blank: list[int] = []
        for number, raw in enumerate(file, 1):
            self.digest.update(raw)
            line = raw
            if number == 1 and raw.startswith(BOM):
                self.bom, line = True, raw[len(BOM) :]
            if not line.strip():
                blank.append(number)
            else:
                for earlier in blank:
                    self._refuse("are blank", str(earlier))
                blank.clear()
                self._take(line, number, offset + len(raw) - len(line))
            offset += len(raw)

    def _take(self, line: bytes, number: int, offset: int) -> None:
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            self._refuse("are not UTF-8", f"{number:,} (byte offset {offset + error.start:,})")
            return
        try:
            self._keep(_parse(text), number)
        except _BadLineError as error:
            self._refuse(str(error), f"{number:,}")

    def _refuse(self, why: str, line: str) -> None:
        self.bad.setdefault(why, []).append(line)

    def _keep(self, row: dict[str, object], number: int) -> None:
        for key, value in row.items():
            self.seen[key] = self.seen.get(key, 0) + 1
            if self.wanted is None or key in self.wanted:
                column = self.columns.setdefault(key, [])
                column.extend([None] * (len(self.lines) - len(column)))
                column.append(value)
        self.lines.append(number)
        for column in self.columns.values():
            if len(column) < len(self.lines):
                column.append(None)

    def problems(self, name: str) -> Iterator[Problem]:
        """One problem for each kind of bad line."""
        for why, lines in self.bad.items():
            yield Problem(f"{name} has lines that {why} ({len(lines):,})", f"{name}, lines {some(lines)}", FIXES[why])


def _parse(text: str) -> dict[str, object]:
    try:
        row = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_number)
    except _BadLineError:
        raise
    except (ValueError, RecursionError):
        raise _BadLineError("are not JSON") from None
    if not isinstance(row, dict):
        raise _BadLineError("are not a JSON object")
    if "\\ud" in text.casefold() and any("\ud800" <= c <= "\udfff" for c in json.dumps(row, ensure_ascii=False)):
        raise _BadLineError("hold half of a surrogate pair")
    return row


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise _BadLineError("have one key twice in one object")
    return row


def _constant(_: str) -> float:
    raise _BadLineError("hold NaN or Infinity, which are not JSON")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _BadLineError("hold NaN or Infinity, which are not JSON")
    return value
