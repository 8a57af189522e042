"""The inventory gate: both spaces hold the same ids, once each, and their counts close."""

from __future__ import annotations

from tiepoint.core.audit import GateResult
from tiepoint.core.audit_findings import Holding
from tiepoint.core.gates import Gates
from tiepoint.gates.gate import Findings, Gate, counted, listed, named

THRESHOLD = "the same ids on both sides, each once, no deletion that came back, every item accounted for"


def judge(found: Findings, _: Gates) -> GateResult:
    """Pass only where nothing is missing, repeated or back from deletion, and a ledger that is whole closes."""
    held, wrong = found.inventory, []
    for side, offenders in (("target", held.only_source), ("source", held.only_target)):
        if offenders.count:
            wrong.append(f"the {side} lacks {counted(offenders.count, 'item')}: {named(offenders)}")
    for side, one in (("source", held.source), ("target", held.target)):
        wrong += [f"the {side} has {sentence}" for sentence in _wrong(one)]
    if wrong:
        return GATE.result("fail", listed(wrong), THRESHOLD)
    closed = [side for side, one in (("source", held.source), ("target", held.target)) if one.closed is None]
    silent = f"; nobody says what the encoding of the {' and the '.join(closed)} was given" if closed else ""
    if held.shared:
        shared = f"{counted(held.shared, 'shared item')}, none on one side alone"
        return GATE.result("pass", f"{shared}{silent}", THRESHOLD)
    return GATE.result("not executed", "there is no shared item, and none on one side alone", THRESHOLD)


def _wrong(one: Holding) -> list[str]:
    wrong = []
    if one.duplicates.count:
        wrong.append(f"{counted(one.duplicates.count, 'repeated id')}: {named(one.duplicates)}")
    if one.returned.count:
        wrong.append(f"{counted(one.returned.count, 'deleted item')} that came back: {named(one.returned)}")
    if one.failed:
        wrong.append(f"{counted(one.failed, 'item')} without a vector")
    if one.closed is False:
        counts = f"wanted {one.wanted}, encoded {one.encoded}, cached {one.cached}, failed {one.failed}"
        beside = "" if one.wanted is None else f": {counts}, live rows {one.documents + one.queries}"
        wrong.append(f"counts that do not close{beside}")
    return wrong


GATE = Gate("inventory", 10, mechanical=True, judge=judge)
