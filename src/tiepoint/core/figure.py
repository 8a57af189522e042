"""The figures of a result: a mean with its interval and its bounds, and what is counted and measured beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over n scored queries with its two-sided interval; None: could not be measured.

    trusted   False: the spread rests on fewer than 15 independent queries (most are equal, or a few lie far from the rest), so
              that the interval may miss the mean more often than it says
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a mean moves over all orders of tied documents, and over all that unjudged hits could be.

    tie_expected     the mean over these orders, each as likely as any other; None: the measure has no closed form
    unjudged_worst   the least that unjudged hits could make of it: one that is relevant counts in the denominator too; None of
                     Judged@k, which says how many they are
    unjudged_best    the most, likewise
    """

    tie_low: float | None
    tie_high: float | None
    unjudged_best: float | None
    tie_expected: float | None = None
    unjudged_worst: float | None = None


Figures: TypeAlias = Mapping[str, Figure]
"""Measure name to figure."""
Slices: TypeAlias = Mapping[str, Figures]
"""Slice name to figures."""


@dataclass(frozen=True, slots=True)
class Ties:
    """Queries of a slice whose ranking ties at the cut k, and the pairs (hit, document left out) that tie there.

    by_noise   queries with such a pair that does not tie, and whose order noise of encoding could have made: neighbour by
               neighbour its scores lie within twice the noise; None: no noise was measured
    at         queries whose ranking ties at the other cut-offs of the measures, by cut-off
    """

    queries: int
    pairs: int
    by_noise: int | None = None
    at: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Norms:
    """Lengths of vectors."""

    min: float
    median: float
    max: float


@dataclass(frozen=True, slots=True)
class Truncation:
    """Token lengths of one role against the model's real limit; shares in 0..1.

    cut_texts, cut_tokens   None where the model has no limit or states none: truncation is not executed, never 0
    worst                   ids of the longest texts over the limit that the readers may see
    """

    p50: float
    p95: float
    max: float
    limit: int | None
    cut_texts: float | None
    cut_tokens: float | None
    worst: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CutRecall:
    """Recall of the relevant documents whose text the model's limit cut, beside that of the others.

    measure      `recall@10`, pooled over the relevant documents of all queries, without a filter
    cut, uncut   n counts queries with such a document; None in both where a group is too small to be shown
    """

    measure: str
    cut: Figure
    uncut: Figure


@dataclass(frozen=True, slots=True)
class Group:
    """How many queries of a subgroup or region stand in a slice.

    clusters   independent ones among the scored that decide: of the test split where splits are named
    enough     False: too few of them to decide anything on this group alone
    least      how many independent ones, in clusters as uneven as these, it takes at least; None: no number would do
    """

    queries: int
    scored: int
    clusters: int
    enough: bool
    least: int | None = None


Groups: TypeAlias = Mapping[str, Mapping[str, Group]]
"""Name of the subgroup or region, then of the slice, to its size; groups too small to be shown are not in it."""


@dataclass(frozen=True, slots=True)
class Suspects:
    """Queries for which no candidate and not BM25 finds a relevant document within k, in any slice: suspect labels.

    count     None where nothing was measured, or where they are too few to be shown
    queries   their ids; empty where count is None
    """

    count: int | None = None
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Copied:
    """Texts that stand more than once, among the documents that the readers may see. None: none may be counted.

    documents   documents whose text is another's too, line ends and Unicode form aside
    texts       such texts
    queries     how many queries share a run of words with a document, and the first of their ids
    """

    documents: int | None = None
    texts: int | None = None
    queries: int | None = None
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Denominators:
    """Who stands in the mean of a slice, and why the others do not. Counts of queries but where said."""

    queries: int
    scored: int
    no_relevant: int
    not_judged: int
    no_answer: int
    left_out: int
    few_eligible: int
    gold: int
    gold_filtered: int
    gold_absent: int
    gold_ceiling: float | None
