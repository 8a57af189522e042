"""tiepoint init: a new study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tiepoint.embedders import installed_candidates
from tiepoint.workflows.init_study import init_study


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The study folder; made when it is not there.")],
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FOLDER", help="corpus, queries (.jsonl, .parquet, .csv, .tsv), qrels.tsv or qrels/*.tsv."
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option("--split", metavar="NAME", help="Read qrels/NAME.tsv of a BEIR folder; else test."),
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="Everybody may read every document.")] = False,
    acl: Annotated[
        str | None, typer.Option("--acl", metavar="COLUMN", help="The documents' column of groups that may read.")
    ] = None,
) -> None:
    """Write a commented study.toml, with the installed embedders as candidates. Data stay where they lie.

    Say exactly one of --public and --acl. Of a BEIR folder with several splits one is read, test unless --split names
    another; to read several, make path under [qrels] a list.

    Example: tiepoint init county-archive --from data/county --acl groups
    """
    report = init_study(folder, source=source, public=public, acl=acl, split=split, suggestions=installed_candidates())
    for note in report.notes:
        typer.echo(note)
    first = "" if report.loads else "put the files there, then "
    typer.echo(f"Wrote {', '.join(report.written)} in {report.folder}. Next: {first}tiepoint bench {report.folder}")
