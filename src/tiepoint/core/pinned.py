"""Revisions that nobody can move: what an audit may rest on."""

from __future__ import annotations

import re

from tiepoint.core.contract import Contract
from tiepoint.errors import Problem

MOVING = frozenset(
    {
        "main",
        "master",
        "head",
        "latest",
        "dev",
        "devel",
        "develop",
        "development",
        "trunk",
        "tip",
        "default",
        "current",
        "newest",
        "stable",
        "nightly",
        "edge",
        "next",
        "prod",
        "production",
        "staging",
        "any",
        "none",
        "null",
        "nil",
        "nan",
        "n/a",
        "na",
        "unknown",
        "unpinned",
        "unspecified",
        "tbd",
        "todo",
    }
)
"""Names that point at whatever is newest, or say that nobody knows, in lower case."""
BRANCH = re.compile(r"(?:refs/(?:heads|remotes)/|origin/|upstream/).*")
EMPTY = re.compile(r"[\W_]*")
RANGE = re.compile(r"[<>^~]|[*?]|\.x\b")
FIELDS = ("revision", "tokenizer_revision")


def is_pinned(revision: str) -> bool:
    """False for a revision that names a branch, a range, whatever is newest, or nothing: `main`, `refs/heads/x`, `1.*`, `-`."""
    plain = revision.strip().casefold()
    return not (plain in MOVING or EMPTY.fullmatch(plain) or BRANCH.fullmatch(plain) or RANGE.search(plain))


def unpinned(contract: Contract, where: str) -> list[Problem]:
    """A problem for each revision of a contract that is not pinned.

    where   which side it is and where its contract stands, for the message
    """
    return [
        Problem(
            f"{name} = {value!r} is not pinned: it names whatever is newest, or nothing",
            f"{where}, contract of {contract.space_id!r}",
            "state what cannot move: a commit, a dated release, or sha256:... of the model's file",
        )
        for name in FIELDS
        if (value := getattr(contract, name)) is not None and not is_pinned(value)
    ]
