"""The values of a report's charts, taken from a result's summary alone: bounded when that was made."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tiepoint.core.figure import Figure, Groups
from tiepoint.core.report import (
    AgainstCost,
    ArmFigure,
    Forest,
    ForestRow,
    Inversion,
    Kind,
    Point,
    Price,
    Recalls,
    Turn,
)
from tiepoint.core.result import BaselineResult, CandidateResult, Summary
from tiepoint.report.table import Arm, arms_of, headline, main_recall

PRICES = ("dimension", "documents_per_s", "bytes", "price")
BM25 = "bm25"
DRAWN_ROWS = 120
"""So many marks of a forest plot are drawn; a taller one is read by nobody, and the table has all of it."""
FEWEST_GROUPS = 6


def against_cost(summary: Summary) -> AgainstCost | None:
    """Quality against each cost that is known of a candidate; None where no candidate was measured on the rule's slice."""
    rule = summary.decision
    choosable = {standing.id for standing in rule.standings}
    measured = [(c, q) for c in _measured(summary) if (q := _figure(summary, c, rule.slice, rule.measure)) is not None]
    means = [q.mean for c, q in measured if q.mean is not None and (c.id in choosable or not choosable)]
    if not means:
        return None
    return AgainstCost(
        measure=rule.measure,
        slice=rule.slice,
        gap=rule.gap,
        best=max(means),
        floor=max(means) - rule.gap,
        prices=tuple(_prices(measured, rule.point_choice)),
    )


def _prices(measured: list[tuple[CandidateResult, Figure]], chosen: str | None) -> Iterator[Price]:
    for key in PRICES:
        points = tuple(
            Point(c.id, quality, float(cost), c.id == chosen)
            for c, quality in measured
            if (cost := getattr(c, key)) is not None
        )
        if points and any(point.cost for point in points):
            known = {point.id for point in points}
            yield Price(key, points, tuple(c.id for c, _ in measured if c.id not in known))


def recalls(summary: Summary) -> Recalls | None:
    """Recall of every arm in each slice that has queries; None where nothing was measured."""
    measure = main_recall(summary)
    found = {
        name: tuple(
            ArmFigure(arm.id, figure, _is_baseline(arm))
            for arm in arms_of(summary)
            if (figure := _figure(summary, arm, name, measure)) is not None
        )
        for name in ("unfiltered", "filtered", "rare")
        if name in summary.denominators and summary.denominators[name].queries
    }
    kept = {name: arms for name, arms in found.items() if arms}
    return Recalls(measure, kept, summary.decision.split) if kept else None


def inversion(summary: Summary) -> Inversion | None:
    """The order of the candidates without the filter beside the order with it; None where no query has a filter."""
    measure = summary.decision.measure
    pairs = [
        (arm, without, beside)
        for arm in arms_of(summary)
        if (without := _figure(summary, arm, "unfiltered_same", measure)) is not None
        and (beside := _figure(summary, arm, "filtered", measure)) is not None
    ]
    candidates = [(arm.id, w.mean or 0.0, b.mean or 0.0) for arm, w, b in pairs if not _is_baseline(arm)]
    if not candidates:
        return None
    turns = tuple(
        Turn(
            arm.id,
            without,
            beside,
            None if _is_baseline(arm) else 1 + sum(w > (without.mean or 0.0) for _, w, _ in candidates),
            None if _is_baseline(arm) else 1 + sum(b > (beside.mean or 0.0) for _, _, b in candidates),
        )
        for arm, without, beside in pairs
    )
    swapped = []
    for (one, w1, b1), (other, w2, b2) in combinations(candidates, 2):
        if (w1 - w2) * (b1 - b2) < 0:
            swapped.append((one, other) if w1 > w2 else (other, one))
    return Inversion(measure, turns, tuple(swapped), summary.decision.split)


def forest(summary: Summary, kind: Kind) -> Forest | None:
    """The rule's measure by subgroup or region in the rule's slice, without the random baseline; None: no such group."""
    rule = summary.decision
    sizes: Groups = getattr(summary, kind)
    rows = []
    for group, of in sizes.items():
        arms = tuple(
            ArmFigure(arm.id, figure, _is_baseline(arm))
            for arm in arms_of(summary)
            if (arm.id == BM25 or not _is_baseline(arm))
            and (figure := getattr(arm, kind).get(group, {}).get(rule.slice, {}).get(rule.measure)) is not None
            and figure.mean is not None
        )
        if rule.slice in of and arms:
            rows.append(ForestRow(group, of[rule.slice], arms))
    if not rows:
        return None
    rows.sort(key=lambda row: (-row.scored, row.group))
    drawn = max(FEWEST_GROUPS, DRAWN_ROWS // max(len(row.arms) for row in rows))
    return Forest(
        kind=kind,
        slice=rule.slice,
        measure=rule.measure,
        rows=tuple(rows[:drawn]),
        left_out=max(len(rows) - drawn, 0),
    )


def _measured(summary: Summary) -> Iterator[CandidateResult]:
    return (c for c in summary.candidates if c.status == "measured")


def _is_baseline(arm: Arm) -> bool:
    return isinstance(arm, BaselineResult)


def _figure(summary: Summary, arm: Arm, name: str, measure: str) -> Figure | None:
    """An arm's figure on the queries that decide; None where it was not measured there."""
    found = headline(summary, arm, name).get(measure)
    return found if found is not None and found.mean is not None else None
