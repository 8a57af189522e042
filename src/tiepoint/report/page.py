"""A result as one page of sentences and tables; Markdown, HTML and the terminal print the same page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tiepoint.core.result import (
    ArmFigures,
    BaselineResult,
    CandidateResult,
    Conditions,
    Figure,
    Figures,
    Norms,
    Slices,
    Summary,
    Truncation,
)

Arm = CandidateResult | BaselineResult
NONE = "–"
IN_WORDS = {
    "unfiltered": "no filter",
    "filtered": "region filter",
    "unfiltered_same": "no filter, same queries",
    "rare": "rare names",
}


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text; the first column names the row."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with sentences and tables under it."""

    title: str
    lines: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """What every form of the report says, in this order."""

    title: str
    notice: str | None
    sentence: str
    main: Table
    sections: tuple[Section, ...]


def page(summary: Summary, conditions: Conditions) -> Page:
    """The whole report."""
    sections = (
        _decision(summary),
        Section("Quality", _quality_notes(summary), (*_slice_tables(summary), _beside(summary))),
        Section("Subgroups", (), tuple(_group_tables(summary, "subgroups"))),
        Section("Regions", (), tuple(_group_tables(summary, "regions"))),
        Section("Cost and throughput", (), (_cost(summary),)),
        Section("Texts and vectors", (), (_lengths(summary), _norms(summary))),
        Section("Who stands in the means", (), (_denominators(summary), _ties(summary))),
        Section("Notes", _notes(summary)),
        Section("Not executed", tuple(f"{k}: {v}" for k, v in conditions.not_executed.items())),
        Section("Definitions", tuple(f"{name}: {text}" for name, text in summary.definitions.items())),
        Section("Conditions", _conditions(conditions)),
    )
    kept = tuple(s for s in sections if s.lines or any(t.rows for t in s.tables))
    return Page(
        f"{summary.study}: which embedding model", summary.notice, summary.decision.sentence, main(summary), kept
    )


def main(summary: Summary) -> Table:
    """The one table: three recalls, the rule's measure, what each may lose at most, cost, state. Fits 100 columns."""
    decision = summary.decision
    recall = _main_recall(summary)
    lose = {s.id: s for s in decision.standings}
    shown = [name for name in ("unfiltered", "filtered", "rare") if summary.denominators[name].queries]
    rows = []
    for arm in _arms(summary):
        standing = lose.get(arm.id)
        cells = [arm.id]
        cells += [_mean(headline(summary, arm, name).get(recall)) for name in shown]
        cells.append(_mean(headline(summary, arm, decision.slice).get(decision.measure)))
        if isinstance(arm, CandidateResult):
            cells.append(NONE if standing is None or len(lose) < 2 else number(standing.may_lose_at_most))
            cells += [_whole(arm.dimension), _rate(arm.documents_per_s), _state(arm, summary)]
        else:
            cells += [NONE, NONE, NONE, "baseline"]
        rows.append(tuple(cells))
    short = {"unfiltered": "all", "filtered": "region", "rare": "rare"}
    head = ("", *(f"{recall} {short[name]}" for name in shown), f"{decision.measure} {short[decision.slice]}")
    over = f" of the {decision.split} split" if decision.split else ""
    counts = ", ".join(f"{short[name]} {summary.denominators[name].scored}" for name in shown)
    note = f"Means over the scored queries{over} ({counts} in all splits)." if over else f"Scored queries: {counts}."
    return Table("Result", (*head, "may lose", "dim", "docs/s", "state"), tuple(rows), note)


def headline(summary: Summary, arm: Arm, name: str) -> Figures:
    """An arm's figures of a slice on the queries that decide: the test split where splits are named."""
    split = summary.decision.split
    of: Slices = arm.measures if split is None else arm.splits.get(split, {})
    return of.get(name, {})


def number(value: float | None) -> str:
    """Four places; an en dash for what could not be measured."""
    return NONE if value is None else f"{value:.4f}"


def figure(found: Figure | None) -> str:
    """`0.5142 [0.4700, 0.5590]`."""
    if found is None or found.mean is None:
        return NONE
    interval = "" if found.low is None else f" [{number(found.low)}, {number(found.high)}]"
    return number(found.mean) + interval


def _arms(summary: Summary) -> Iterable[Arm]:
    return (*summary.candidates, *summary.baselines)


def _main_recall(summary: Summary) -> str:
    """The recall at k where it was measured, else the first recall, else the rule's measure."""
    recalls = [m for m in summary.measures if m.startswith("recall")]
    wanted = f"recall@{summary.k}"
    return wanted if wanted in recalls else next(iter(recalls), summary.decision.measure)


def _state(arm: CandidateResult, summary: Summary) -> str:
    if arm.status != "measured":
        return arm.status
    decision = summary.decision
    if arm.id == decision.choice:
        return "chosen"
    return next((s.state for s in decision.standings if s.id == arm.id), arm.status)


def _decision(summary: Summary) -> Section:
    d = summary.decision
    sure = d.confidence if isinstance(d.confidence, str) else f"{d.confidence:.0%}"
    lines = [
        f"Rule, written before the run: {d.rule}",
        f"Verdict: {d.verdict}. Choice: {d.choice or 'none'}. By point estimate: {d.point_choice or 'none'}.",
        f"On {d.queries:,} queries in {d.clusters:,} independent clusters; confidence {sure}.",
    ]
    if d.least_queries is not None:
        lines.append(
            f"Below {d.least_queries:,} independent queries no candidate can be shown inside the gap of {d.gap:g}."
        )
    if d.settle_queries is not None:
        lines.append(f"Roughly {d.settle_queries:,} queries would settle it, if means and spreads stay as they are.")
    elif d.verdict == "undecided":
        lines.append("At these means no number of queries would settle it at this gap.")
    if d.settle_gap is not None:
        lines.append(f"The smallest gap at which these queries decide: {number(d.settle_gap)}.")
    rows = tuple((s.id, s.state, number(s.mean), number(s.may_lose_at_most)) for s in d.standings)
    head = ("candidate, cheapest first", "state", d.measure, "may lose at most")
    return Section("Decision", (*lines, *d.warnings), (Table("Candidates before the rule", head, rows),))


def _quality_notes(summary: Summary) -> tuple[str, ...]:
    graded = [m for m in summary.measures if m.startswith("nDCG")]
    gain = "the grade itself" if graded and all("linear" in m for m in graded) else "2^grade − 1"
    return (f"The gain of nDCG is {gain}. Unjudged hits gain nothing and are counted in Judged@k.",) if graded else ()


def _slice_tables(summary: Summary) -> Iterable[Table]:
    for name, counts in summary.denominators.items():
        if not counts.queries:
            continue
        rows = tuple(
            (arm.id, *(figure(arm.measures.get(name, {}).get(m)) for m in summary.measures))
            for arm in _arms(summary)
            if arm.measures
        )
        yield Table(
            f"{name} ({IN_WORDS[name]}), {counts.scored} scored queries",
            ("", *summary.measures),
            rows,
        )


def _beside(summary: Summary) -> Table:
    """What stands beside each figure of the rule's measure, and recall with what the filter removed left in."""
    measure, recall = summary.decision.measure, _main_recall(summary)
    rows = []
    for name, counts in summary.denominators.items():
        for arm in _arms(summary):
            bounds = arm.bounds.get(name, {}).get(measure)
            if counts.queries and bounds is not None:
                over = arm.over_readable_gold.get(name, {}).get(recall)
                best = (bounds.tie_low, bounds.tie_high, bounds.unjudged_best)
                rows.append((name, arm.id, *map(number, best), _mean(over)))
    head = (
        "",
        "",
        "lowest over ties",
        "highest over ties",
        "all unjudged hits relevant",
        f"{recall} over all readable gold",
    )
    return Table(f"What could move {measure}, and recall over all readable gold", head, tuple(rows))


def _group_tables(summary: Summary, kind: str) -> Iterable[Table]:
    measure = summary.decision.measure
    for name in summary.denominators:
        groups = sorted({g for arm in _arms(summary) for g, of in getattr(arm, kind).items() if name in of})
        rows = tuple(_group_row(summary, kind, group, name) for group in groups)
        if rows:
            head = ("", "queries", *(arm.id for arm in _arms(summary) if arm.measures))
            yield Table(f"{measure} by {kind.removesuffix('s')}, {name} ({IN_WORDS[name]})", head, rows)


def _group_row(summary: Summary, kind: str, group: str, name: str) -> tuple[str, ...]:
    measure = summary.decision.measure
    found = [getattr(arm, kind).get(group, {}).get(name, {}).get(measure) for arm in _arms(summary) if arm.measures]
    n = max((f.n for f in found if f is not None), default=0)
    return (group, str(n), *(figure(f) for f in found))


def _cost(summary: Summary) -> Table:
    head = (
        "",
        "dim",
        "bytes",
        "docs/s",
        "tokens/s",
        "queries/s",
        "p50 ms",
        "p95 ms",
        "load s",
        "rebuild s",
        "price",
        "encoded on",
    )
    rows = tuple(
        (
            c.id,
            _whole(c.dimension),
            _whole(c.bytes),
            _rate(c.documents_per_s),
            _rate(c.tokens_per_s),
            _rate(c.queries_per_s),
            _rate(c.query_p50_ms),
            _rate(c.query_p95_ms),
            _rate(c.load_s),
            _rate(c.rebuild_s),
            _rate(c.price),
            c.encoded_on or NONE,
        )
        for c in summary.candidates
        if c.status == "measured"
    )
    return Table("Cost", head, rows, "Times are of this machine; encoding from the cache keeps its own date.")


def _lengths(summary: Summary) -> Table:
    rows = []
    for c in summary.candidates:
        for role, found in (("documents", c.document_tokens), ("queries", c.query_tokens)):
            if c.status == "measured":
                rows.append(_length_row(c, role, found))
    head = ("", "", "tokens p50", "p95", "max", "limit", "texts cut", "tokens cut", "worst")
    note = "No limit stated: truncation was not executed, which is not the same as nothing cut."
    return Table("Token lengths against each model's limit", head, tuple(rows), note)


def _length_row(c: CandidateResult, role: str, found: Truncation | None) -> tuple[str, ...]:
    if found is None:
        return (c.id, role, *[NONE] * 4, "not executed", "not executed", NONE)
    cut = [NONE if v is None else f"{v:.1%}" for v in (found.cut_texts, found.cut_tokens)]
    if found.limit is None:
        cut = ["not executed"] * 2
    return (
        c.id, role, f"{found.p50:.0f}", f"{found.p95:.0f}", f"{found.max:.0f}", _whole(found.limit), *cut,
        ", ".join(found.worst) or NONE,
    )  # fmt: skip


def _norms(summary: Summary) -> Table:
    rows = []
    for c in summary.candidates:
        for role, norms in (("documents", c.document_norms), ("queries", c.query_norms)):
            if norms is not None:
                said = "normalised" if c.contract.get("normalized") else "any length"
                rows.append((c.id, role, said, *_norm_cells(norms)))
    return Table("Lengths of vectors", ("", "", "contract", "min", "median", "max"), tuple(rows))


def _norm_cells(norms: Norms) -> tuple[str, str, str]:
    return f"{norms.min:.6f}", f"{norms.median:.6f}", f"{norms.max:.6f}"


def _denominators(summary: Summary) -> Table:
    head = (
        "", "queries", "scored", "no relevant document", "not judged", "no answer", "left out", f"at most {summary.k} eligible",
        "gold", "gold filtered out", "gold absent", "recall ceiling",
    )  # fmt: skip
    rows = tuple(
        (
            name, str(d.queries), str(d.scored), str(d.no_relevant), str(d.not_judged), str(d.no_answer), str(d.left_out),
            str(d.few_eligible), str(d.gold), str(d.gold_filtered), str(d.gold_absent), number(d.gold_ceiling),
        )
        for name, d in summary.denominators.items()
    )  # fmt: skip
    return Table("Denominators", head, rows, "Counts of queries; gold counts judgements of grade 1 or better.")


def _ties(summary: Summary) -> Table:
    names = [name for name, d in summary.denominators.items() if d.queries]
    rows = tuple((arm.id, *(_tie(arm, name) for name in names)) for arm in _arms(summary) if arm.ties)
    return Table(f"Ties at the cut {summary.k}: queries (pairs)", ("", *names), rows)


def _tie(arm: ArmFigures, name: str) -> str:
    found = arm.ties.get(name)
    return NONE if found is None else f"{found.queries} ({found.pairs})"


def _notes(summary: Summary) -> tuple[str, ...]:
    lines = [f"Report {summary.bounded}.", *summary.notes]
    if summary.not_judged:
        lines.append(f"not judged, so never scored: {', '.join(summary.not_judged)}")
    for c in summary.candidates:
        if c.status != "measured":
            lines.append(f"{c.id}: {c.status}: {c.reason}")
        lines += [f"{c.id}: {note}" for note in c.notes]
        if c.documents_missing or c.queries_missing:
            lines.append(f"{c.id}: {c.documents_missing} documents and {c.queries_missing} queries have no vector")
    return tuple(lines)


def _conditions(conditions: Conditions) -> tuple[str, ...]:
    lines = [
        f"tiepoint {conditions.tiepoint}, Python {conditions.python}, {conditions.platform}, {conditions.processor}, "
        f"{conditions.cores} cores, threads {conditions.threads or 'all'}; made {conditions.created}",
        "packages: " + _pairs(conditions.packages),
        "seeds: " + _pairs(conditions.seeds),
        "order of encoding: " + ", ".join(conditions.encoded),
    ]
    lines += [f"SHA-256 of {name}: {value}" for name, value in conditions.hashes.items()]
    lines += [f"signature of {name}: {value}" for name, value in conditions.signatures.items()]
    return tuple(lines)


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _mean(found: Figure | None) -> str:
    return number(found.mean) if found is not None else NONE


def _whole(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}"


def _rate(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
