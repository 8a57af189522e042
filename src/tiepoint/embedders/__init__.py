"""Embedders: one file per provider, found by its file name. Adding one is writing one file.

Each file has the same three parts, in this order: the option keys it knows (`OPTIONS`), the packages that it imports (`NEEDS`)
and what pip is told to install them (`INSTALL`); a class that is an Embedder; and the functions that open it (`embedder`)
and that say which candidates are ready on this machine (`installed`).
Nothing heavy is imported before an Embedder's load().
"""

from __future__ import annotations

import pkgutil
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from tiepoint.core.candidate import RUN, Candidate
from tiepoint.encoding.embedder import Embedder
from tiepoint.errors import InputError, Problem, did_you_mean, some

VECTORS = "vectors"
"""The embedder name of vectors made elsewhere: they are read, not encoded, so no file here makes them."""


class Provider(Protocol):
    """What a file of this folder offers."""

    OPTIONS: Collection[str]
    NEEDS: Collection[str]
    INSTALL: str

    def embedder(self, candidate: Candidate, *, folder: Path, threads: int) -> Embedder:
        """Open a candidate without loading its model. Raises InputError or NotInstalled."""

    def installed(self) -> list[Candidate]:
        """Candidates that are ready on this machine without another word; empty where none is."""


def embedder_names() -> list[str]:
    """Every name that a study may use, sorted."""
    return sorted([*live_names(), VECTORS, RUN])


def live_names() -> list[str]:
    """The embedders that make vectors: one for each file here, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def open_embedder(candidate: Candidate, *, folder: Path, threads: int) -> Embedder:
    """The embedder of a candidate, opened and not loaded.

    folder    the study's: relative paths and its own modules are found from here
    threads   0: all
    raises    InputError for an unknown embedder or option, a missing file, a contract that is not whole or contradicts the
              model; NotInstalled where a package is missing
    """
    names = embedder_names()
    where = f"candidate {candidate.id!r}"
    name = candidate.embedder.replace("-", "_")  # sentence-transformers is written either way
    if name not in names:
        hint = did_you_mean(candidate.embedder, names) or f"known are {some(names)}"
        raise InputError(f"there is no embedder {candidate.embedder!r}", where=where, fix=hint)
    if name in (VECTORS, RUN):
        raise InputError("what was made elsewhere is read, not opened", where=where, fix="use open_candidates")
    provider = provider_of(name)
    check_options(candidate, provider.OPTIONS)
    return provider.embedder(candidate, folder=folder, threads=threads)


def check_options(candidate: Candidate, known: Collection[str]) -> None:
    """Raise InputError naming every option of a candidate that its embedder does not know."""
    unknown = [name for name in candidate.options if name not in known]
    if unknown:
        where = f"options of candidate {candidate.id!r}"
        knows = f"known are {some(sorted(known))}" if known else "it takes no options"
        raise InputError(
            problems=[
                Problem(
                    f"the embedder {candidate.embedder} has no option {name!r}",
                    where,
                    did_you_mean(name, known) or knows,
                )
                for name in unknown
            ]
        )


def installed_candidates() -> list[Candidate]:
    """Candidates that are ready on this machine, for `tiepoint init`, in the order of the embedders' names."""
    return [c for name in live_names() for c in provider_of(name).installed()]


def provider_of(name: str) -> Provider:
    """The file of a live embedder."""
    return cast(Provider, import_module(f"{__name__}.{name}"))
