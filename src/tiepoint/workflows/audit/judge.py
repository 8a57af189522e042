"""The gates of an audit judged: every row decides, and the evidence tells what the readers may see."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from tiepoint.core.audit import GateResult
from tiepoint.core.gates import SUBGROUP, Gates
from tiepoint.core.queries import Queries
from tiepoint.core.study import Study
from tiepoint.gates import gates as every_gate
from tiepoint.gates.gate import Findings
from tiepoint.workflows.audit.bounds import Seen
from tiepoint.workflows.audit.rows import PER_QUERY
from tiepoint.workflows.audit.sections import HeldFound, RankedFound

Section = TypeVar("Section")
HIDDEN = "items that these readers may not see decide this gate"


def judge(study: Study | None, gates: Gates, held: HeldFound, ranked: RankedFound) -> tuple[GateResult, ...]:
    """Every gate that is asked for: its outcome from every row, its evidence from what the readers may see."""
    whole, shown = (_findings(study, gates, held, ranked, whole=which) for which in (True, False))
    results = []
    for gate in every_gate():
        decided, told = gate.judge(whole, gates), gate.judge(shown, gates)
        if decided is None:
            continue
        if told is None or told.outcome != decided.outcome or _asked(told) != _asked(decided):
            seen = "" if told is None else f"of what these readers may see: {told.evidence}; "
            tested = tuple(replace(h, rejected=None, p=None, p_corrected=None) for h in (told or decided).hypotheses)
            told = replace(told or decided, outcome=decided.outcome, evidence=f"{seen}{HIDDEN}", hypotheses=tested)
        results.append(told)
    return tuple(results)


def _asked(gate: GateResult) -> list[str]:
    """What its hypotheses are of: where those of hidden groups are among them, they are corrected together."""
    return [one.of for one in gate.hypotheses]


def _findings(study: Study | None, gates: Gates, held: HeldFound, ranked: RankedFound, *, whole: bool) -> Findings:
    def seen(section: Seen[Section]) -> Section:
        return section.whole if whole else section.shown

    return Findings(
        contracts=seen(held.contracts),
        inventory=seen(held.inventory),
        canon=seen(held.canon),
        source_vectors=seen(held.source_vectors),
        target_vectors=seen(held.target_vectors),
        source_provenance=seen(held.source_provenance),
        target_provenance=seen(held.target_provenance),
        quality=None if ranked.quality is None else ranked.quality.whole if whole else ranked.quality.quality,
        access=None if ranked.access is None else ranked.access.access,
        measure=ranked.measure,
        slice=ranked.slice,
        loss=ranked.loss,
        per_query=PER_QUERY.empty_table() if ranked.quality is None else ranked.quality.per_query,
        critical=() if study is None else critical_queries(study.queries, gates),
        reason=ranked.reason,
        single=whole or study is None or study.corpus.public or study.readers is not None,
        small=0 if whole else ranked.small,
    )


def critical_queries(queries: Queries, gates: Gates) -> tuple[str, ...]:
    """The ids of the critical queries in id order, subgroups resolved: to those of their queries that have an answer."""
    groups = {name.removeprefix(SUBGROUP) for name in gates.critical if name.startswith(SUBGROUP)}
    return tuple(
        name
        for name, subgroups, no_answer in zip(queries.ids, queries.subgroups, queries.no_answer, strict=True)
        if name in gates.critical or (groups & set(subgroups) and not no_answer)
    )
