"""tiepoint demo: the study that comes with the package, to look at and to change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tiepoint.workflows.demo import write_demo


def demo(folder: Annotated[Path, typer.Argument(help="A folder that has no study yet; it is made.")]) -> None:
    """Write the demonstration study. It shows what tiepoint does; it is not evidence about the models.

    Example: tiepoint demo demo
    """
    written = write_demo(folder)
    typer.echo(f"Wrote {len(written)} files to {folder}. Next: tiepoint bench {folder}")
