"""What an audit finds in how the spaces rank: quality paired per query, and how alike the rankings are.

None means that it could not be measured; it is never 0 and never a pass.
"""

from __future__ import annotations

from dataclasses import dataclass

EVERY = "every query"


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
