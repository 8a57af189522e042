"""The audit of a fixture in short: what passes, what moved, what a person must decide."""

from __future__ import annotations

from tiepoint.core.fixture_audit import NOTICE, CaseFigures, FixtureAudit, MigrationFigures, SpaceFigures
from tiepoint.errors import some
from tiepoint.report.table import Section, Table, number

SHOWN_CASES = 20
"""So many questions whose rankings part are listed; the others are counted, and stand in the JSON."""


def sections(audit: FixtureAudit) -> tuple[Section, ...]:
    """Notice, spaces, one section for each move, and the verdict as the last."""
    return (
        Section("Fixture audit", (NOTICE,)),
        _spaces(audit),
        *(_move(audit, move) for move in audit.migrations),
        Section("Verdict", (_verdict(audit),)),
    )


def _spaces(audit: FixtureAudit) -> Section:
    k = audit.k
    head = ("space", "metric", "dim", "items", "norms", "queries", f"recall@{k}", f"RR@{k}", f"nDCG@{k}", f"Judged@{k}")
    lines = [f"{s.contract.space_id}: signature {s.contract.signature()}" for s in audit.spaces]
    lines += [f"{s.contract.space_id}: documents of one text: {some(s.copies)}" for s in audit.spaces if s.copies]
    return Section(
        "Spaces", tuple(lines), (Table("Figures", head, tuple(_space(s) for s in audit.spaces)), _subgroups(audit))
    )


def _subgroups(audit: FixtureAudit) -> Table:
    """Means of each subgroup, the spaces beneath one another."""
    head = ("subgroup", "space", "queries", f"recall@{audit.k}", f"RR@{audit.k}", f"nDCG@{audit.k}")
    names = sorted({name for space in audit.spaces for name in space.subgroups})
    rows = []
    for name in names:
        for space in audit.spaces:
            means = space.subgroups[name]
            figures = (number(means.recall), number(means.rr), number(means.ndcg))
            rows.append((name, space.contract.space_id, str(means.queries), *figures))
    return Table(
        "Subgroups", head, tuple(rows), "Means of few queries: they say where to look, not how large a loss is."
    )


def _space(space: SpaceFigures) -> tuple[str, ...]:
    contract, inventory, means = space.contract, space.inventory, space.means
    hits = sum(len(case.result_ids) for case in space.cases)
    return (
        contract.space_id,
        contract.metric,
        str(contract.dimension),
        str(inventory.items),
        f"{inventory.norm_min:.4g} to {inventory.norm_max:.4g}",
        str(means.queries),
        number(means.recall),
        number(means.rr),
        number(means.ndcg),
        f"{sum(case.judged for case in space.cases)} of {hits}",
    )


def _move(audit: FixtureAudit, move: MigrationFigures) -> Section:
    source, target = (next(s for s in audit.spaces if s.contract.space_id == n) for n in (move.source, move.target))
    agreed = number(move.jaccard)
    lines = (
        _gate("inventory", move.inventory_match, "the same ids on both sides", _differences(move)),
        _gate("canon", move.canonical_match, "each shared item is the same", f"differ: {some(move.mismatched)}"),
        f"vectors directly comparable: {'yes' if move.comparable else 'no, the signatures differ: never mix them'}",
        f"quality, {move.target} less {move.source}: recall {_signed(move.recall)}, RR {_signed(move.rr)}, "
        f"nDCG {_signed(move.ndcg)}",
        f"agreement: mean Jaccard of the first {audit.k} hits {agreed}",
    )
    head = ("case", "Jaccard", f"nDCG {move.source}", f"nDCG {move.target}", "left", "entered")
    parted = [
        (a.case_id, number(a.jaccard), number(s.ndcg), number(t.ndcg), _less(s, t), _less(t, s))
        for a, s, t in zip(move.agreement, source.cases, target.cases, strict=True)
        if (s.result_ids, s.recall, s.rr, s.ndcg) != (t.result_ids, t.recall, t.rr, t.ndcg)
    ]
    more = len(parted) - SHOWN_CASES
    note = f"and {more} more: --json" if more > 0 else ""
    return Section(
        f"{move.source} to {move.target}",
        lines,
        (Table("Questions answered otherwise", head, tuple(parted[:SHOWN_CASES]), note),),
    )


def _gate(name: str, passes: bool, yes: str, no: str) -> str:
    return f"{name}: pass, {yes}" if passes else f"{name}: FAIL, {no}"


def _differences(move: MigrationFigures) -> str:
    both = ((move.source, move.only_source), (move.target, move.only_target))
    return "; ".join(f"only in {space}: {some(ids)}" for space, ids in both if ids)


def _less(one: CaseFigures, other: CaseFigures) -> str:
    """What one ranks and the other does not."""
    return some(i for i in one.result_ids if i not in other.result_ids)


def _signed(value: float | None) -> str:
    return "undefined" if value is None else f"{value:+.4f}"


def _verdict(audit: FixtureAudit) -> str:
    if not audit.migrations:
        return "One space alone: there is no move to judge."
    if not audit.gates_pass:
        return "Mechanical gates FAIL: the spaces do not hold the same things. Mend that before any figure is read."
    return (
        "Mechanical gates pass. That authorises nothing: whether the moved answers are good enough is a person's "
        "decision, on questions and vectors of real use."
    )
