"""result.json, conditions.json and audit.json: the frozen values of core/result.py and core/audit.py as JSON and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

from pydantic import TypeAdapter, ValidationError

from tiepoint.core.audit import AUDIT_VERSION, AuditSummary
from tiepoint.core.check import Check
from tiepoint.core.comparison import Comparison
from tiepoint.core.dry_run import DryRun
from tiepoint.core.power import Power
from tiepoint.core.result import SCHEMA_VERSION, Conditions, Summary
from tiepoint.core.shown import Part, SideBySide
from tiepoint.errors import InputError, Problem

Document = TypeVar("Document", Summary, Conditions, AuditSummary)
Kind: TypeAlias = type[Summary] | type[Conditions] | type[AuditSummary]
NAMES: Mapping[Kind, str] = {Summary: "result", Conditions: "conditions", AuditSummary: "audit"}
VERSIONS: Mapping[Kind, int] = {Summary: SCHEMA_VERSION, Conditions: SCHEMA_VERSION, AuditSummary: AUDIT_VERSION}


def dump(
    document: Summary | Conditions | AuditSummary | Part | SideBySide | Comparison | Check | DryRun | Power,
) -> bytes:
    """UTF-8 JSON, indented, without NaN: what is unknown is null."""
    return TypeAdapter(type(document)).dump_json(document, indent=2) + b"\n"


def parse(kind: type[Document], text: bytes, *, where: str) -> Document:
    """Read a document back.

    kind     Summary, Conditions or AuditSummary
    raises   InputError when it is not JSON, of another schema version, or does not fit the schema (every place named)
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InputError("not a JSON document", where=where, fix="was the file changed by hand?") from error
    version = found.get("schema_version") if isinstance(found, dict) else None
    if version != VERSIONS[kind]:
        raise InputError(
            f"schema version {version!r}, this tiepoint reads {VERSIONS[kind]}",
            where=where,
            fix="run it again",
        )
    try:
        read: Document = TypeAdapter(kind).validate_json(text)
    except ValidationError as error:
        problems = [Problem(e["msg"], f"{where}, {'.'.join(map(str, e['loc']))}") for e in error.errors()]
        raise InputError(problems=problems) from error
    return read


def schema(kind: type[Document]) -> str:
    """The JSON Schema of a document, as text: every key is written, and no other may stand there.

    The published ones lie in `tiepoint/schemas/`; a test says when they are stale.
    """
    found: dict[str, Any] = TypeAdapter(kind).json_schema(mode="serialization")
    for part in (found, *found.get("$defs", {}).values()):
        if "properties" in part:
            part.update(additionalProperties=False, required=sorted(part["properties"]))
    found["properties"]["schema_version"] = {"const": VERSIONS[kind], "title": "Schema Version"}
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tiepoint:{NAMES[kind]}:{VERSIONS[kind]}",
    }
    return json.dumps(head | found, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
