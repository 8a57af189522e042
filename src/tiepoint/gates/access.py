"""The access gate: on both sides nobody finds what they may not read."""

from __future__ import annotations

from tiepoint.core.audit import GateResult
from tiepoint.core.gates import Gates
from tiepoint.errors import some
from tiepoint.gates.gate import Findings, Gate

THRESHOLD = "no leak in any permission test, on either side"


def judge(found: Findings, _: Gates) -> GateResult:
    """One leak fails; tests that could not be made are no pass."""
    if found.access is None:
        return GATE.result("not executed", found.reasons.get("access", "no permission test was made"), THRESHOLD)
    broken = [test for test in found.access.tests if test.broken.count]
    if broken:
        said = "; ".join(f"{t.side}, {t.name}: {t.broken.count:,} ({some(t.broken.first)})" for t in broken)
        return GATE.result("fail", said, THRESHOLD)
    made = [test for test in found.access.tests if test.looked_at]
    if not made:
        return GATE.result("not executed", "no permission test had anything to look at", THRESHOLD)
    looked = sum(test.looked_at for test in made)
    return GATE.result("pass", f"{len(made)} tests over {looked:,} rankings and hits found no leak", THRESHOLD)


GATE = Gate("access", 50, mechanical=True, judge=judge)
