"""The sections on quality: the decision, every slice, and every subgroup and region."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from tiepoint.core.figure import Groups
from tiepoint.core.result import Summary
from tiepoint.decide import if_clusters_were_even
from tiepoint.report.table import (
    DOUBT,
    DOUBTED,
    IN_WORDS,
    TOO_FEW,
    Section,
    Table,
    arms_of,
    figure,
    main_recall,
    mean,
    number,
    upper,
)
from tiepoint.stats.enough import FEWEST


def decision(summary: Summary) -> Section:
    """The rule, its verdict and what stands beside it."""
    d = summary.decision
    sure = d.confidence if isinstance(d.confidence, str) else f"{100 * d.confidence:g}%"
    lines = [
        f"Rule, written before the run: {d.rule}",
        f"Verdict: {d.verdict}. Choice: {d.choice or 'none'}. By point estimate: {d.point_choice or 'none'}.",
        f"On {d.queries:,} queries in {d.clusters:,} independent clusters; confidence {sure}.",
    ]
    if d.least_queries is not None:
        even = if_clusters_were_even(d.least_queries, gap=d.gap, confidence=d.confidence, largest=d.largest_cluster)
        lines.append(
            f"Below {d.least_queries:,} independent queries{even} no candidate can be shown inside the gap of {d.gap:g}."
        )
    if d.largest_cluster > 1:
        lines.append(
            f"The slice's largest cluster has {d.largest_cluster:,} queries, and the imagined one is as large: the verdict is "
            "for populations whose seed questions have no more variants."
        )
    alone = "The intervals of the figures below stand for themselves and are not corrected for their number."
    if d.tests:
        lines.append(f"Tested: {d.tests} one-sided hypotheses, corrected as the definitions say. {alone}")
    elif d.open and d.clusters < FEWEST:
        lines.append(f"Tested: no hypothesis, on fewer than {FEWEST} independent queries. {alone}")
    if d.settle_queries is not None:
        lines.append(f"{d.settling()}.")
    elif d.verdict == "undecided" and d.clusters >= FEWEST and d.confidence != "point":
        lines.append("At these means not even a million queries would settle it at this gap.")
    if d.settle_gap is not None:
        lines.append(f"The smallest gap at which these queries decide: {upper(d.settle_gap)}.")
    rows = tuple((s.id, s.state, number(s.mean), upper(s.may_lose_at_most)) for s in d.standings)
    head = ("candidate, cheapest first", "state", d.measure, "may lose at most")
    note = "not tested: the walk, cheapest first, ended before it; open: neither in nor out of the gap can be shown."
    return Section("Decision", (*lines, *d.warnings), (Table("Candidates before the rule", head, rows, note),))


def slices(summary: Summary) -> Section:
    """Every measure of every arm, slice by slice."""
    return Section("Quality", _quality_notes(summary), (*_slice_tables(summary), _judged(summary), _beside(summary)))


def _quality_notes(summary: Summary) -> tuple[str, ...]:
    graded = [m for m in summary.measures if m.startswith("nDCG")]
    gain = "the grade itself" if graded and all("linear" in m for m in graded) else "2^grade − 1"
    said = (f"The gain of nDCG is {gain}. Unjudged hits gain nothing and are counted in Judged@k.",) if graded else ()
    arms = [arm.measures for arm in arms_of(summary)]
    doubted = any(not f.trusted for of in arms for figures in of.values() for f in figures.values())
    return (*said, DOUBTED) if doubted else said


def _slice_tables(summary: Summary) -> Iterable[Table]:
    for name, counts in summary.denominators.items():
        if not counts.queries:
            continue
        rows = tuple(
            (arm.id, *(figure(arm.measures.get(name, {}).get(m)) for m in summary.measures))
            for arm in arms_of(summary)
            if arm.measures
        )
        yield Table(
            f"{name} ({IN_WORDS[name]}), {counts.scored} scored queries",
            ("", *summary.measures),
            rows,
        )


def _judged(summary: Summary) -> Table:
    """How much of each ranking was judged, at the cut-off of the rule's measure."""
    names = [name for name, counts in summary.denominators.items() if counts.queries]
    rows = tuple((arm.id, *(number(arm.judged.get(name)) for name in names)) for arm in arms_of(summary) if arm.judged)
    head = ("", *(f"{name} ({IN_WORDS[name]})" for name in names))
    return Table("How much of each ranking is judged", head, rows, "Unjudged hits gain nothing and are not grade 0.")


def _beside(summary: Summary) -> Table:
    """What stands beside each figure of the rule's measure, and recall with what the filter removed left in."""
    measure, recall = summary.decision.measure, main_recall(summary)
    rows = []
    for name, counts in summary.denominators.items():
        for arm in arms_of(summary):
            bounds = arm.bounds.get(name, {}).get(measure)
            if counts.queries and bounds is not None:
                over = arm.over_readable_gold.get(name, {}).get(recall)
                ties = (bounds.tie_low, bounds.tie_expected, bounds.tie_high)
                unjudged = (bounds.unjudged_worst, bounds.unjudged_best)
                rows.append((name, arm.id, *map(number, ties + unjudged), mean(over)))
    head = (
        "",
        "",
        "lowest over ties",
        "mean over ties",
        "highest over ties",
        "least by unjudged hits",
        "most by unjudged hits",
        f"{recall} over all readable gold",
    )
    return Table(f"What could move {measure}, and recall over all readable gold", head, tuple(rows))


def groups(summary: Summary, kind: Literal["subgroups", "regions"]) -> Section:
    """The rule's measure by subgroup or region, with the number of queries and whether they are too few."""
    tables = tuple(
        Table(
            f"{summary.decision.measure} by {kind.removesuffix('s')}, {name} ({IN_WORDS[name]})",
            ("", "queries", "", *(arm.id for arm in arms_of(summary) if arm.measures)),
            tuple(_group_row(summary, kind, group, name) for group in _in_slice(summary, kind, name)),
        )
        for name in summary.denominators
        if _in_slice(summary, kind, name)
    )
    notes = [note for note in (too_few_note(summary, kind),) if note]
    if any(DOUBT in cell for table in tables for row in table.rows for cell in row):
        notes.append(DOUBTED)
    return Section(kind.capitalize(), tuple(notes) if tables else (), tables)


def too_few_note(summary: Summary, kind: Literal["subgroups", "regions"]) -> str:
    """What "too few to decide" means here; empty where no group is too small."""
    sizes: Groups = getattr(summary, kind)
    if all(size.enough for of in sizes.values() for size in of.values()):
        return ""
    return (
        f"{TOO_FEW.capitalize()}: too few independent queries to call any candidate by this group alone. Beside it stands how "
        f"many of it decide, and how many it takes at least, at the gap of {summary.decision.gap:g}; more to be likely: tiepoint "
        "power says how many."
    )


def state_of(summary: Summary, kind: Literal["subgroups", "regions"], group: str, name: str) -> str:
    """`too few to decide: 38 of 149 needed`, or nothing, for a group in a slice."""
    sizes: Groups = getattr(summary, kind)
    size = sizes.get(group, {}).get(name)
    if size is None or size.enough:
        return ""
    return TOO_FEW if size.least is None else f"{TOO_FEW}: {size.clusters:,} of {size.least:,} needed"


def _in_slice(summary: Summary, kind: str, name: str) -> list[str]:
    return sorted({g for arm in arms_of(summary) for g, of in getattr(arm, kind).items() if name in of})


def _group_row(summary: Summary, kind: Literal["subgroups", "regions"], group: str, name: str) -> tuple[str, ...]:
    measure = summary.decision.measure
    found = [getattr(arm, kind).get(group, {}).get(name, {}).get(measure) for arm in arms_of(summary) if arm.measures]
    n = max((f.n for f in found if f is not None), default=0)
    return (group, str(n), state_of(summary, kind, group, name), *(figure(f) for f in found))
