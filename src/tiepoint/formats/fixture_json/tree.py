"""Bytes to a tree of JSON values, strictly: no key twice, no NaN, nothing that overflows, half a character or too deep."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from tiepoint.core.rows import utf8_text
from tiepoint.errors import InputError
from tiepoint.formats.fixture_json.findings import Findings, shown

DEEPEST = 32
"""So deep may lists and objects stand in one another; a fixture needs four levels."""
DIGITS = 400
"""An integer of more digits lies beyond float64."""

SOUND = frozenset({float, int, bool, type(None)})
EMPTY = frozenset({list, dict})
HALF = re.compile("[\ud800-\udfff]")

Path: TypeAlias = tuple[()] | tuple["Path", str | int]
"""A place from its last step back to the top level: written out only where something is wrong."""


class _Unsound:
    """What stands in the tree for a number that is none."""


class _Repeated(dict[str, object]):
    """An object in which keys stand more than once: every key with how often it stands there."""

    counts: Counter[str]


def parse_tree(raw: bytes, found: Findings) -> object:
    """The JSON value of a whole file. What is wrong is noted under the layer "file"; the value is then not to be used."""
    try:
        text = utf8_text(raw, name=found.name)
    except InputError as error:
        (problem,) = error.problems
        place = problem.where.removeprefix(f"{found.name}, ")
        found.add("file", problem.what.removeprefix(f"{found.name} "), place=place, fix=problem.fix)
        return None
    try:
        tree: object = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno:,}, column {error.colno:,}"
        found.add("file", f"is not JSON: {error.msg}", place=place, fix="write one JSON object")
        return None
    except RecursionError:
        _too_deep(found)
        return None
    for path, value, depth in _walk(tree):
        if depth > DEEPEST:
            _too_deep(found)
            return None
        _judge(path, value, found)
    return tree


def _walk(tree: object) -> Iterator[tuple[Path, object, int]]:
    """Every value that may be unsound, or hold what is, with its path and depth, in the order of the file."""
    waiting: list[tuple[Path, object, int]] = [((), tree, 0)]
    while waiting:
        path, value, depth = waiting.pop()
        yield path, value, depth
        if depth > DEEPEST:
            return
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        inner = [((path, key), v, depth + 1) for key, v in pairs if not _plain(v)]
        inner.reverse()
        waiting += inner


def _plain(value: object) -> bool:
    """True for what cannot be unsound; most of a fixture is numbers."""
    of = type(value)
    return of in SOUND or (of is str and not HALF.search(str(value))) or (of in EMPTY and not value)


def _place(path: Path) -> str:
    """`items[3].vector[2]`."""
    steps: list[str] = []
    while path:
        path, key = path
        plain = isinstance(key, str) and key.isidentifier() and key.isascii()
        steps.append(f".{key}" if plain else f"[{json.dumps(key[:60] if isinstance(key, str) else key)}]")
    return "".join(reversed(steps)).lstrip(".") or "the top level"


def _judge(path: Path, value: object, found: Findings) -> None:
    if isinstance(value, _Repeated):
        for key, count in value.counts.items():
            if count > 1:
                what = "one key stands more than once in one object"
                place = f"{_place(path)}: {shown(key)}"
                found.add("file", what, place=place, fix="keep one of them; the last does not win")
    elif isinstance(value, _Unsound):
        what = "a number is NaN, infinite or beyond float64"
        found.add("file", what, place=_place(path), fix="write a finite number")
    texts = value if isinstance(value, dict) else [value] if isinstance(value, str) else ()
    if any(map(HALF.search, texts)):
        found.add("file", "a text holds half of a surrogate pair", place=_place(path), fix="write the character itself")


def _too_deep(found: Findings) -> None:
    found.add("file", "is nested too deep to be read", fix=f"lists and objects stand at most {DEEPEST} deep")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    whole = dict(pairs)
    if len(whole) == len(pairs):
        return whole
    repeated = _Repeated(whole)
    repeated.counts = Counter(key for key, _ in pairs)
    return repeated


def _constant(_: str) -> _Unsound:
    return _Unsound()


def _float(text: str) -> float | _Unsound:
    value = float(text)
    return value if math.isfinite(value) else _Unsound()


def _int(text: str) -> int | _Unsound:
    if len(text) > DIGITS:
        return _Unsound()
    value = int(text)
    try:
        float(value)
    except OverflowError:
        return _Unsound()
    return value
