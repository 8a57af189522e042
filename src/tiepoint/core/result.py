"""The result of a benchmark, as result.json holds it: bounded by [report] readers, made to be committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

from tiepoint.core.figure import (
    Bounds,
    Copied,
    CutRecall,
    Denominators,
    Groups,
    Norms,
    Slices,
    Suspects,
    Ties,
    Truncation,
)

SCHEMA_VERSION = 1
Status = Literal["measured", "failed", "not executed"]
Verdict = Literal["decided", "undecided", "not executed"]
State = Literal["in", "out", "open", "not tested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFigures:
    """What candidates and baselines have in common: every figure, by slice, subgroup, region and split.

    judged   slice to Judged@k at the cut-off of the rule's measure; None: no scored query has a hit
    """

    measures: Slices = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, Bounds]] = field(default_factory=dict)
    over_readable_gold: Slices = field(default_factory=dict)
    subgroups: Mapping[str, Slices] = field(default_factory=dict)
    regions: Mapping[str, Slices] = field(default_factory=dict)
    splits: Mapping[str, Slices] = field(default_factory=dict)
    judged: Mapping[str, float | None] = field(default_factory=dict)
    ties: Mapping[str, Ties] = field(default_factory=dict)
    failed_queries: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateResult(ArmFigures):
    """One candidate. Unknown is None, never 0.

    bytes             of the vectors of the documents that the readers may see; None where no document may be counted
    bytes_per_item    dimension times bytes per value
    documents_per_s   of the encoding that made the vectors, which may be an earlier one: encoded_on says when
    queries_per_s     of queries encoded one by one
    rebuild_s         projected for the documents that may be counted: their tokens, less what the limit cuts, over
                      tokens_per_s; documents over documents_per_s where tokens cannot be counted
    price             of encoding those documents once, in the study's currency
    tokens_cut        share of the documents' tokens beyond the model's limit
    recall_cut        None where the model has no limit, its tokens cannot be counted, or nothing was cut
    documents_missing, queries_missing   items without a vector
    noise             by how much scores of the same text differ at most when it is encoded again, in units of the score; 0: they
                      do not; None: not measured, as of vectors made elsewhere
    """

    id: str
    status: Status
    reason: str | None = None
    embedder: str
    contract: Mapping[str, object] = field(default_factory=dict)
    signature: str | None = None
    dimension: int | None = None
    bytes: int | None = None
    bytes_per_item: int | None = None
    documents_per_s: float | None = None
    tokens_per_s: float | None = None
    queries_per_s: float | None = None
    query_p50_ms: float | None = None
    query_p95_ms: float | None = None
    load_s: float | None = None
    rebuild_s: float | None = None
    price: float | None = None
    encoded_on: str | None = None
    tokens_cut: float | None = None
    recall_cut: CutRecall | None = None
    document_tokens: Truncation | None = None
    query_tokens: Truncation | None = None
    document_norms: Norms | None = None
    query_norms: Norms | None = None
    documents_missing: int = 0
    queries_missing: int = 0
    missing: tuple[str, ...] = ()
    noise: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineResult(ArmFigures):
    """BM25 or random: always shown, never chosen."""

    id: str
    status: Status = "measured"
    reason: str | None = None
    definition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One candidate before the rule.

    mean               on the queries that decide; None where there are none
    may_lose_at_most   upper bound, at the rule's confidence, of its largest deficit against any other candidate; None where
                       there is no other, no query that decides, or a pooled measure: no bound by query is one of its ratio
    """

    id: str
    state: State
    mean: float | None
    may_lose_at_most: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The verdict of the rule and what stands beside it, decided or not.

    choice            None unless decided
    point_choice      the cheapest candidate whose mean is within the gap of the best mean; None: none measured
    open              candidates that the rule could call neither in nor out
    largest_cluster   queries of the slice's largest cluster, of whatever split: the imagined one is as large, so the verdict
                      is for populations without a larger one
    least_queries     below this many independent queries (clusters as uneven as these) nothing can be in; None: no number
                      would do, or a pooled measure, which is not tested by query; so are the settle_ figures of one
    settle_queries    roughly how many queries would settle it four times in five, if means and spreads are as in these; None:
                      not even a million, or fewer than 20 independent queries are here
    settle_low        a tenth of such samples of queries name fewer than this; None where settle_queries is
    settle_high       a tenth name more; None: more than a million, or settle_queries is None
    settle_gap        the smallest gap at which these queries decide; None: no gap below 1 does
    tests             one-sided hypotheses that the walk put to the test: of every candidate it came to, against every other,
                      that it loses more than the gap and that it does not; 0 where too few queries left no walk
    """

    verdict: Verdict
    choice: str | None
    point_choice: str | None
    open: tuple[str, ...]
    sentence: str
    rule: str
    measure: str
    slice: str
    split: str | None
    gap: float
    confidence: float | str
    queries: int
    clusters: int
    order: tuple[str, ...]
    standings: tuple[Standing, ...]
    least_queries: int | None
    settle_queries: int | None
    settle_gap: float | None
    warnings: tuple[str, ...] = ()
    tests: int = 0
    largest_cluster: int = 1
    settle_low: int | None = None
    settle_high: int | None = None

    def settling(self) -> str:
        """How many queries would settle it, between what that number moves, and on which condition; settle_queries is named."""
        between = ""
        if self.settle_low is not None and self.settle_low != self.settle_high:
            high = "more than a million" if self.settle_high is None else f"{self.settle_high:,}"
            between = f" ({self.settle_low:,} to {high})"
        start = f"Roughly {self.settle_queries:,} queries{between} would settle it four times in five"
        return f"{start}, if means and spreads are as in these"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The size of the study. documents: those that the readers may see; None where none may be counted."""

    documents: int | None
    queries: int
    judgements: int
    clusters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """result.json. Reports are made from it and from rows/ alone.

    not_judged          ids of the queries without a judgement that are not flagged as having no answer; never scored
    suspects            queries whose labels are in doubt
    copied              documents and queries whose words stand elsewhere too
    subgroups, regions  the sizes of the groups that the arms have figures for
    """

    schema_version: int
    study: str
    notice: str | None
    k: int
    measures: tuple[str, ...]
    seed: int
    bounded: str
    counts: Counts
    definitions: Mapping[str, str]
    denominators: Mapping[str, Denominators]
    not_judged: tuple[str, ...]
    candidates: tuple[CandidateResult, ...]
    baselines: tuple[BaselineResult, ...]
    decision: Decision
    suspects: Suspects = field(default_factory=Suspects)
    copied: Copied = field(default_factory=Copied)
    subgroups: Groups = field(default_factory=dict)
    regions: Groups = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """conditions.json: what a re-litigated comparison asks for.

    created        UTC
    hashes         SHA-256 of the study's files, by name; and of what they say, whatever their order and form, under
                   corpus_content, queries_content, qrels_content (the pool) and regions_content
    contracts      candidate id to its contract; signatures likewise
    packages       name to version
    seeds          purpose to seed
    encoded        in which order the candidates were encoded in this run
    throughput     candidate id to when, where and with how many threads its figures were measured
    search         candidate and view to how its exact search was proven: first pass, epsilon (half the widest proven interval
                   of a pair that was scored again, in units of the score), how many pairs were scored again
    not_executed   what was not executed, and why
    """

    schema_version: int
    tiepoint: str
    created: str
    hashes: Mapping[str, str]
    contracts: Mapping[str, Mapping[str, object]]
    signatures: Mapping[str, str]
    packages: Mapping[str, str]
    python: str
    platform: str
    processor: str
    cores: int
    threads: int
    seeds: Mapping[str, int]
    resamples: Mapping[str, int]
    encoded: tuple[str, ...]
    throughput: Mapping[str, Mapping[str, str | int | float | None]]
    definitions: Mapping[str, str]
    not_executed: Mapping[str, str]
    search: Mapping[str, Mapping[str, str | int | float | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Result:
    """What bench returns and load_result reads back.

    summary      result.json: bounded by [report] readers
    conditions   conditions.json
    per_query    candidate, slice, query, measure, value, weight (in the mean; null where value is), low and high (over all
                 orders of documents that tie, or that noise of encoding alone tells apart), unjudged (pooled judgements, and an
                 unjudged document may stand in the first k); the last three are null in a result recorded before they were.
                 Baselines are "bm25" and "random"
    rankings     candidate, slice, query, rank, document, score, grade (null: unjudged), shown (readers may see it)
    gold         slice, query, document, grade, state (found, missed, filtered, absent), found_by, shown
    queries      query, cluster, split, subgroups, regions, rare, no_answer
    documents    document, content_hash, regions, words: the corpus that was searched
    words        word_hash, count: the distinct words of that corpus, by hash
    explained    what the cost model of each exact search chose and why; the owner's, and never recorded
    The tables are pyarrow Tables, the owner's: they name every id. documents and words are empty in a result that does not
    say what its corpus was.
    """

    summary: Summary
    conditions: Conditions
    per_query: pa.Table
    rankings: pa.Table
    gold: pa.Table
    queries: pa.Table
    documents: pa.Table = field(default_factory=lambda: pa.table({}))
    words: pa.Table = field(default_factory=lambda: pa.table({}))
    explained: tuple[str, ...] = ()
