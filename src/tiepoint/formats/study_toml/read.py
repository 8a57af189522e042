"""Reads study.toml and finds everything that is wrong with it in one pass."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from tiepoint.core.rows import utf8_text
from tiepoint.errors import InputError, Problem, did_you_mean
from tiepoint.formats.study_toml.lines import Key, TomlLines
from tiepoint.formats.study_toml.rules import crossed
from tiepoint.formats.study_toml.spec import CandidateTable, StudySpec

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SENTENCES = {
    "string_type": "must be a text in quotes",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must not be empty",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "too_short": "must not be empty",
    "dict_type": "must be a table",
    "model_type": "must be a table",
}
BOUNDS = {
    "greater_than_equal": ("ge", "must be at least"),
    "greater_than": ("gt", "must be more than"),
    "less_than_equal": ("le", "must be at most"),
    "less_than": ("lt", "must be less than"),
}


@dataclass(frozen=True, slots=True)
class StudyFile:
    """study.toml as read.

    path       the file
    spec       what it says; where something is wrong with a key, the key's default stands there
    problems   everything that is wrong with it, each with its line; a study is sound only when there is none
    lines      where each table and key stands
    sha256     of the file's bytes, in hexadecimal
    """

    path: Path
    spec: StudySpec
    problems: tuple[Problem, ...]
    lines: TomlLines
    sha256: str

    def where(self, *key: str | int) -> str:
        """`study.toml, line 12, [corpus] acl`."""
        return self.lines.where(self.path.name, *key)


def read_study_toml(path: Path) -> StudyFile:
    """What study.toml says, with every problem in it.

    raises   InputError where it cannot be read at all: not UTF-8 (byte offset), not TOML (line)
    """
    raw = path.read_bytes()
    text = utf8_text(raw, name=path.name)
    try:
        said = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(
            f"{path.name} is not TOML: {error}", where=str(path), fix="correct the line; see https://toml.io"
        ) from None
    lines = TomlLines.scan(text)
    problems: list[Problem] = []
    sound: Mapping[str, object] = said
    while True:
        try:
            spec = StudySpec.model_validate(sound)
        except ValidationError as error:
            found = error.errors(include_url=False)
            problems += [_problem(detail, lines, path.name) for detail in found]
            sound = _without(sound, [detail["loc"] for detail in found])
        else:
            break
    problems += crossed(spec, said, lines, path.name)
    problems.sort(key=lambda problem: _line_in(problem.where))
    return StudyFile(path, spec, tuple(problems), lines, hashlib.sha256(raw).hexdigest())


def _without(document: Mapping[str, object], keys: Iterable[Key]) -> dict[str, object]:
    """The document without the keys that are wrong; a candidate with a wrong key is left out whole."""
    kept = {name: dict(content) if isinstance(content, dict) else content for name, content in document.items()}
    entries: dict[str, set[int]] = {}
    for key in keys:
        table, below = str(key[0]), key[1] if len(key) > 1 else None
        content = kept.get(table)
        if isinstance(below, int):
            entries.setdefault(table, set()).add(below)
        elif isinstance(content, dict) and below is not None:
            content.pop(below, None)
        else:
            kept.pop(table, None)
    for table, dropped in entries.items():
        content = kept.get(table)
        if isinstance(content, list):
            kept[table] = [entry for i, entry in enumerate(content) if i not in dropped]
    return kept


def _problem(detail: ErrorDetails, lines: TomlLines, name: str) -> Problem:
    """One finding of pydantic in our words: what, the line, what to do."""
    key, kind = detail["loc"], detail["type"]
    where = lines.where(name, *key)
    last = key[-1]
    if kind == "extra_forbidden":
        known = list(_table_at(key[:-1]).model_fields)
        table = "tables" if len(key) == 1 else "keys"
        hint = did_you_mean(str(last), known) or f"{table} here: {', '.join(known)}"
        return Problem(f"unknown {table[:-1]} {str(last)!r}", where, hint)
    label = f"{key[-2]} (item {last + 1})" if isinstance(last, int) and len(key) > 2 else str(last)
    if kind == "missing":
        return Problem(f"{label} is missing", where, f"state {label}")
    given, context = detail["input"], detail.get("ctx", {})
    shown = _toml(given)
    if kind == "value_error":
        return Problem(f"{label} {context['error']}", where, f"correct {label}")
    if kind == "literal_error":
        fix = (did_you_mean(given, _choices(context)) if isinstance(given, str) else "") or f"correct {label}"
        return Problem(f"{label} must be {context['expected']}; is {shown}", where, fix)
    if kind in BOUNDS:
        bound, sentence = BOUNDS[kind]
        return Problem(f"{label} {sentence} {context[bound]}; is {shown}", where, f"correct {label}")
    if key == ("candidate",):
        return Problem("candidates stand each in a table of their own", where, "write [[candidate]] in double brackets")
    return Problem(f"{label} {SENTENCES.get(kind, detail['msg'])}; is {shown}", where, f"correct {label}")


def _choices(context: Mapping[str, object]) -> list[str]:
    return [choice.strip("' ") for choice in str(context["expected"]).replace(" or ", ", ").split(",")]


def _table_at(key: Key) -> type[BaseModel]:
    """The model of the table at this key."""
    table: type[BaseModel] = StudySpec
    for part in key:
        if part == "candidate":
            table = CandidateTable
        elif isinstance(part, str) and isinstance(kind := table.model_fields[part].annotation, type):
            table = kind
    return table


def _toml(value: object) -> str:
    """A value as study.toml writes it, short."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 40 else f'"{value[:40]}..."'
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    return str(value)


def _line_in(where: str) -> int:
    _, _, rest = where.partition("line ")
    digits = rest.split(",")[0].split(" ")[0]
    return int(digits) if digits.isdigit() else 0
