"""What `tiepoint show` shows of a recorded result: the figures of one part, or the rankings of one query side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tiepoint.core.figure import Figures, Group

Kind = Literal["subgroup", "region", "slice"]
Found = Literal["found", "missed", "filtered", "absent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFigures:
    """The figures of one slice, whole or of one subgroup or region.

    size    None for a whole slice
    arms    arm id to its figures, with intervals and n; candidates first, baselines last
    """

    slice: str
    size: Group | None
    arms: dict[str, Figures]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A subgroup, region or slice of a result.

    measures   in the order of the study
    slices     those in which the part has figures; empty where it is too small to be shown, and hidden says so
    least      so many independent queries a group needs to decide anything by the rule; None: the rule's gap is 0, or
               its measure is pooled
    """

    study: str
    kind: Kind
    name: str
    measures: tuple[str, ...]
    slices: tuple[PartFigures, ...]
    least: int | None
    hidden: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One ranked document. Where shown is False its readers may not see it, and all but the rank is None.

    grade   None: unjudged, or not shown
    """

    rank: int
    shown: bool
    document: str | None
    score: float | None
    grade: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A relevant document and what became of it in each arm: found within k, missed, filtered out, or not in the corpus."""

    document: str
    grade: int
    state: dict[str, Found]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """One query's rankings.

    arms     arm id to its hits, best first; empty: no hit
    gold     relevant documents that may be shown; others are neither listed nor counted
    hidden   why nothing of the query may be shown; None: it may
    """

    study: str
    query: str
    slice: str
    k: int
    arms: dict[str, tuple[Hit, ...]]
    gold: tuple[Gold, ...]
    hidden: str | None = None
