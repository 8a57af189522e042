"""Where each table and key of a TOML text stands: tomllib does not say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Key: TypeAlias = tuple[str | int, ...]
PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
PATH = rf"{PART}(?:\s*\.\s*{PART})*"
ARRAY = re.compile(rf"\s*\[\[\s*({PATH})\s*\]\]")
TABLE = re.compile(rf"\s*\[\s*({PATH})\s*\]")
ASSIGNMENT = re.compile(rf"\s*({PATH})\s*=")


@dataclass(frozen=True, slots=True)
class TomlLines:
    """Line of each table and key, from 1; an entry of an array of tables is found by its number, from 0."""

    line: Mapping[Key, int]

    @classmethod
    def scan(cls, text: str) -> TomlLines:
        """Lines of a text that is TOML (a text between triple quotes is passed over)."""
        line: dict[Key, int] = {}
        entries: dict[str, int] = {}
        table: Key = ()
        quote = ""
        for number, content in enumerate(text.split("\n"), 1):
            if not quote:
                table = _open(content, table, entries)
                if match := ASSIGNMENT.match(content):
                    parts = _parts(match[1])
                    for end in range(1, len(parts) + 1):
                        line.setdefault((*table, *parts[:end]), number)
                else:
                    line.setdefault(table[:1], number)
                    line.setdefault(table, number)
            quote = _still_open(content, quote)
        return cls(line)

    def of(self, *key: str | int) -> int | None:
        """The line of a key; of its table where the key is not found; None where that is not found either."""
        for end in range(len(key), 0, -1):
            if (number := self.line.get(key[:end])) is not None:
                return number
        return None

    def where(self, name: str, *key: str | int) -> str:
        """`study.toml, line 12, [corpus] acl`; entries of arrays are numbered from 1 where people read it."""
        number = self.of(*key)
        shown = [str(part + 1) if isinstance(part, int) else part for part in key]
        if len(key) > 1 and isinstance(key[1], int):
            shown[:2] = [f"{key[0]} {key[1] + 1}"]
        place = f", [{shown[0]}] {'.'.join(shown[1:])}".rstrip() if shown else ""
        return f"{name}{'' if number is None else f', line {number}'}{place}"


def _open(content: str, table: Key, entries: dict[str, int]) -> Key:
    """The table that is open after this line."""
    if match := ARRAY.match(content):
        parts = _parts(match[1])
        name = ".".join(parts)
        entries[name] = entries.get(name, -1) + 1
        return (*parts, entries[name])
    if match := TABLE.match(content):
        parts = _parts(match[1])
        inside = parts[0] in entries
        return (parts[0], entries[parts[0]], *parts[1:]) if inside else tuple(parts)
    return table


def _parts(path: str) -> list[str]:
    return [part[1:-1] if part[0] in "\"'" else part for part in re.findall(PART, path)]


def _still_open(content: str, quote: str) -> str:
    """The triple quote that is open at the end of this line; an empty text for none."""
    rest = content
    while True:
        if quote:
            _, found, rest = rest.partition(quote)
            if not found:
                return quote
            quote = ""
        starts = [(rest.find(mark), mark) for mark in ('"""', "'''") if mark in rest]
        if not starts:
            return ""
        at, quote = min(starts)
        if "#" in rest[:at]:
            return ""
        rest = rest[at + 3 :]
