"""What the study's questions can settle, before the run. The owner's own: it obeys no [report] readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

POWER_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How the paired differences between the cheapest candidate and another are supposed to lie.

    source      measured, stated or assumed
    sentence    where it comes from, in words
    arms        candidates that are walked
    sd          standard deviation of the difference on a query, around its mean; of several others the widest
    unequal     share of the queries on which the two differ; of the same pair
    """

    source: str
    sentence: str
    arms: int
    sd: float
    unequal: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """With so many independent queries, in clusters like the study's: the chance that the rule decides, and decides what the
    true means ask for.
    """

    clusters: int
    decides: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """One spread and what it takes.

    rows             by number of independent queries (clusters), the study's own number among them
    own              the chance at the study's own number; None: no query decides, or no such population
    needed           roughly the least number that decides rightly four times in five; None: not even a million
    shown_inside     the largest true loss that the study's own number still shows inside the gap four times in five; None:
                     not even a loss of 0
    shown_outside    the least true loss that it shows outside the gap four times in five; None: none that is possible
    furthest         the largest true difference that is possible under this spread, either way
    """

    spread: Spread
    rows: tuple[Row, ...]
    own: Row | None
    needed: int | None
    shown_inside: float | None
    shown_outside: float | None
    furthest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOutlook:
    """A subgroup or region that is to decide alone, in the rule's slice.

    kind       subgroup or region
    clusters   its independent scored queries that decide
    least      below so many, in clusters like its own, nothing is decided; None: no number would do
    needed     see Outlook; in clusters like its own
    own        see Outlook
    """

    kind: str
    name: str
    clusters: int
    least: int | None
    needed: int | None
    own: Row | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What `tiepoint power --json` prints.

    queries, clusters   scored queries of the rule's slice, of the test split where splits are named, and the independent
                        ones among them
    largest_cluster     queries of the slice's largest cluster, of whatever split: the imagined one is as large
    least               below so many clusters like these nothing is decided; None: no number would do
    difference          how much every other candidate is truly ahead of the cheapest one
    outlooks            one for each spread; several only where the spread is assumed
    groups              under the first spread
    """

    schema_version: int
    study: str
    measure: str
    slice: str
    split: str | None
    gap: float
    confidence: float
    queries: int
    clusters: int
    largest_cluster: int
    least: int | None
    difference: float
    outlooks: tuple[Outlook, ...]
    groups: tuple[GroupOutlook, ...]
    notes: tuple[str, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)
