"""What can make vectors here: every embedder, what installs it, and the candidates that are ready with their contracts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tiepoint import embedders
from tiepoint.core.candidate import RUN
from tiepoint.embedders import VECTORS, embedder_names, live_names, open_embedder, provider_of
from tiepoint.workflows.candidates import made_run, spaces

ELSEWHERE = {
    VECTORS: (
        "Vectors made elsewhere: .npy beside a text file of ids, or Parquet; the study states the contract.",
        spaces,
    ),
    RUN: ("Rankings made elsewhere, as TREC run files: measured beside the candidates, never chosen.", made_run),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCandidate:
    """A candidate that needs no other word: id, options as a study writes them, and its whole contract."""

    id: str
    options: Mapping[str, str | int | float | bool]
    contract: Mapping[str, object]
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderEntry:
    """One name that a study may write as `embedder`.

    says        what it is, in one sentence
    installed   True where every package that it imports is there
    missing     those that are not; install: what pip is told, None where there is nothing to install
    options     the option keys that it knows
    ready       candidates that are ready on this machine
    """

    name: str
    says: str
    installed: bool
    missing: tuple[str, ...]
    install: str | None
    options: tuple[str, ...]
    ready: tuple[ReadyCandidate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedders:
    """Every embedder, in the order of the names."""

    embedders: tuple[EmbedderEntry, ...]


def list_embedders() -> Embedders:
    """Look at what is installed. Files of packaged models are hashed for their contracts; no model is loaded."""
    live = frozenset(live_names())
    return Embedders(embedders=tuple(_live(name) if name in live else _elsewhere(name) for name in embedder_names()))


def _live(name: str) -> EmbedderEntry:
    provider = provider_of(name)
    missing = tuple(package for package in provider.NEEDS if find_spec(package) is None)
    return EmbedderEntry(
        name=name,
        says=_first_sentence(import_module(f"{embedders.__name__}.{name}").__doc__),
        installed=not missing,
        missing=missing,
        install=provider.INSTALL or None,
        options=tuple(sorted(provider.OPTIONS)),
        ready=() if missing else _ready(name),
    )


def _ready(name: str) -> tuple[ReadyCandidate, ...]:
    found = []
    for candidate in provider_of(name).installed():
        contract = open_embedder(candidate, folder=Path(), threads=0).contract
        found.append(
            ReadyCandidate(
                id=candidate.id,
                options=dict(candidate.options),
                contract=contract.stated(),
                signature=contract.signature(),
            )
        )
    return tuple(found)


def _elsewhere(name: str) -> EmbedderEntry:
    says, reader = ELSEWHERE[name]
    options = tuple(sorted(reader.OPTIONS))
    return EmbedderEntry(name=name, says=says, installed=True, missing=(), install=None, options=options)


def _first_sentence(text: str | None) -> str:
    return (text or "").split("\n\n")[0].replace("\n", " ")
