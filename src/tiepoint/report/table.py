"""What every page is made of: tables and sections of plain text, and how a number is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tiepoint.core.figure import Figure, Figures, Slices
from tiepoint.core.result import BaselineResult, CandidateResult, Summary
from tiepoint.core.rounding import bound_above, bound_below

Arm = CandidateResult | BaselineResult
NONE = "–"
IN_WORDS = {
    "unfiltered": "no filter",
    "filtered": "region filter",
    "unfiltered_same": "no filter, same queries",
    "rare": "rare names",
}
TOO_FEW = "too few to decide"
DOUBT = "]?"
DOUBTED_CHANGE = (
    "An interval with a question mark cannot be trusted: its spread rests on fewer than 15 independent queries, for most do not "
    "move, or a few move far."
)
DOUBTED = (
    "An interval with a question mark cannot be trusted: its spread rests on fewer than 15 independent queries, for most are "
    "equal, or a few lie far from the rest."
)


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text; the first column names the row."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart: what it is called as a file, what it shows, in words, and its Vega-Lite document, made when it is asked for."""

    name: str
    title: str
    says: str
    spec: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with sentences and tables under it.

    drawings   every figure in them stands in a table of the section
    warnings   what should make a reader doubt the figures of this section
    """

    title: str
    lines: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """What every form of the report says, in this order.

    badge           the verdict in a word or two
    explore_after   the queries come after so many sections; 0: after all of them
    """

    title: str
    notice: str | None
    sentence: str
    main: Table
    sections: tuple[Section, ...]
    badge: str = ""
    explore_after: int = 0


def number(value: float | None) -> str:
    """Four places; an en dash for what could not be measured."""
    return NONE if value is None else f"{value:.4f}"


def upper(bound: float | None) -> str:
    """An upper bound: four places, rounded up."""
    return NONE if bound is None else number(bound_above(bound))


def lower(bound: float | None) -> str:
    """A lower bound: four places, rounded down."""
    return NONE if bound is None else number(bound_below(bound))


def figure(found: Figure | None) -> str:
    """`0.5142 [0.4700, 0.5590]`; a question mark behind an interval that cannot be trusted."""
    if found is None or found.mean is None:
        return NONE
    interval = (
        "" if found.low is None else f" [{number(found.low)}, {number(found.high)}]{'' if found.trusted else '?'}"
    )
    return number(found.mean) + interval


def mean(found: Figure | None) -> str:
    """The mean alone, four places."""
    return number(found.mean) if found is not None else NONE


def whole(value: float | None) -> str:
    """A whole number with thousands parted."""
    return NONE if value is None else f"{value:,.0f}"


def percent(value: float | None) -> str:
    """A share in whole per cent; an en dash for what could not be told."""
    return NONE if value is None else f"{value:.0%}"


def rate(value: float | None) -> str:
    """Three digits, or whole where large."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def arms_of(summary: Summary) -> Iterable[Arm]:
    """Candidates in the study's order, then the baselines."""
    return (*summary.candidates, *summary.baselines)


def main_recall(summary: Summary) -> str:
    """The recall at k where it was measured, else the first recall, else the rule's measure."""
    recalls = [m for m in summary.measures if m.startswith("recall")]
    wanted = f"recall@{summary.k}"
    return wanted if wanted in recalls else next(iter(recalls), summary.decision.measure)


def headline(summary: Summary, arm: Arm, name: str) -> Figures:
    """An arm's figures of a slice on the queries that decide: the test split where splits are named."""
    split = summary.decision.split
    of: Slices = arm.measures if split is None else arm.splits.get(split, {})
    return of.get(name, {})
