"""A result as one page of sentences and tables; Markdown, HTML and the terminal print the same page."""

from __future__ import annotations

from dataclasses import replace

from tiepoint.core.candidate import RUN
from tiepoint.core.report import Forest, Report
from tiepoint.core.result import CandidateResult, Summary
from tiepoint.report import drawings, quality, sections
from tiepoint.report.table import NONE, Page, Section, Table, arms_of, headline, main_recall, mean, rate, upper, whole


def page(report: Report) -> Page:
    """The whole report."""
    summary, conditions = report.summary, report.conditions
    forests = {forest.kind: forest for forest in report.forests}
    first = (
        quality.decision(summary),
        drawings.against_cost(report.cost),
        drawings.recalls(report.recalls),
        drawings.inversion(report.inversion),
        quality.slices(summary),
        _drawn(quality.groups(summary, "subgroups"), forests.get("subgroups")),
        _drawn(quality.groups(summary, "regions"), forests.get("regions")),
    )
    after = (
        Section("Cost and throughput", (), (sections.cost(summary),)),
        Section(
            "Texts and vectors",
            (),
            (sections.lengths(summary), sections.recall_on_cut(summary), sections.norms(summary)),
        ),
        Section("Who stands in the means", (), (sections.denominators(summary), sections.ties(summary))),
        Section("Suspect labels", sections.suspect_labels(summary)),
        Section("Notes", sections.notes(summary)),
        Section("Not executed", tuple(f"{k}: {v}" for k, v in conditions.not_executed.items())),
        Section("Definitions", tuple(f"{name}: {text}" for name, text in summary.definitions.items())),
        Section("Conditions", sections.conditions_of(conditions)),
    )
    kept = [_warned(s, report) for s in (*first, *after) if s.lines or any(t.rows for t in s.tables)]
    titles = {s.title for s in first}
    return Page(
        f"{summary.study}: which embedding model",
        summary.notice,
        summary.decision.sentence,
        main(summary),
        tuple(kept),
        badge=summary.decision.verdict,
        explore_after=sum(s.title in titles for s in kept),
    )


def _drawn(section: Section, forest: Forest | None) -> Section:
    return replace(section, drawings=tuple(drawings.forest(forest)))


def _warned(section: Section, report: Report) -> Section:
    return replace(section, warnings=(*section.warnings, *report.warnings.get(section.title, ())))


def main(summary: Summary) -> Table:
    """The one table: three recalls, the rule's measure, what each may lose at most, cost, state. Fits 100 columns."""
    decision = summary.decision
    recall = main_recall(summary)
    lose = {s.id: s for s in decision.standings}
    shown = [name for name in ("unfiltered", "filtered", "rare") if summary.denominators[name].queries]
    rows = []
    for arm in arms_of(summary):
        standing = lose.get(arm.id)
        cells = [arm.id]
        cells += [mean(headline(summary, arm, name).get(recall)) for name in shown]
        cells.append(mean(headline(summary, arm, decision.slice).get(decision.measure)))
        if isinstance(arm, CandidateResult):
            cells.append(NONE if standing is None else upper(standing.may_lose_at_most))
            cells += [whole(arm.dimension), rate(arm.documents_per_s), _state(arm, summary)]
        else:
            cells += [NONE, NONE, NONE, "baseline"]
        rows.append(tuple(cells))
    short = {"unfiltered": "all", "filtered": "region", "rare": "rare"}
    head = ("", *(f"{recall} {short[name]}" for name in shown), f"{decision.measure} {short[decision.slice]}")
    over = f" of the {decision.split} split" if decision.split else ""
    scored = {
        name: max((f.n for arm in arms_of(summary) if (f := headline(summary, arm, name).get(recall))), default=0)
        for name in shown
    }
    counts = ", ".join(f"{short[name]} {n}" for name, n in scored.items())
    note = f"Scored queries{over}: {counts}."
    few = [
        f"{summary.denominators[name].few_eligible} of {summary.denominators[name].queries} ({short[name]})"
        for name in shown
        if summary.denominators[name].few_eligible
    ]
    if few:
        note += f" At most {summary.k} documents are eligible for {' and '.join(few)} queries of all splits: there any "
        note += "model has recall 1."
    return Table("Result", (*head, "may lose", "dim", "docs/s", "state"), tuple(rows), note)


def _state(arm: CandidateResult, summary: Summary) -> str:
    if arm.status != "measured":
        return arm.status
    if arm.embedder == RUN:
        return RUN
    decision = summary.decision
    if arm.id == decision.choice:
        return "chosen"
    return next((s.state for s in decision.standings if s.id == arm.id), arm.status)
