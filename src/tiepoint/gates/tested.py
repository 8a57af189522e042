"""The hypotheses of a quality gate: what it asks of each group, tested both ways, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tiepoint.core.audit import Hypothesis, Outcome
from tiepoint.stats.holm import holm

EVERY_ONE = "none needed: a pass takes the rejection of every one"
ALONE = "none needed: it alone fails the gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One thing that a gate asks for, and what was measured of it.

    of       see core.audit.Hypothesis
    wrong    that it does not hold, in words; where that is rejected, it holds
    right    that it holds, in words; where that is rejected, it does not
    holds    whether the bound shows that it holds
    p        one-sided p of the hypothesis that it holds; None: not measured, which speaks against nothing
    """

    of: str
    wrong: str
    right: str
    holds: bool
    p: float | None


def tested(asked: Sequence[Asked], *, error: float) -> tuple[Hypothesis, ...]:
    """Each thing asked for as two hypotheses.

    A pass takes the rejection of every `wrong`, so that each may stand at the whole error: where one is true, the gate passes
    wrongly only where that one is rejected wrongly (an intersection-union test, Berger 1982). One rejected `right` fails the
    gate, so those are corrected together: the chance of any wrong rejection among them is at most the error.
    """
    error = round(error, 12)
    alone = [1.0 if one.p is None else one.p for one in asked]
    corrected = holm(np.array(alone, dtype=np.float64)).tolist()
    many = len(asked) > 1
    found = []
    for one, own, p in zip(asked, alone, corrected, strict=True):
        found += [
            Hypothesis(
                of=one.of, states=one.wrong, speaks_for="pass", level=error, correction=EVERY_ONE, rejected=one.holds
            ),
            Hypothesis(
                of=one.of,
                states=one.right,
                speaks_for="fail",
                level=error,
                correction=f"Holm over {len(asked):,}" if many else ALONE,
                rejected=p <= error,
                p=own,
                p_corrected=p if many else None,
            ),
        ]
    return tuple(found)


def outcome_of(hypotheses: Sequence[Hypothesis]) -> Outcome:
    """Fail where one that speaks for it is rejected; pass where all that speak for that are, at least one; else undecided."""
    if any(h.rejected for h in hypotheses if h.speaks_for == "fail"):
        return "fail"
    passing = [h.rejected for h in hypotheses if h.speaks_for == "pass"]
    return "pass" if passing and all(passing) else "undecided"
