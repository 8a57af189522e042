"""tiepoint embedders: what can make vectors on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from tiepoint.workflows.embedders import EmbedderEntry, list_embedders

SHOWN = ("dimension", "metric", "normalized", "max_input_tokens", "truncation", "pooling", "revision")
"""The contract fields that the list prints; --json has all of them."""


def embedders(
    as_json: Annotated[bool, typer.Option("--json", help="Print the same as JSON, with whole contracts.")] = False,
) -> None:
    """List every embedder: installed or not, what installs it, and the contract of each candidate that is ready.

    Example: tiepoint embedders
    """
    found = list_embedders()
    if as_json:
        typer.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2))
        return
    typer.echo("\n".join(line for entry in found.embedders for line in _lines(entry)))


def _lines(entry: EmbedderEntry) -> Iterator[str]:
    state = "installed" if entry.installed else f"not installed: pip install {entry.install}"
    yield f"{entry.name}  ({state})"
    yield f"    {entry.says}"
    if entry.options:
        yield f"    options: {', '.join(entry.options)}"
    for ready in entry.ready:
        parts = [f"{name} {_plain(ready.contract.get(name))}" for name in SHOWN]
        yield f"    ready: {ready.id}: {', '.join(parts)}"


def _plain(value: object) -> str:
    if value is None:
        return "not stated"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return f"{text[:19]}..." if text.startswith("sha256:") else text
