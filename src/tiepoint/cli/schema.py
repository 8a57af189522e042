"""tiepoint schema: the JSON Schemas of what bench and audit record."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tiepoint.core.audit import AuditSummary
from tiepoint.core.result import Conditions, Summary
from tiepoint.formats import result_json


class Recorded(StrEnum):
    """The documents that have a schema."""

    result = "result"
    conditions = "conditions"
    audit = "audit"


def schema(document: Annotated[Recorded, typer.Argument(help="Which document.")]) -> None:
    """Print the JSON Schema of result.json, conditions.json or audit.json. The installed package holds all, under schemas/.

    Example: tiepoint schema result
    """
    match document:
        case Recorded.result:
            text = result_json.schema(Summary)
        case Recorded.conditions:
            text = result_json.schema(Conditions)
        case Recorded.audit:
            text = result_json.schema(AuditSummary)
    typer.echo(text, nl=False)
