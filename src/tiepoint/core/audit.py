"""The result of an audit, as audit.json holds it: what a move from a source to a target space changes.

Counts and ids in it are of what the readers may see (`Offenders.of` in workflows/); the owner's tables name everything.
None means that it could not be measured, and `not_executed` says why; it is never 0 and never a pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

AUDIT_VERSION = 2
Outcome = Literal["pass", "fail", "undecided", "not executed"]
EVERY = "every query"


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
class Delta:
    """One measure on one group of queries, paired: target less source.

    Ties are documents that tie within tie_tolerance, or that noise of encoding alone tells apart.

    subgroup, region   the group; both None: every query of the slice (of its test split, where splits are named)
    n, clusters    queries that both score, and independent ones among them
    low, high      two-sided interval of the difference as ranked; None: it cannot be told
    trusted        False: the spread rests on fewer than 15 independent queries (most do not move, or a few move far), so that
                   the interval may miss the mean more often than it says
    worst          the lower one-sided bound of the difference at the confidence: the target at its smallest and the source
                   at its largest over all orders of ties, with the imagined worst query; None: of measures that
                   cannot decide, and without a query
    best           the upper one-sided bound likewise: ties the other way, with the imagined best query
    least_loss     no loss smaller than this can be ruled out with so few independent queries; None where worst is
    target_low, target_high   one-sided bounds of the target's own mean, likewise (the imagined query is worth 0, and 1); of
                   the gates' measure on the gates' slice alone
    p_lost         one-sided p of the hypothesis that the target loses at most what is tolerated, ties for the target, with the
                   imagined best query; not corrected (see GateResult.hypotheses). Of the gates' measure on the gates' slice alone
    p_below        likewise of the hypothesis that the target's own mean lies at or above the least one asked for; of every
                   query, where one is asked for
    p, p_holm      two-sided randomisation test of no difference at all, of the values as ranked, alone and after Holm over all
                   that are tested so (Quality.randomised): it describes, and no gate looks at it; None: not tested
    wins, losses, ties   queries whose value as ranked is greater in the target, smaller, equal; where noise is known, equal
                   too where both sides have a value in common over all orders of ties
    enough         False: fewer independent queries than least, so that nothing is decided on them, whatever the figures are
    least          of a group: what is stated, what it takes to rule out the tolerated loss, or 20, whichever is most; of every
                   query 20: below it the error of a bound is not shown to hold
    """

    measure: str
    slice: str
    subgroup: str | None
    n: int
    clusters: int
    source: float | None
    target: float | None
    difference: float | None
    low: float | None
    high: float | None
    worst: float | None
    p: float | None
    p_holm: float | None
    wins: int
    losses: int
    ties: int
    enough: bool
    best: float | None = None
    least_loss: float | None = None
    target_low: float | None = None
    target_high: float | None = None
    region: str | None = None
    trusted: bool = True
    p_lost: float | None = None
    p_below: float | None = None
    least: int = 20

    @property
    def whole(self) -> bool:
        """True where it is of every query, not of a group."""
        return self.subgroup is None and self.region is None

    @property
    def group(self) -> str:
        """`every query`, `policy`, `region North`."""
        if self.region is not None:
            return f"region {self.region}"
        return EVERY if self.subgroup is None else self.subgroup


@dataclass(frozen=True, slots=True)
class Ranked:
    """One hit as the readers may see it. Where document is None they may not, and its score and grade are None too.

    grade   None beside a document: unjudged
    """

    rank: int
    document: str | None
    score: float | None
    grade: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A query that the move changed most for the worse, with both rankings."""

    query: str
    measure: str
    source: float
    target: float
    source_hits: tuple[Ranked, ...]
    target_hits: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Each query encoded by its own space, exact search in both.

    split        the split that every delta is of; None: the study names none, and they are of all queries
    randomised   how many randomisation tests of no difference were made, over which their Holm's correction runs: the gates'
                 measure on the gates' slice, over all its queries and over each subgroup and region that is large enough.
                 No gate looks at them; AuditSummary.tests counts what gates test
    level        of the intervals
    lost         the queries that lost most of the gates' measure on the gates' slice, worst first; each with its first k hits
    lost_hidden  why queries are left out of lost for these readers, all of them or those with an answer that they may not
                 see; None: none is withheld
    missing      queries that either side has no vector for: misses there
    """

    deltas: tuple[Delta, ...]
    randomised: int
    level: float
    lost: tuple[Lost, ...]
    source_missing: int
    target_missing: int
    split: str | None = None
    lost_hidden: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How alike the two sides rank, on one slice (of its test split, where splits are named).

    k                  of the top k that is compared
    queries            of the slice, judged or not
    undefined          queries whose two rankings are both empty: no agreement, in no mean
    jaccard, overlap   means of top-k Jaccard and of rank-biased overlap (persistence), over the defined queries; ties: the
                       mean over all their orders
    jaccard_low, jaccard_high, overlap_low, overlap_high   the same at the least and at the most over all orders of documents
                       that tie within tie_tolerance, or that noise of encoding alone tells apart
    entered, left      (query, document) pairs in the target's top k alone, in the source's alone, as ranked; only documents
                       that the readers may see are counted; None: under an acl without readers nothing is counted
    entered_judged, left_judged   of those, the judged ones
    judged_k           the cut-off of the gates' measure
    source_judged, target_judged  Judged@judged_k over the scored queries
    questioned         the judgements are pooled and the two differ: unjudged hits stand in the bounds of the slice's Deltas
    measure, difference_worst, difference_best   between what the mean difference of the gates' measure (target less source)
                       lies, whatever grades the unjudged hits of either side have (one that is relevant counts in R on both)
                       and however ties, those of noise among them, are ordered; None: no query of the slice is scored
    """

    slice: str
    k: int
    queries: int
    undefined: int
    jaccard: float | None
    jaccard_low: float | None
    jaccard_high: float | None
    overlap: float | None
    overlap_low: float | None
    overlap_high: float | None
    persistence: float
    entered: int | None
    left: int | None
    entered_judged: int | None
    left_judged: int | None
    source_judged: float | None
    target_judged: float | None
    measure: str
    difference_worst: float | None
    difference_best: float | None
    judged_k: int
    questioned: bool = False
    split: str | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """One hypothesis that a gate tests. All of them follow from [gates] and the number of queries, never from what was measured.

    of            what it is of: `every query`, `policy`, `region North`, `source`
    states        what is held until it is shown to be wrong
    speaks_for    the outcome of the gate that its rejection speaks for
    level         how often at most it is rejected although it is true; where it is corrected, how often any of its family is
    correction    for what it is corrected, or why it need not be
    p             one-sided; None: it is judged by its bound
    p_corrected   None: not corrected
    rejected      whether it was shown to be wrong; None, as p then: items that the readers may not see decide it
    """

    of: str
    states: str
    speaks_for: Literal["pass", "fail"]
    level: float
    correction: str
    rejected: bool | None
    p: float | None = None
    p_corrected: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One gate: what it found, against what was written before the run.

    mechanical   True: it looks at what the spaces hold, not at how well they rank
    evidence     one or two sentences with the figures
    threshold    what was asked, in words
    hypotheses   all that it tested; empty: it looks at facts, or could not be executed
    """

    name: str
    outcome: Outcome
    mechanical: bool
    evidence: str
    threshold: str
    hypotheses: tuple[Hypothesis, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SideName:
    """One of the two spaces: its name, and its contract.

    noise   by how much scores of the same text differ at most when it is encoded again; None: not measured
    """

    name: str
    contract: Mapping[str, object]
    noise: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSummary:
    """audit.json. Reports are made from it and from rows/ alone.

    study               None: an audit of two files without a study
    bounded             who it is for, in one sentence
    outcome             of all gates: fail when one fails, else undecided when one is, else not executed when one is, else pass
    mechanical_outcome  of the mechanical gates alone
    tests               how many hypotheses all gates test, those of groups that the readers may not see left out, see
                        GateResult.hypotheses
    quality_decision_required   always True: gates that pass authorise no release, a person does
    not_executed        section to the reason
    notes               what was read and how; lines that count and name no document
    conditions          when, with which versions and on which machine; hashes of the study's files
    """

    schema_version: int
    study: str | None
    notice: str | None
    bounded: str
    k: int
    seed: int
    source: SideName
    target: SideName
    contracts: Contracts
    inventory: Inventory
    canon: Canon
    source_vectors: VectorCheck
    target_vectors: VectorCheck
    source_provenance: Provenance
    target_provenance: Provenance
    quality: Quality | None
    agreement: tuple[Agreement, ...]
    access: Access | None
    gates: tuple[GateResult, ...]
    outcome: Outcome
    mechanical_outcome: Outcome
    tests: int = 0
    quality_decision_required: Literal[True] = True
    definitions: Mapping[str, str] = field(default_factory=dict)
    not_executed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Audit:
    """What audit returns.

    summary     audit.json
    findings    section, side (source, target, null: both), kind, role, id, field, source, target: every offender of the
                mechanical sections, none left out
    per_query   slice, query, measure, source, target, difference (null: either side does not score it), weight in the mean
                (1 but for pooled measures), worst, best: the difference with ties against and for the target (null: of
                measures that cannot decide); queries of every split; shown: false where the query has an answer that the
                readers may not see
    agreement   slice, query, jaccard, overlap (null: undefined), entered, left, entered_judged, left_judged
    rankings    side, slice, query, rank, document, score, grade, shown
    The tables are the owner's: they name every id.
    """

    summary: AuditSummary
    findings: pa.Table
    per_query: pa.Table
    agreement: pa.Table
    rankings: pa.Table
