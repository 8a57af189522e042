"""The access gate: on both sides nobody finds what they may not read."""

from __future__ import annotations

from tiepoint.core.audit import GateResult
from tiepoint.core.gates import Gates
from tiepoint.gates.gate import Findings, Gate, counted, listed, named

THRESHOLD = "no leak in any permission test, on either side"
SIDES = ("source", "target")


def judge(found: Findings, _: Gates) -> GateResult:
    """One leak fails; a side on which no test had anything to look at is no pass."""
    if found.access is None:
        return GATE.result("not executed", found.reason or "no permission test was made", THRESHOLD)
    broken = [test for test in found.access.tests if test.broken.count]
    if broken:
        said = [f"{t.side}, {t.name}: broken {_times(t.broken.count)} ({named(t.broken)})" for t in broken]
        return GATE.result("fail", listed(said), THRESHOLD)
    made = [test for test in found.access.tests if test.looked_at]
    blind = [side for side in SIDES if side not in {test.side for test in made}]
    if blind:
        said_of = " and the ".join(blind)
        return GATE.result("not executed", f"no permission test of the {said_of} had anything to look at", THRESHOLD)
    looked = sum(test.looked_at for test in made)
    evidence = f"{counted(len(made), 'test')} over {counted(looked, 'ranking')} found no leak"
    return GATE.result("pass", evidence, THRESHOLD)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


GATE = Gate("access", 50, mechanical=True, judge=judge, beyond=True)
