"""tiepoint schema: the JSON Schemas of what bench records."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tiepoint.core.result import Conditions, Summary
from tiepoint.formats import result_json


class Recorded(StrEnum):
    """The documents that have a schema."""

    result = "result"
    conditions = "conditions"


def schema(document: Annotated[Recorded, typer.Argument(help="Which document.")]) -> None:
    """Print the JSON Schema of result.json or conditions.json. The installed package holds both, under schemas/.

    Example: tiepoint schema result
    """
    text = result_json.schema(Summary) if document is Recorded.result else result_json.schema(Conditions)
    typer.echo(text, nl=False)
