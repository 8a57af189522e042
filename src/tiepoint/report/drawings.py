"""The charts of a report, each with the table that holds its figures and a sentence for whoever cannot see it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tiepoint.core.report import AgainstCost, ArmFigure, Forest, Inversion, Price, Recalls, Turn
from tiepoint.report.marks import Mark, Slope, Style, short
from tiepoint.report.table import (
    DOUBT,
    DOUBTED,
    IN_WORDS,
    NONE,
    TOO_FEW,
    Drawing,
    Section,
    Table,
    figure,
    number,
    rate,
    whole,
)

COSTS = {
    "dimension": "dimension",
    "documents_per_s": "documents per second",
    "bytes": "bytes of vectors",
    "price": "price of encoding once",
}


def against_cost(cost: AgainstCost | None) -> Section:
    """Quality against every cost that is known."""
    if cost is None:
        return Section("Quality against cost")
    lines = (
        f"{cost.measure}, {cost.slice} ({IN_WORDS[cost.slice]}), on the queries that decide. The best mean is "
        f"{number(cost.best)}; the band in each chart is the gap of {cost.gap:g} below it, down to {number(cost.floor)}. The "
        "diamond is the choice by point estimate. A name that would lie over another is left out; the table has every one.",
        *(f"{COSTS[p.key]} is not known of {', '.join(p.unknown)}" for p in cost.prices if p.unknown),
    )
    table = _cost_table(cost)
    return Section(
        "Quality against cost", (*lines, *_doubts(table)), (table,), tuple(_price(cost, p) for p in cost.prices)
    )


def _price(cost: AgainstCost, price: Price) -> Drawing:
    name = COSTS[price.key]
    ids = ", ".join(p.id for p in price.points)
    return Drawing(
        f"quality-by-{price.key.replace('_', '-')}",
        f"{cost.measure} by {name}",
        f"A point with its interval for each of {ids}; a band marks what is within the gap of the best mean. The figures stand "
        "in the table Quality and cost.",
        partial(_scatter, cost, price),
    )


def _scatter(cost: AgainstCost, price: Price) -> str:
    from tiepoint.report import charts  # Altair is heavy: only a page that is drawn pays for it

    marks = [
        Mark(p.id, "chosen" if p.chosen else "candidate", p.quality.mean, p.quality.low, p.quality.high, p.cost)
        for p in price.points
    ]
    return charts.scatter(marks, (COSTS[price.key], cost.measure), (cost.floor, cost.best))


def _cost_table(cost: AgainstCost) -> Table:
    by_id = {p.id: p for price in reversed(cost.prices) for p in price.points}
    known = {(p.id, price.key): p.cost for price in cost.prices for p in price.points}
    rows = tuple(
        (
            name,
            figure(point.quality),
            whole(known.get((name, "dimension"))),
            rate(known.get((name, "documents_per_s"))),
            whole(known.get((name, "bytes"))),
            rate(known.get((name, "price"))),
            "choice by point estimate" if point.chosen else "",
        )
        for name, point in by_id.items()
    )
    return Table("Quality and cost", ("", cost.measure, *COSTS.values(), ""), rows)


def recalls(found: Recalls | None) -> Section:
    """Recall in every slice, of every candidate and both baselines."""
    if found is None:
        return Section("Recall")
    arms = {arm.id: arm for of in found.slices.values() for arm in of}
    rows = tuple(
        (name, *(figure(next((a.figure for a in of if a.id == name), None)) for of in found.slices.values()))
        for name in arms
    )
    drawing = Drawing(
        "recall",
        f"{found.measure}, slice by slice",
        f"For each of {', '.join(IN_WORDS[s] for s in found.slices)}: a mean with its interval for {', '.join(arms)}. The "
        "figures stand in the table below.",
        partial(_recalls, found),
    )
    head = ("", *(f"{name} ({IN_WORDS[name]})" for name in found.slices))
    note = "BM25 and random are baselines: always shown, never chosen."
    table = Table(found.measure, head, rows, note)
    return Section("Recall", (*_over(found.split), *_doubts(table)), (table,), (drawing,))


def _recalls(found: Recalls) -> str:
    from tiepoint.report import charts

    marks: list[Mark] = []
    for name, arms in found.slices.items():
        marks += [Mark(IN_WORDS[name], "head"), *(_mark(arm) for arm in arms)]
    return charts.intervals(marks, found.measure)


def inversion(found: Inversion | None) -> Section:
    """The order without the filter beside the order with it."""
    if found is None:
        return Section("With and without the filter")
    drawing = Drawing(
        "filter-and-order",
        f"{found.measure} without and with the filter, same queries",
        f"A line for each of {', '.join(turn.id for turn in _lined(found))}, from its mean without the filter to its mean with "
        "it. The figures, and random's, stand in the table below.",
        partial(_slopes, found),
    )
    rows = tuple(
        (t.id, figure(t.without), _place(t.place_without), figure(t.beside), _place(t.place_with)) for t in found.arms
    )
    head = ("", "no filter, same queries", "place", "region filter", "place")
    note = "Places count candidates; equal means share one. The order of two means is not by itself a difference."
    table = Table(found.measure, head, rows, note)
    lines = (inversion_sentence(found), *_over(found.split), *_doubts(table))
    return Section("With and without the filter", lines, (table,), (drawing,))


def inversion_sentence(found: Inversion) -> str:
    """Whether the filter turns the order of the candidates, by their means."""
    if sum(turn.place_with is not None for turn in found.arms) < 2:
        return "One candidate alone was measured: there is no order to turn."
    if not found.swapped:
        return "By their means the candidates stand in the same order with the filter as without it."
    said = "; ".join(f"{one} leads {other} without it and trails with it" for one, other in found.swapped[:5])
    more = f"; and {len(found.swapped) - 5} more pairs" if len(found.swapped) > 5 else ""
    return f"By their means the filter turns the order: {said}{more}."


def _lined(found: Inversion) -> tuple[Turn, ...]:
    """The arms that are drawn: a random order lies so far below that it would press the others together."""
    return tuple(turn for turn in found.arms if turn.id != "random")


def _slopes(found: Inversion) -> str:
    from tiepoint.report import charts

    def style(turn: Turn) -> Style:
        return "baseline" if turn.place_with is None else "candidate"

    lines = [Slope(t.id, style(t), t.without.mean or 0.0, t.beside.mean or 0.0) for t in _lined(found)]
    return charts.slopes(lines, ("no filter", "region filter"))


def forest(found: Forest | None) -> Iterator[Drawing]:
    """Subgroups or regions as a forest plot; the tables of their section hold the figures."""
    if found is None:
        return
    what = found.kind.removesuffix("s")
    left = f" {found.left_out} smaller ones are not drawn; the table has them." if found.left_out else ""
    yield Drawing(
        f"{found.kind}",
        f"{found.measure} by {what}, {found.slice} ({IN_WORDS[found.slice]})",
        f"For each {what}, the largest first, a mean with its interval for every candidate and BM25; what is too few to decide "
        f"is grey.{left} The figures stand in the table below.",
        partial(_forest, found),
    )


def _forest(found: Forest) -> str:
    from tiepoint.report import charts

    marks: list[Mark] = []
    for row in found.rows:
        few = "" if row.size.enough else f", {TOO_FEW}"
        marks.append(Mark(f"{short(row.group, 18)} · {row.scored}{few}", "head"))
        marks += [_mark(arm, few=not row.size.enough) for arm in row.arms]
    return charts.intervals(marks, found.measure)


def _mark(arm: ArmFigure, *, few: bool = False) -> Mark:
    style: Style = "few" if few else "baseline" if arm.baseline else "candidate"
    return Mark(arm.id, style, arm.figure.mean, arm.figure.low, arm.figure.high)


def _doubts(table: Table) -> tuple[str, ...]:
    """What the sign behind an interval means, where one stands there."""
    return (DOUBTED,) if any(DOUBT in cell for row in table.rows for cell in row) else ()


def _over(split: str | None) -> tuple[str, ...]:
    """Which queries the figures are over, where that is not all of them."""
    return () if split is None else (f"On the {split} split, which decides; the section Quality has all splits.",)


def _place(place: int | None) -> str:
    return NONE if place is None else str(place)
