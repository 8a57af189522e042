"""What a model on this machine brings with it: its files, their hashes, a contract held against the study's claims."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract
from tiepoint.errors import InputError, NotInstalled, Problem


def package_folder(name: str, *, install: str) -> Path:
    """Where an installed package lies. It is found, not imported, so this is cheap and runs nothing.

    name      a top-level import name
    install   what pip is told where it is missing
    raises    NotInstalled
    """
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise NotInstalled(f"the package {name} is not installed", fix=f"pip install {install}")
    return Path(next(iter(spec.submodule_search_locations)))


def sha256_of(*paths: Path) -> str:
    """`sha256:<hex>` of the bytes of files, one after the other: a revision that nobody can move."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def agreed(contract: Contract, candidate: Candidate) -> Contract:
    """The contract that a packaged model brings, once the study has been heard.

    A study may repeat fields and may not contradict them.
    raises   InputError naming every contradiction
    """
    wrong = contract.contradictions(candidate.claims)
    if wrong:
        where = f"contract of candidate {candidate.id!r}"
        fix = "remove the field from the contract: the packaged model brings its own"
        raise InputError(problems=[Problem(sentence, where, fix) for sentence in wrong])
    return contract
