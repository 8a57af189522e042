"""An audit as one page: the gates with their evidence, then what each section found."""

from __future__ import annotations

from collections.abc import Iterator

from tiepoint.core.audit import AuditSummary, GateResult, Outcome
from tiepoint.core.audit_findings import Holding, Offenders, Provenance, VectorCheck
from tiepoint.core.audit_quality import EVERY, Delta, Lost, Ranked
from tiepoint.core.rounding import bound_above, bound_below
from tiepoint.errors import some
from tiepoint.report.audit_tested import hypotheses, in_words
from tiepoint.report.sections import noise_in_words
from tiepoint.report.table import DOUBTED_CHANGE, IN_WORDS, NONE, TOO_FEW, Page, Section, Table, number

QUALITY_DECISION = "A quality decision is required: gates that pass authorise no release, a person does."
SAID: dict[Outcome, str] = {
    "pass": "Every gate that was asked for holds",
    "fail": "At least one gate fails",
    "undecided": "No gate fails, and not every one can be decided",
    "not executed": "No gate fails, and not every one could be executed",
}
NOT_SHOWN = "(not for these readers)"
SIDES = ("source", "target")
QUALITY = "Quality, query by query"
FEW = (
    "Too few to decide: fewer independent queries than are needed, as stands beside them, decide nothing, whatever its "
    "figures are."
)


def audit_page(found: AuditSummary) -> Page:
    """The whole report of an audit."""
    names = f"{found.source.name} to {found.target.name}"
    every = (
        Section("Contracts", _contract_lines(found), (_contracts(found),)),
        Section("Inventory", (), (_inventory(found),)),
        Section("Canon", (), (_canon(found),)),
        Section("Vectors", (), (_vectors(found),)),
        Section("Provenance", (), (_provenance(found),)),
        hypotheses(found),
        *_quality(found),
        Section("Agreement of the rankings", (), (_agreement(found),)),
        Section("Access", (), (_access(found),)),
        Section("Notes", found.notes),
        Section("Not executed", _not_executed(found)),
        Section("Definitions", tuple(f"{name}: {text}" for name, text in found.definitions.items())),
        Section(
            "Conditions",
            (f"This report is {found.bounded}.", *(f"{name}: {value}" for name, value in found.conditions.items())),
        ),
    )
    kept = tuple(s for s in every if s.lines or any(t.rows for t in s.tables))
    return Page(f"Moving from {names}", found.notice, sentence(found), gate_table(found), kept)


def sentence(found: AuditSummary) -> str:
    """What the gates say, and that a person decides."""
    gates = found.gates
    named = {o: [g.name for g in gates if g.outcome == o] for o in ("fail", "undecided", "not executed")}
    said = "; ".join(f"{outcome}: {', '.join(names)}" for outcome, names in named.items() if names)
    outcome = found.mechanical_outcome
    mechanical = {"pass": "hold", "fail": "fail"}.get(outcome, f"are {outcome}")
    which = ", ".join(g.name for g in gates if g.mechanical and g.outcome == outcome)
    mechanical += f" ({which})" if which else ""
    return f"{SAID[found.outcome]}{f' ({said})' if said else ''}. The mechanical gates {mechanical}. {QUALITY_DECISION}"


def brief(found: AuditSummary) -> tuple[Section, ...]:
    """The audit for a terminal: the gates with their evidence, quality by slice, agreement, and what was not executed."""
    head = (found.notice,) if found.notice else ()
    gates = (*(f"{g.name}: {g.outcome}. {g.evidence}" for g in found.gates), in_words(found))
    every = (
        Section(f"Moving from {found.source.name} to {found.target.name}", (*head, sentence(found))),
        Section("Contracts", _brief_contracts(found)),
        Section("Gates", gates),
        *(
            Section(s.title, s.lines, tuple(_main_rows(t) for t in s.tables))
            for s in _quality(found)
            if s.title == QUALITY
        ),
        Section("Agreement of the rankings", (), (_brief_agreement(found),)),
        Section("Not executed", _not_executed(found)),
    )
    return tuple(s for s in every if s.lines or any(t.rows for t in s.tables))


def _brief_contracts(found: AuditSummary) -> tuple[str, ...]:
    fields = ", ".join(d.field for d in found.contracts.differences)
    said = _contract_lines(found)[0]
    return (said, f"They differ in {fields}.") if fields else (said,)


def _not_executed(found: AuditSummary) -> tuple[str, ...]:
    """One line a reason, with all that it kept from being executed."""
    by_reason: dict[str, list[str]] = {}
    for name, why in found.not_executed.items():
        by_reason.setdefault(why, []).append(name)
    return tuple(f"{', '.join(names)}: {why}" for why, names in by_reason.items())


def _main_rows(table: Table) -> Table:
    """Measure, n, both means, difference and counts of all queries of a slice; the groups stand in the report."""
    keep = (0, 2, 3, 4, 5, 9)
    rows = tuple(tuple(row[i] for i in keep) for row in table.rows if row[1].partition(":")[0] == EVERY)
    return Table(table.title, tuple(table.head[i] for i in keep), rows, table.note)


def _brief_agreement(found: AuditSummary) -> Table:
    whole = _agreement(found)
    return Table(whole.title, whole.head[:7], tuple(row[:7] for row in whole.rows))


def gate_table(found: AuditSummary) -> Table:
    """One row a gate."""
    rows = tuple((g.name, _kind(g), g.outcome, g.evidence, g.threshold) for g in found.gates)
    return Table("Gates", ("", "kind", "outcome", "evidence", "asked for"), rows)


def _kind(gate: GateResult) -> str:
    return "mechanical" if gate.mechanical else "quality"


def _contract_lines(found: AuditSummary) -> tuple[str, ...]:
    same = found.contracts.comparable
    return (
        "The signatures are equal: vectors of one side may be compared with the other's."
        if same
        else "The signatures differ: these are two spaces, and no vector of one may be compared with one of the other.",
        f"source {found.source.name}: {found.contracts.source_signature}",
        f"target {found.target.name}: {found.contracts.target_signature}",
    )


def _contracts(found: AuditSummary) -> Table:
    rows = tuple((d.field, d.source or NONE, d.target or NONE) for d in found.contracts.differences)
    return Table("Fields that differ", ("", *SIDES), rows)


def _inventory(found: AuditSummary) -> Table:
    held = found.inventory
    both = (held.source, held.target)
    rows = (
        ("rows", *(f"{one.rows:,}" for one in both)),
        ("documents", *(f"{one.documents:,}" for one in both)),
        ("queries", *(f"{one.queries:,}" for one in both)),
        ("on this side alone", _named(held.only_source), _named(held.only_target)),
        ("repeated ids", *(_named(one.duplicates) for one in both)),
        ("tombstones", *(_named(one.tombstones) for one in both)),
        ("deleted and back", *(_named(one.returned) for one in both)),
        ("deletions up to version", *(one.watermark or NONE for one in both)),
        ("ledger", *(_ledger(one) for one in both)),
        ("bytes of vectors", *(f"{one.bytes:,}" for one in both)),
    )
    return Table("What each side holds", ("", *SIDES), rows, f"Shared: {held.shared:,} items. Every row was looked at.")


def _ledger(one: Holding) -> str:
    if one.wanted is None:
        return "not executed: no ledger"
    closes = {True: "closes", False: "does not close", None: "not whole"}[one.closed]
    counts = {"encoded": one.encoded, "cached": one.cached, "failed": one.failed}
    said = ", ".join(f"{NONE if count is None else format(count, ',')} {name}" for name, count in counts.items())
    return f"{one.wanted:,} wanted, {said}: {closes}"


def _canon(found: AuditSummary) -> Table:
    rows = tuple((f.field, f"{f.compared:,}", f"{f.unknown:,}", _named(f.mismatches)) for f in found.canon.fields)
    return Table("Under each shared id", ("", "compared", "not known", "differ"), rows)


def _vectors(found: AuditSummary) -> Table:
    both = (found.source_vectors, found.target_vectors)
    rows = (
        ("shape and dtype", *(one.shape or one.dtype or "as the contract says" for one in both)),
        ("not finite", *(_named(one.not_finite) for one in both)),
        ("zero", *(_named(one.zero) for one in both)),
        ("length off the contract", *(_named(one.off_norm) for one in both)),
        ("norms: min, median, max", *(_norms(one) for one in both)),
        ("one vector, several texts", *(_known(one.shared_vector) for one in both)),
        ("one text, several vectors", *(_known(one.split_text) for one in both)),
        ("constant dimensions", *(some(one.constant) or "none" for one in both)),
        ("dimensions without spread", *(some(one.collapsed) or "none" for one in both)),
        ("encoded again", *(noise_in_words(side.noise) for side in (found.source, found.target))),
    )
    return Table("Every vector", ("", *SIDES), rows)


def _norms(one: VectorCheck) -> str:
    values = (one.norm_min, one.norm_median, one.norm_max)
    return ", ".join(NONE if v is None else f"{v:.6g}" for v in values)


def _provenance(found: AuditSummary) -> Table:
    both = (found.source_provenance, found.target_provenance)
    rows: list[tuple[str, ...]] = [
        ("sampled and embedded again", *(_sampled(one) for one in both)),
        ("elsewhere", *(_named(one.offenders) if one.reason is None else NONE for one in both)),
        ("share elsewhere", *(_share(one) for one in both)),
        ("not checked: no text is known", *(NONE if one.reason else f"{one.unchecked:,}" for one in both)),
    ]
    parts = [{p.name: f"{p.elsewhere:,} of {p.sampled:,} (rows: {p.rows:,})" for p in one.strata} for one in both]
    rows += [(name, *(of.get(name, NONE) for of in parts)) for name in dict.fromkeys([*parts[0], *parts[1]])]
    note = "A label is a claim: a random sample of each stratum is embedded again and compared with what is stored."
    return Table("Are the vectors in the space that they name?", ("", *SIDES), tuple(rows), note)


def _sampled(one: Provenance) -> str:
    return f"not executed: {one.reason}" if one.reason is not None else f"{one.sampled:,}"


def _share(one: Provenance) -> str:
    if one.low is None or one.high is None:
        return NONE
    return f"{one.share:.2%} [{bound_below(one.low):.2%}, {bound_above(one.high):.2%}] at {_level(one.level)}"


def _quality(found: AuditSummary) -> Iterator[Section]:
    if found.quality is None:
        return
    tables = []
    empty = [a.slice for a in found.agreement if not a.queries]
    for name in dict.fromkeys(d.slice for d in found.quality.deltas if d.slice not in empty):
        rows = tuple(_delta(d) for d in found.quality.deltas if d.slice == name)
        head = (
            "", "group", "n", *SIDES, "difference", "at worst", "at best", "no difference: p (Holm)", "better/worse/same",
        )  # fmt: skip
        tables.append(Table(f"{name} ({IN_WORDS[name]})", head, rows))
    lines: tuple[str, ...] = (
        f"Intervals are two-sided at {_level(found.quality.level)}, not corrected. {_randomised(found.quality.randomised)} Each "
        "query is encoded by its own space, and both are searched exactly.",
    )
    if any(not d.trusted for d in found.quality.deltas):
        lines = (*lines, DOUBTED_CHANGE)
    if any(not d.enough for d in found.quality.deltas):
        lines = (*lines, FEW)
    if found.quality.split is not None:
        lines = (*lines, f"Every figure is of the split {found.quality.split}, as the decision is.")
    if found.quality.source_missing or found.quality.target_missing:
        missing = f"{found.quality.source_missing} in the source, {found.quality.target_missing} in the target"
        lines = (*lines, f"Queries without a vector are misses: {missing}.")
    if empty:
        lines = (*lines, f"Slices without a query: {', '.join(f'{name} ({IN_WORDS[name]})' for name in empty)}.")
    if found.quality.lost_hidden is not None:
        lines = (*lines, f"Queries that lost most are not shown: {found.quality.lost_hidden}.")
    yield Section(QUALITY, lines, tuple(tables))
    if found.quality.lost:
        yield Section(
            "The queries that lost most",
            tuple(f"{q.query}: {q.measure} {number(q.source)} to {number(q.target)}" for q in found.quality.lost),
            tuple(map(_lost, found.quality.lost)),
        )


def _randomised(tests: int) -> str:
    """What the p values of no difference are, or that there is none."""
    if not tests:
        return "No randomisation test of no difference is made."
    whose = "of one randomisation test" if tests == 1 else f"of {tests} randomisation tests, Holm's over all of them"
    return f"The p values are {whose}, two-sided, of no difference at all: they describe, and no gate looks at them."


def _level(share: float) -> str:
    """`95%`, `97.5%`."""
    return f"{round(100 * share, 6):g}%"


def _delta(d: Delta) -> tuple[str, ...]:
    interval = "" if d.low is None else f" [{d.low:+.4f}, {d.high:+.4f}]{'' if d.trusted else '?'}"
    change = NONE if d.difference is None else f"{d.difference:+.4f}{interval}"
    p = NONE if d.p_holm is None else f"{d.p_holm:.3g}"
    group = d.group if d.enough else f"{d.group}: {TOO_FEW}: {d.least:,} needed"
    return (
        d.measure, group, f"{d.n:,}", number(d.source), number(d.target), change,
        NONE if d.worst is None else f"{bound_below(d.worst):+.4f}", NONE if d.best is None else f"{bound_above(d.best):+.4f}",
        p, f"{d.wins}/{d.losses}/{d.ties}",
    )  # fmt: skip


def _lost(query: Lost) -> Table:
    depth = max(len(query.source_hits), len(query.target_hits))
    rows = tuple((str(i + 1), _hit(query.source_hits, i), _hit(query.target_hits, i)) for i in range(depth))
    return Table(f"{query.query}: document, grade, score", ("rank", *SIDES), rows)


def _hit(hits: tuple[Ranked, ...], place: int) -> str:
    if place >= len(hits):
        return NONE
    hit = hits[place]
    if hit.document is None:
        return NOT_SHOWN
    return f"{hit.document} {'unjudged' if hit.grade is None else f'grade {hit.grade}'} {number(hit.score)}"


def _agreement(found: AuditSummary) -> Table:
    rows = tuple(
        (
            f"{a.slice} ({IN_WORDS[a.slice]})", f"{a.queries:,}", f"{a.undefined:,}",
            _over_ties(a.jaccard, a.jaccard_low, a.jaccard_high), _over_ties(a.overlap, a.overlap_low, a.overlap_high),
            _moved(a.entered, a.entered_judged), _moved(a.left, a.left_judged), number(a.source_judged),
            number(a.target_judged), _between(a.difference_worst, a.difference_best),
        )
        for a in found.agreement
        if a.queries
    )  # fmt: skip
    head = (
        "", "queries", "both empty", f"Jaccard@{found.k}", f"RBO@{found.k}", "in (judged)", "out (judged)",
        "judged before", "judged after", "difference by unjudged",
    )  # fmt: skip
    persistence = next((f"{a.persistence:g}" for a in found.agreement), "")
    measure = next((a.measure for a in found.agreement), "")
    note = (
        f"RBO: rank-biased overlap with persistence {persistence}. Jaccard and RBO: the mean over all orders of tied documents, "
        "those that noise of encoding alone tells apart among them; beside it the least and the most where they differ. "
        f"The last column: between what the difference of {measure} lies, whatever grades the unjudged hits of either side have."
    )
    return Table("Top k, query by query", head, rows, note)


def _over_ties(value: float | None, low: float | None, high: float | None) -> str:
    """`0.8125 (0.7500 to 0.8750)`; the value alone where no order of tied documents moves it."""
    moved = number(low) != number(high)
    return f"{number(value)} ({number(low)} to {number(high)})" if moved else number(value)


def _moved(pairs: int | None, judged: int | None) -> str:
    return NONE if pairs is None or judged is None else f"{pairs:,} ({judged:,})"


def _between(low: float | None, high: float | None) -> str:
    return NONE if low is None or high is None else f"{low:+.4f} to {high:+.4f}"


def _access(found: AuditSummary) -> Table:
    tests = () if found.access is None else found.access.tests
    rows = tuple((t.name, t.side, f"{t.looked_at:,}", t.reason or _named(t.broken)) for t in tests)
    return Table("The same permission tests on both sides", ("", "side", "looked at", "broken"), rows)


def _named(offenders: Offenders) -> str:
    if not offenders.count:
        return "none"
    return f"{offenders.count:,}: {some(offenders.first)}" + (" ..." if offenders.count > len(offenders.first) else "")


def _known(offenders: Offenders | None) -> str:
    return "not executed: texts are not known" if offenders is None else _named(offenders)
