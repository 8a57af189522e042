"""What a report holds beside a result or an audit: the values of its charts, and the queries that it lets a reader open.

All of it is bounded before it comes here: an id, score or grade that the readers may not see is in none of these values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tiepoint.core.figure import Figure, Figures, Group
from tiepoint.core.result import Conditions, Summary
from tiepoint.core.shown import Found

Kind = Literal["subgroups", "regions"]


@dataclass(frozen=True, slots=True)
class Point:
    """One candidate in a picture of quality against cost. chosen: the choice by point estimate."""

    id: str
    quality: Figure
    cost: float
    chosen: bool


@dataclass(frozen=True, slots=True)
class Price:
    """Quality against one cost.

    key       `dimension`, `documents_per_s`, `bytes`, `price`
    unknown   measured candidates of which it is not known
    """

    key: str
    points: tuple[Point, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstCost:
    """The rule's measure on the queries that decide, against what the candidates cost.

    best     the best mean of a candidate that can be chosen
    floor    best less the gap: a candidate whose mean is not below it is within the gap by point estimate
    """

    measure: str
    slice: str
    gap: float
    best: float
    floor: float
    prices: tuple[Price, ...]


@dataclass(frozen=True, slots=True)
class ArmFigure:
    """A candidate's or baseline's figure."""

    id: str
    figure: Figure
    baseline: bool


@dataclass(frozen=True, slots=True)
class Recalls:
    """One recall, slice by slice, of every candidate and baseline that was measured. split: the one that decides."""

    measure: str
    slices: Mapping[str, tuple[ArmFigure, ...]]
    split: str | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One arm without the filter and with it, on the same queries. Places count candidates only; None: a baseline."""

    id: str
    without: Figure
    beside: Figure
    place_without: int | None
    place_with: int | None


@dataclass(frozen=True, slots=True)
class Inversion:
    """Does the filter change the order of the candidates?

    swapped   pairs that change places, the better without the filter first
    split     the one that decides; None: no splits are named
    """

    measure: str
    arms: tuple[Turn, ...]
    swapped: tuple[tuple[str, str], ...]
    split: str | None


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One subgroup or region: its size, and the figures of the candidates and of BM25."""

    group: str
    size: Group
    arms: tuple[ArmFigure, ...]

    @property
    def scored(self) -> int:
        """Queries that the rule's measure scores."""
        return max(arm.figure.n for arm in self.arms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Subgroups or regions in the rule's slice, the largest first.

    left_out   so many smaller groups are not drawn; the table has them
    """

    kind: Kind
    slice: str
    measure: str
    rows: tuple[ForestRow, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class OpenedHit:
    """One hit. document None: the readers may not see it, and all else but its rank is unknown here too.

    tied    another hit of this ranking that the readers may see has the same score
    gone    under the filter it is no longer in the ranking
    moved   of an audit: `in`, the other side's first k lack it and this is the target; `out`, likewise of the source
    """

    document: str | None
    score: float | None = None
    grade: int | None = None
    tied: bool = False
    gone: bool = False
    moved: Literal["in", "out"] | None = None


@dataclass(frozen=True, slots=True)
class OpenedGold:
    """A relevant document that the readers may see, and what became of it in each arm."""

    document: str
    grade: int
    state: tuple[Found, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedView:
    """One query searched in one way.

    values       measure to one value per arm; None: not scored
    rankings     one per arm, best first
    gold         the relevant documents of the highest grades
    gold_more    so many more of them may be shown
    """

    values: Mapping[str, tuple[float | None, ...]]
    rankings: tuple[tuple[OpenedHit, ...], ...]
    gold: tuple[OpenedGold, ...] = ()
    gold_more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedQuery:
    """One query.

    text       None: not asked for, or not for these readers
    withheld   it has an answer that the readers may not see: every value of it is None
    views      by slice
    """

    id: str
    split: str | None = None
    subgroups: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    rare: bool = False
    no_answer: bool = False
    suspect: bool = False
    text: str | None = None
    withheld: bool = False
    views: Mapping[str, OpenedView]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """The queries that a reader may open, the ones that differ most first.

    arms       ids, candidates first; beside   the two that stand beside each other at first
    views      slices that rankings are of; first   the one shown at first
    depth      so many hits of each ranking are here; ranked   so many the owner's rows hold
    total      queries of the result; fewer in `queries` where the page would grow too large
    texts      document to its text, or the beginning of it; empty unless asked for
    """

    arms: tuple[str, ...]
    beside: tuple[str, str]
    measures: tuple[str, ...]
    views: tuple[str, ...]
    first: str
    k: int
    depth: int
    ranked: int
    total: int
    queries: tuple[OpenedQuery, ...]
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotOpen:
    """Why no query can be opened."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A result and everything that its report shows beside it. None: there is nothing to draw.

    warnings   by the title of the section that they belong to
    """

    summary: Summary
    conditions: Conditions
    cost: AgainstCost | None
    recalls: Recalls | None
    inversion: Inversion | None
    forests: tuple[Forest, ...]
    explorer: Explorer | NotOpen
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One recorded result or audit in an index.

    folder    its name under the folder of results
    created   UTC; None: it cannot be read, and `problem` says why
    says      the sentence of its decision or of its gates
    page      whether report.html stands in its folder
    """

    folder: str
    kind: Literal["benchmark", "audit", "unreadable"]
    created: str | None
    study: str | None
    verdict: str
    choice: str | None
    says: str
    rule: str
    definitions: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Figures] = field(default_factory=dict)
    problem: str | None = None
    page: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """All stored results, newest first.

    refused   pairs of positions that may not stand side by side, with every reason; a pair that is not here may
    compared  only the first so many were held against each other
    """

    name: str
    entries: tuple[Entry, ...]
    refused: Mapping[tuple[int, int], tuple[str, ...]]
    compared: int
