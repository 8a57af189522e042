"""The canon gate: under each id both spaces hold the same thing."""

from __future__ import annotations

from tiepoint.core.audit import GateResult, Outcome
from tiepoint.core.gates import Gates
from tiepoint.gates.gate import Findings, Gate, counted, named

THRESHOLD = "role, text, acl, source revision and version are equal under every shared id"
WORDS = {"content_hash": "text", "source_revision": "source revision"}


def judge(found: Findings, _: Gates) -> GateResult:
    """Fail on any mismatch; not executed where no text could be compared, undecided where not every one; else pass.

    An acl that the source states and the target does not is undecided: nobody can say that it survived the move. Other fields
    that are not known on both sides are named and stand in no one's way: many spaces have no such column.
    """
    fields = found.canon.fields
    wrong = [f for f in fields if f.mismatches.count]
    if wrong:
        said = "; ".join(
            f"{WORDS.get(f.field, f.field)} differs under {counted(f.mismatches.count, 'id')}: {named(f.mismatches)}"
            for f in wrong
        )
        return GATE.result("fail", said, THRESHOLD)
    texts = [f for f in fields if f.field == "content_hash"]
    if not any(f.compared for f in texts):
        return GATE.result("not executed", "no text or hash is known on both sides", THRESHOLD)
    silent = [f"{WORDS.get(f.field, f.field)} ({counted(f.unknown, 'id')})" for f in fields if f.unknown]
    beside = f"; not known on both sides, so not compared: {', '.join(silent)}" if silent else ""
    compared = max(f.compared for f in fields)
    lost = [f.lost for f in fields if f.field == "acl" and f.lost.count]
    for one in lost:
        beside += f"; the target states no acl where the source does, {counted(one.count, 'id')}: {named(one)}"
    outcome: Outcome = "undecided" if lost or any(f.unknown for f in texts) else "pass"
    return GATE.result(outcome, f"nothing differs under {counted(compared, 'shared id')}{beside}", THRESHOLD)


GATE = Gate("canon", 20, mechanical=True, judge=judge)
