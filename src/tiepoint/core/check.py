"""What is wrong with a study, or worth knowing, before anything is encoded. The owner's own: it obeys no [report] readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tiepoint.core.since import Since

CHECK_VERSION = 1


@dataclass(frozen=True, slots=True)
class Spread:
    """The least, the middle and the most of a column of counts."""

    min: int
    median: float
    max: int


@dataclass(frozen=True, slots=True)
class Named:
    """How many there are, and the first of them in id order."""

    count: int = 0
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RegionSize:
    """A region: the documents that name it, those in or under it, and the queries whose own filter names it."""

    name: str
    documents: int
    under: int
    queries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Token lengths of one role; shares in 0..1, of texts and of tokens.

    counted      texts whose tokens were counted; fewer than there are where they were sampled evenly
    limit        the model's real limit; None: it has none or states none
    cut_texts, cut_tokens   None without a limit: truncation is not executed, never 0
    worst        the longest texts over the limit
    """

    counted: int
    tokens: Spread
    limit: int | None
    cut_texts: float | None
    cut_tokens: float | None
    worst: Named


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateCheck:
    """One candidate. reason: why its tokens were not counted; documents and queries are then None."""

    id: str
    embedder: str
    reason: str | None
    documents: Lengths | None = None
    queries: Lengths | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """Documents that are copies of one another; a group is written `d1 = d2 = d7`.

    exact         groups of equal content hash
    spaced        groups that are equal once white space is, and are not exact copies throughout
    documents     documents that stand in any of these groups
    judged_apart  (query, document) pairs: relevant for the query, while a copy of it has another grade or none
    """

    exact: Named
    spaced: Named
    documents: int
    judged_apart: Named


@dataclass(frozen=True, slots=True, kw_only=True)
class NearCopies:
    """Queries that share words in a row with documents; written `q1 in d7`, the first document of each.

    long    queries that share a run of 8 words
    whole   shorter queries, of 4 to 7 words, that stand word for word in a document
    short   queries of fewer words, which were not looked for
    share   of queries of at least 8 words, those in long; None: there is no such query
    """

    long: Named
    whole: Named
    short: int
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceCheck:
    """One slice before the run.

    clusters        independent ones among the scored queries
    eligible        documents (or parents) that each query may be answered with; None: no query
    few_eligible    queries with no more than k eligible: there any model has recall 1
    gold_absent     relevant judgements whose document the corpus lacks
    ceiling         the mean recall of a perfect ranking without a cut; None: no query is scored
    random_recall   what a random order is expected to have at k; None: no query is scored
    """

    queries: int
    scored: int
    clusters: int
    eligible: Spread | None
    few_eligible: int
    gold: int
    gold_absent: int
    ceiling: float | None
    random_recall: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The judgements: repeats count once; absent ones can never be found; stray ones are of queries that are not asked."""

    judgements: int
    repeats: int
    absent: Named
    stray: Named
    not_judged: Named


@dataclass(frozen=True, slots=True)
class Asked:
    """Queries, and the independent clusters that they make."""

    queries: int
    clusters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """What the rule will decide on.

    queries, clusters   scored ones of the rule's slice, of the test split where splits are named
    least               below so many clusters no candidate can be shown inside the gap; None: no number would do, or the
                        point choice is the verdict
    enough              False: these queries cannot show any candidate inside the gap; None under "point"
    smallest_gap        the smallest gap that so many clusters could show at all; None: fewer than 20, or "point"
    chances             the chance that so many clusters decide where the candidates are truly equal, by how their differences
                        lie, in words; None: cannot be told. Empty under "point"
    """

    slice: str
    split: str | None
    gap: float
    confidence: float | Literal["point"]
    queries: int
    clusters: int
    least: int | None
    enough: bool | None
    smallest_gap: float | None
    chances: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Even:
    """How even the corpus is; None: not measured (fewer than 3 regions, fewer than 10 documents).

    regions   documents of the largest region over those of the smallest
    lengths   words of the document at the 90th percentile over those at the 10th
    """

    regions: float | None
    lengths: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What check returns and `tiepoint check --json` prints. Shares lie in 0..1; first ids are in id order.

    units         what rankings hold: documents, or parents where passages are declared
    words         of each document's embedding text
    provenance    class to queries
    splits        split to its queries; a query without one stands under ""
    alike         query ids that are document ids too
    warnings      what the owner should mend or know before trusting a result
    notes         what loading the study noted
    since         what changed since an earlier result; None: not asked
    """

    schema_version: int
    study: str
    k: int
    documents: int
    units: int
    words: Spread
    regions: tuple[RegionSize, ...]
    without_region: Named
    candidates: tuple[CandidateCheck, ...]
    copies: Copies
    near: NearCopies
    slices: Mapping[str, SliceCheck]
    judged: Judged
    provenance: Mapping[str, int]
    splits: Mapping[str, Asked]
    deciding: Deciding
    even: Even
    alike: Named
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)
    since: Since | None = None
