"""result.json and conditions.json: the frozen values of core/result.py as strict JSON and back."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from tiepoint.core.result import SCHEMA_VERSION, Conditions, Summary
from tiepoint.errors import InputError, Problem

Document = TypeVar("Document", Summary, Conditions)


def dump(document: Summary | Conditions) -> bytes:
    """UTF-8 JSON, indented, without NaN: what is unknown is null."""
    text = (
        TypeAdapter(Summary).dump_json(document, indent=2)
        if isinstance(document, Summary)
        else TypeAdapter(Conditions).dump_json(document, indent=2)
    )
    return text + b"\n"


def parse(kind: type[Document], text: bytes, *, where: str) -> Document:
    """Read a document back.

    kind     Summary or Conditions
    raises   InputError when it is not JSON, of another schema version, or does not fit the schema (every place named)
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InputError("not a JSON document", where=where, fix="was the file changed by hand?") from error
    version = found.get("schema_version") if isinstance(found, dict) else None
    if version != SCHEMA_VERSION:
        raise InputError(
            f"schema version {version!r}, this tiepoint reads {SCHEMA_VERSION}",
            where=where,
            fix="run the benchmark again",
        )
    try:
        read: Document = TypeAdapter(kind).validate_json(text)
    except ValidationError as error:
        problems = [Problem(e["msg"], f"{where}, {'.'.join(map(str, e['loc']))}") for e in error.errors()]
        raise InputError(problems=problems) from error
    return read


def schema(kind: type[Document]) -> str:
    """The JSON Schema of a document, as text."""
    return json.dumps(TypeAdapter(kind).json_schema(mode="serialization"), indent=2, sort_keys=True) + "\n"
