"""What moved between two results of one study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["higher", "lower", "not shown", "equal", "no interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """One figure of one candidate in both results, paired by query.

    split            None: the queries of every split
    before, after    means over the n queries that both score; None without one
    difference       after less before, with its two-sided interval over the paired queries (whole clusters)
    up, down, same   queries whose value rose, fell, stayed
    direction        "higher" or "lower" where the interval leaves out 0, "not shown" where it holds 0, "equal" where no
                     query moved, "no interval" where one cannot be told
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
    direction: Direction = "no interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two results: when it was made and what its rule said."""

    created: str
    verdict: str
    choice: str | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two results whose definitions, corpus, queries, judgements and regions are the same.

    level              of every interval; not corrected for how many there are
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
