"""The canon gate: under each id both spaces hold the same thing."""

from __future__ import annotations

from tiepoint.core.audit import GateResult
from tiepoint.core.gates import Gates
from tiepoint.errors import some
from tiepoint.gates.gate import Findings, Gate, counted

THRESHOLD = "role, text, acl, source revision and version are equal under every shared id"


def judge(found: Findings, _: Gates) -> GateResult:
    """Fail on any mismatch; not executed where no text could be compared at all; else pass, naming what is not known."""
    fields = found.canon.fields
    wrong = [f for f in fields if f.mismatches.count]
    if wrong:
        said = "; ".join(
            f"{f.field} differs under {counted(f.mismatches.count, 'id')}: {some(f.mismatches.first)}" for f in wrong
        )
        return GATE.result("fail", said, THRESHOLD)
    if not any(f.compared for f in fields if f.field == "content_hash"):
        return GATE.result("not executed", "no text or hash is known on both sides", THRESHOLD)
    silent = [f"{f.field} ({f.unknown:,} ids)" for f in fields if f.unknown]
    beside = f"; not known, so not compared: {', '.join(silent)}" if silent else ""
    compared = max((f.compared for f in fields), default=0)
    return GATE.result("pass", f"nothing differs under {counted(compared, 'shared id')}{beside}", THRESHOLD)


GATE = Gate("canon", 20, mechanical=True, judge=judge)
