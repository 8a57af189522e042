"""An audit's page with its chart: what the move changes, slice by slice, as differences with intervals."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tiepoint.core.audit import AuditSummary
from tiepoint.core.audit_quality import Delta
from tiepoint.report.audit import audit_page
from tiepoint.report.marks import Mark, Style, short
from tiepoint.report.table import IN_WORDS, TOO_FEW, Drawing, Page, Section

QUALITY = "Quality, query by query"
AFTER = "Agreement of the rankings"
MOST_ROWS = 120


def drawn_audit_page(found: AuditSummary) -> Page:
    """The whole report of an audit, its chart in place."""
    page = audit_page(found)
    sections = tuple(_drawn(section, found) for section in page.sections)
    titles = [section.title for section in sections]
    place = titles.index(AFTER) + 1 if AFTER in titles else 0
    return replace(page, sections=sections, badge=found.outcome, explore_after=place)


def _drawn(section: Section, found: AuditSummary) -> Section:
    if section.title != QUALITY or found.quality is None:
        return section
    shown = tuple(d for d in found.quality.deltas if d.difference is not None)
    if not shown:
        return section
    drawing = Drawing(
        "differences",
        "Target less source, with intervals",
        "For each slice a difference with its interval for every measure over every query, and for every group; right of the "
        "line at 0 the target is better; what is too few to decide is grey. The figures stand in the tables below.",
        partial(_differences, shown[:MOST_ROWS]),
    )
    return replace(section, drawings=(drawing,))


def _differences(deltas: tuple[Delta, ...]) -> str:
    from tiepoint.report import charts

    marks: list[Mark] = []
    for name in dict.fromkeys(d.slice for d in deltas):
        marks.append(Mark(IN_WORDS.get(name, name), "head"))
        marks += [_mark(d) for d in deltas if d.slice == name]
    return charts.intervals(marks, "target less source", zero=True)


def _mark(d: Delta) -> Mark:
    style: Style = "candidate" if d.enough else "few"
    few = "" if d.enough else f", {TOO_FEW}"
    label = d.measure if d.whole else f"{short(d.group, 12)} {d.measure}"
    return Mark(short(f"{label}{few}"), style, d.difference, d.low, d.high)
