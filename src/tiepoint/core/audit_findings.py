"""What an audit finds in what the spaces hold and whom they show it: items, fields, vectors, provenance, permissions.

None means that it could not be measured; it is never 0 and never a pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Offenders:
    """How many there are, and the first of their ids in id order."""

    count: int = 0
    first: tuple[str, ...] = ()


NONE = Offenders()


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field of the two contracts that differs; None: not stated there."""

    field: str
    source: str | None
    target: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contracts:
    """Both contracts. comparable: their signatures are equal, so that vectors of one may be compared with the other's."""

    source_signature: str
    target_signature: str
    comparable: bool
    differences: tuple[FieldDifference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What one side holds.

    rows                 rows of the space, tombstones included; documents and queries: live items of each role
    duplicates           ids that stand in more than one live row of one role
    tombstones           items marked as deleted
    returned             live items that a tombstone of this side says were deleted (for the target: or one of the source), unless
                         the live row's version is later than the tombstone's
    watermark            the greatest version of a tombstone; None: there is none, or versions are not known
    wanted, encoded, cached, failed   the ledger of the encoding; None: nobody said, or the readers may not see every document
    closed               over every row: wanted = encoded + cached + failed, and live rows = encoded + cached; None: the ledger
                         is not whole
    bytes                live vectors times dimension times bytes per value
    """

    rows: int
    documents: int
    queries: int
    duplicates: Offenders
    tombstones: Offenders
    returned: Offenders
    watermark: str | None
    wanted: int | None
    encoded: int | None
    cached: int | None
    failed: int | None
    closed: bool | None
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Items both ways, from the rows themselves; an equal count proves nothing. An id under another role is shared."""

    source: Holding
    target: Holding
    only_source: Offenders
    only_target: Offenders
    shared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonField:
    """One field over all shared ids: role, content_hash, acl, source_revision, version.

    compared    ids where both sides state it; unknown: ids where either does not
    lost        of the unknown, ids where the source states it and the target does not
    """

    field: str
    compared: int
    unknown: int
    mismatches: Offenders
    lost: Offenders = NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Canon:
    """Whether the two sides hold the same things. match: equal wherever both sides state a field.

    A field that is unknown throughout stands with compared 0, and not_executed of the audit says so.
    """

    fields: tuple[CanonField, ...]
    match: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCheck:
    """One side's vectors against its contract, every row.

    shape, dtype       a sentence where they are not the contract's; None: they are
    not_finite, zero, off_norm   ids of live rows
    norm_min, norm_median, norm_max   None where no norm is a number
    shared_vector      items whose vector another item of another text has too
    split_text         items of one text and role that have several vectors (further apart than rounding)
    texts_known        False: no text and no content hash is known, so that the last two are None
    constant           dimensions with one value in every document (in every query where there are no documents)
    collapsed          dimensions whose spread is under a millionth of the largest one's, constant ones included
    """

    shape: str | None
    dtype: str | None
    not_finite: Offenders
    zero: Offenders
    off_norm: Offenders
    norm_min: float | None
    norm_median: float | None
    norm_max: float | None
    shared_vector: Offenders | None
    split_text: Offenders | None
    texts_known: bool
    constant: tuple[int, ...]
    collapsed: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """A part of the rows that was sampled by itself. elsewhere: sampled rows that are not in the declared space."""

    name: str
    rows: int
    sampled: int
    elsewhere: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """A random sample, embedded again by the contract's embedder: a label is a claim.

    sampled, elsewhere   rows compared, and rows whose vector is not the one that the embedder makes
    share, low, high     of rows not in the declared space, with the exact binomial interval at level; None: not executed
    unchecked            live rows whose text is not known: they may be elsewhere, so high counts them as if they all were, and
                         low as if none was
    agreement            the cosine under which a vector counts as another's
    reason               why it was not executed; None: it was
    """

    sampled: int = 0
    elsewhere: int = 0
    share: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    unchecked: int = 0
    agreement: float | None = None
    strata: tuple[Stratum, ...] = ()
    offenders: Offenders = NONE
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessTest:
    """One permission test on one side.

    name        what must hold, in words
    looked_at   rankings that were looked at
    broken      those that broke it, by the id of their query (where a group asks by itself: `group planning, query q1`)
    reason      why it was not executed; None: it was
    """

    name: str
    side: Literal["source", "target"]
    looked_at: int
    broken: Offenders
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The same permission tests on both sides."""

    tests: tuple[AccessTest, ...]
