"""What the study's questions can settle, as sections of sentences and tables."""

from __future__ import annotations

from tiepoint.core.power import Outlook, Power
from tiepoint.decide import if_clusters_were_even
from tiepoint.report.table import NONE, Section, Table, lower, percent, upper, whole
from tiepoint.stats.settle import LIMIT

FIRST_GROUPS = 20
"""Groups in the table; the others are counted, and `--json` has them all."""

SUPPOSED = "difference"
"""The definition that stands among what is asked already."""


def sections(power: Power) -> tuple[Section, ...]:
    """What the owner reads: what is asked and what it takes at least, then each spread, then the groups."""
    return (
        Section(f"{power.study}: what its questions can settle; nothing was encoded", _asked(power)),
        *(_outlook(power, one) for one in power.outlooks),
        *([Section("Subgroups and regions that are to decide alone", (), (_groups(power),))] if power.groups else []),
        Section(
            "Definitions", tuple(f"- {name}: {text}" for name, text in power.definitions.items() if name != SUPPOSED)
        ),
    )


def _asked(power: Power) -> tuple[str, ...]:
    split = f" of the {power.split} split" if power.split else ""
    even = if_clusters_were_even(power.least, gap=power.gap, confidence=power.confidence, largest=power.largest_cluster)
    least = (
        f"no number of queries can show a candidate inside a gap of {power.gap:g}"
        if power.least is None
        else f"below {power.least:,} independent queries{even} no candidate can be shown inside it"
    )
    return (
        f"the rule: {power.measure} ({power.slice}), a gap of {power.gap:g}, {100 * power.confidence:g}% confidence; {least}",
        f"it decides on {power.queries:,} {power.slice} queries{split}, {power.clusters:,} independent",
        f"supposed: every other candidate is truly ahead of the cheapest by {power.difference:g}",
        *(f"the spread is {sentence}" for sentence in dict.fromkeys(one.spread.sentence for one in power.outlooks)),
        *power.notes,
    )


def _outlook(power: Power, one: Outlook) -> Section:
    spread = one.spread
    arms = f"{spread.arms} candidates"
    lines = [
        f"roughly {one.needed:,} independent queries would decide rightly four times in five"
        if one.needed is not None
        else f"no number of queries up to {LIMIT:,} would decide rightly four times in five"
    ]
    if one.own is not None:
        lines.append(
            f"the study's own {one.own.clusters:,} decide with a chance of {percent(one.own.decides)}; {_shown(one, power.gap)}"
        )
    rows = tuple(
        (whole(row.clusters), percent(row.decides), percent(row.right), "this study" if row == one.own else "")
        for row in one.rows
    )
    head = ("independent queries", "decides", "rightly", "")
    title = f"Spread {spread.sd:.4f}, {percent(spread.unequal)} of the queries differ, {arms}"
    if not rows:
        return Section(title, (f"no true difference of {power.difference:g} is possible under this spread",))
    return Section(title, tuple(lines), (Table("Chance that the rule decides", head, rows),))


def _shown(one: Outlook, gap: float) -> str:
    """Which true losses the study's own number tells apart from the gap."""
    about = "about " if one.spread.source == "measured" else ""
    limit = f"under this spread none above {about}{upper(one.furthest)} is possible"
    beyond = f"; {limit}" if gap >= one.furthest else ""
    shown = []
    if one.shown_inside is not None and one.shown_inside >= one.furthest:
        shown.append("inside the gap every true loss")
    elif one.shown_inside is not None:
        shown.append(f"inside the gap a true loss of at most {lower(one.shown_inside)}")
    if one.shown_outside is not None:
        shown.append(f"outside it a true loss of at least {upper(one.shown_outside)}")
    if not shown:
        return f"no true loss, however small or large, is shown four times in five to lie inside or outside the gap{beyond}"
    return f"four times in five they would show {', and '.join(shown)}{beyond}"


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
        f"Under {'this' if len(power.outlooks) == 1 else 'the first'} spread, {len(power.groups):,} groups",
        ("", "", "independent queries", "at least", "four times in five", "decides"),
        rows,
        f"and {rest:,} more: --json has them all" if rest > 0 else "",
    )
