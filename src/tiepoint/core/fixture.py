"""The strict fixture: a few items and questions in several spaces, held by hand. Everything in it has been checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from tiepoint.core.contract import Contract, Role
from tiepoint.core.ids import content_hash

NORM_TOLERANCE = 1e-6
"""How far the norm of a normalised vector may lie from 1 in a fixture; a contract may state less, never more."""


def plain_norm(vector: Iterable[float]) -> float:
    """The root of the plain float64 sum of squares, from the first number to the last; infinite where it overflows."""
    total = 0.0
    for (
        number
    ) in vector:  # never sum(): from Python 3.12 on it compensates, and the last bit would depend on the version
        total += number * number
    return math.sqrt(total)


@dataclass(frozen=True)
class FixtureItem:
    """One item in one space.

    role             query or document; how its space calls that stands in the contract
    text             as written
    vector           float64, as many as the contract's dimension; its norm is finite and not 0
    acl              groups that may read it, in ascending order
    """

    item_id: str
    space_id: str
    role: Role
    text: str
    vector: tuple[float, ...]
    acl: tuple[str, ...]
    source_revision: str

    @cached_property
    def content_sha256(self) -> str:
        """Of the text after LF and NFC, in hexadecimal."""
        return content_hash(self.text).hex()

    @cached_property
    def norm(self) -> float:
        """The length of the vector (plain_norm)."""
        return plain_norm(self.vector)

    @property
    def canon(self) -> tuple[str, str, tuple[str, ...], str]:
        """What must be equal in two spaces: role, content hash, acl, source revision. The vector is not part of it."""
        return (self.role, self.content_sha256, self.acl, self.source_revision)


@dataclass(frozen=True, slots=True)
class FixtureSpace:
    """A contract and its items, in ascending id order."""

    contract: Contract
    items: tuple[FixtureItem, ...]

    def of_role(self, role: Role) -> tuple[FixtureItem, ...]:
        """The items of one role, in ascending id order."""
        return tuple(item for item in self.items if item.role == role)


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its judgements.

    query_item_id    the item that is asked, in every space
    subject_groups   who asks; empty: finds nothing
    relevance        document to its grade, 1 to 3; never empty in a file
    subgroups        the names under which its figures are also reported, in ascending order
    """

    case_id: str
    query_item_id: str
    subject_groups: frozenset[str]
    relevance: Mapping[str, int]
    subgroups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fixture:
    """Spaces in ascending space_id and cases in ascending case_id, by the byte order of UTF-8."""

    spaces: tuple[FixtureSpace, ...]
    cases: tuple[Case, ...]
