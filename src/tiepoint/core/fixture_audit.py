"""What the audit of a fixture finds: each space by itself, then the first space against each other one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tiepoint.core.contract import Contract

NOTICE = (
    "Hand-authored vectors: they validate contracts and measures, not a model. All figures are at k: recall over the "
    "relevant documents, reciprocal rank 0 beyond k, nDCG with gain 2^grade - 1 and discount log2(rank + 1); means over "
    "queries. A move between spaces always needs a person's decision on quality."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Means over the queries that have the measure; None: none has."""

    queries: int
    recall: float | None
    rr: float | None
    ndcg: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFigures:
    """One question in one space.

    result_ids   the first k documents that its groups may read, best first
    scores       of these, float64, by the space's metric; higher is better
    recall, rr, ndcg   at k; None: the groups may read no relevant document
    judged       hits among result_ids that carry a judgement
    """

    case_id: str
    query_item_id: str
    result_ids: tuple[str, ...]
    scores: tuple[float, ...]
    recall: float | None
    rr: float | None
    ndcg: float | None
    judged: int
    subgroups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What a space holds. raw_bytes: items, times dimension, times bytes per number of the contract's dtype."""

    items: int
    documents: int
    queries: int
    raw_bytes: int
    norm_min: float
    norm_median: float
    norm_max: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceFigures:
    """One space evaluated.

    means       over every case
    subgroups   name to its means, names in ascending order
    cases       in ascending case_id
    copies      groups of documents of one content hash, written `a = b`; reported, never merged
    """

    contract: Contract
    inventory: Inventory
    means: Means
    subgroups: Mapping[str, Means]
    cases: tuple[CaseFigures, ...]
    copies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Jaccard of the first k of one question in two spaces; None: both rankings are empty."""

    case_id: str
    jaccard: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationFigures:
    """A move from the source space to the target space.

    comparable                the signatures are equal: vectors of the two may stand in one index
    only_source, only_target  item ids that one of the two has, ascending
    mismatched                shared item ids whose role, content hash, acl or source revision differs, ascending
    recall, rr, ndcg          mean of the target less mean of the source; None: one of them has none
    agreement                 in ascending case_id; jaccard is their mean over the defined ones
    """

    source: str
    target: str
    comparable: bool
    only_source: tuple[str, ...]
    only_target: tuple[str, ...]
    mismatched: tuple[str, ...]
    recall: float | None
    rr: float | None
    ndcg: float | None
    jaccard: float | None
    agreement: tuple[Agreement, ...]

    @property
    def inventory_match(self) -> bool:
        """Both spaces hold the same ids."""
        return not self.only_source and not self.only_target

    @property
    def canonical_match(self) -> bool:
        """Every shared item is the same item."""
        return not self.mismatched

    @property
    def gates_pass(self) -> bool:
        """The mechanical gates: inventory and canon. They never authorise a move by themselves."""
        return self.inventory_match and self.canonical_match


@dataclass(frozen=True, slots=True)
class FixtureAudit:
    """What audit_fixture returns: spaces in ascending space_id, and the first of them against each other one."""

    k: int
    spaces: tuple[SpaceFigures, ...]
    migrations: tuple[MigrationFigures, ...]

    @property
    def gates_pass(self) -> bool:
        """Every move passes its mechanical gates; True where there is none."""
        return all(move.gates_pass for move in self.migrations)
