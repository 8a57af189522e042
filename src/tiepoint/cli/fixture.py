"""tiepoint fixture: the strict fixture that comes with the package, to look at and to change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from tiepoint.errors import InputError
from tiepoint.workflows.fixture.file import write_fixture

POSITIVE = re.compile("0*[1-9][0-9]{0,999}")


def cutoff(text: str) -> int:
    """The k of a fixture's audit; what is no positive integer is refused in the words of every other refusal of a fixture."""
    if not POSITIVE.fullmatch(text):
        raise InputError(f"query: k must be a positive integer, is {ascii(text)[:60]}", where="--k", fix="--k 3")
    return int(text)


def fixture(path: Annotated[Path, typer.Argument(help="A file that is not there yet.")]) -> None:
    """Write the bundled fixture: two small spaces held by hand. It shows what an audit sees; no model made its vectors.

    Exit codes: 0 written, 2 something stands there already and nothing was changed.

    Example: tiepoint fixture fixture.json
    """
    write_fixture(path)
    typer.echo(f"Wrote {path}. Next: tiepoint audit --fixture {path}")
