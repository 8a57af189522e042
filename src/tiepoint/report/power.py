"""What the study's questions can settle, as sections of sentences and tables."""

from __future__ import annotations

from tiepoint.core.power import Outlook, Power
from tiepoint.report.table import NONE, Section, Table, number, percent, whole
from tiepoint.stats.settle import LIMIT

FIRST_GROUPS = 20
"""Groups in the table; the others are counted, and `--json` has them all."""


def sections(power: Power) -> tuple[Section, ...]:
    """What the owner reads: what is asked and what it takes at least, then each spread, then the groups."""
    return (
        Section(f"{power.study}: what its questions can settle; nothing was encoded", _asked(power)),
        *(_outlook(power, one) for one in power.outlooks),
        *([Section("Subgroups and regions that are to decide alone", (), (_groups(power),))] if power.groups else []),
        Section("Definitions", tuple(f"- {name}: {text}" for name, text in power.definitions.items())),
    )


def _asked(power: Power) -> tuple[str, ...]:
    split = f" of the {power.split} split" if power.split else ""
    least = (
        f"no number of queries can show a candidate inside a gap of {power.gap:g}"
        if power.least is None
        else f"below {power.least:,} independent queries no candidate can be shown inside it"
    )
    return (
        f"the rule: {power.measure} ({power.slice}), a gap of {power.gap:g}, {100 * power.confidence:g}% confidence; {least}",
        f"it decides on {power.queries:,} {power.slice} queries{split}, {power.clusters:,} independent",
        f"supposed: every other candidate is truly ahead of the cheapest by {power.difference:g}",
        *power.notes,
    )


def _outlook(power: Power, one: Outlook) -> Section:
    spread = one.spread
    arms = f"{spread.arms} candidates"
    lines = [
        spread.sentence,
        "roughly "
        + (
            f"{one.needed:,} independent queries would decide rightly four times in five"
            if one.needed is not None
            else f"no number of queries up to {LIMIT:,} would decide rightly four times in five"
        ),
    ]
    if one.own is not None:
        ends = [
            f"{where} a true loss of at {way} {number(loss)}"
            for where, way, loss in (
                ("inside the gap", "most", one.shown_inside),
                ("outside it", "least", one.shown_outside),
            )
            if loss is not None
        ]
        shown = (
            f"four times in five they would show {', and '.join(ends)}"
            if ends
            else "no loss, however small or large, is shown"
        )
        lines.append(
            f"the study's own {one.own.clusters:,} decide with a chance of {percent(one.own.decides)}; {shown}"
        )
    rows = tuple(
        (whole(row.clusters), percent(row.decides), percent(row.right), "this study" if row == one.own else "")
        for row in one.rows
    )
    head = ("independent queries", "decides", "rightly", "")
    title = f"Spread {spread.sd:.4f}, {percent(spread.unequal)} of the queries differ, {arms} ({spread.source})"
    if not rows:
        why = f"so few queries differ, and by so little, that no true difference of {power.difference:g} is possible"
        return Section(title, (lines[0], why))
    return Section(title, tuple(lines), (Table("Chance that the rule decides", head, rows),))


def _groups(power: Power) -> Table:
    shown = power.groups[:FIRST_GROUPS]
    rest = len(power.groups) - len(shown)
    rows = tuple(
        (
            group.name,
            group.kind,
            whole(group.clusters),
            whole(group.least),
            whole(group.needed),
            NONE if group.own is None else percent(group.own.decides),
        )
        for group in shown
    )
    return Table(
        f"Under the first spread, {len(power.groups):,} groups",
        ("", "", "independent queries", "at least", "four times in five", "decides"),
        rows,
        f"and {rest:,} more: --json has them all" if rest > 0 else "",
    )
