"""What moved between two results of one study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["higher", "lower", "not shown", "equal", "too few", "no tie ranges", "not tested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """One figure of one candidate in both results, paired by query.

    A table is what one slice and split have in common: its directions are one family.

    split            None: the queries of every split
    n, clusters      queries that both score, and how many independent ones among them
    before, after    means over the n queries, as ranked; None without one
    difference       after less before, as ranked
    low, high        its two-sided interval (BCa bootstrap of whole clusters), a description that decides nothing; None: it
                     cannot be told
    trusted          False: the spread rests on too few queries for that interval to cover as it says
    up, down, same   queries whose value rose, fell, stayed, as ranked; what noise of encoding alone could have moved stayed
    direction        "higher" or "lower": p_holm is at most 1 - level. "not shown": it is not. "equal": in every query both
                     results have the same value, which no order of tied documents and no unjudged one could move. "too few":
                     with fewer than `least` independent queries none can be shown. "no tie ranges": a result was recorded
                     before these were.
                     "not tested": no query is scored in both, or the measure is none that a decision may rest on (pooled over
                     queries, or Judged)
    at_least, at_most   one-sided bounds of the mean difference, each at (1 + level) / 2 and not corrected: Gaffke's, after one
                     imagined cluster with the worst, or best, possible difference, over all orders of tied documents on both
                     sides; None: not tested
    p_holm           from the same bound held against 0, the smaller of both sides, by Holm over both sides of every direction
                     of the table; None: not tested
    least            independent queries, in clusters as uneven as these, that it takes at least to show a direction of this
                     table; None: not tested
    largest          queries of the imagined cluster: as many as the largest of the study's slice has that are scored, of
                     whatever split; None: not tested
    unjudged         of the n queries, those where an unjudged document of pooled judgements may stand in the first k: their
                     difference is taken as anything from -1 to 1
    """

    candidate: str
    slice: str
    split: str | None
    measure: str
    n: int = 0
    before: float | None = None
    after: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    up: int = 0
    down: int = 0
    same: int = 0
    direction: Direction = "not tested"
    clusters: int = 0
    trusted: bool = True
    at_least: float | None = None
    at_most: float | None = None
    p_holm: float | None = None
    least: int | None = None
    largest: int | None = None
    unjudged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two results: when it was made and what its rule said."""

    created: str
    verdict: str
    choice: str | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two results whose definitions of a figure, corpus, queries, judgements and regions are the same.

    level              of every interval, which are not corrected for their number, and of the directions of every table,
                       which are
    tests              directions that were asked, in all tables
    other_space        candidates whose contract signature differs: the same name, another space
    only_before, only_after   candidates and measures that one result alone has measured, in words
    notes              other conditions that differ: package versions, processor, seed, rule
    """

    study: str
    level: float
    before: Side
    after: Side
    movements: tuple[Movement, ...]
    other_space: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    notes: tuple[str, ...]
    tests: int
