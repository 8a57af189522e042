"""One file per gate: evidence to an outcome. A gate is added by writing its file; nothing else is edited."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from tiepoint.core.audit import GateResult, Outcome
from tiepoint.gates.gate import Gate

PLAIN = ("gate", "tested")


@cache
def gates() -> tuple[Gate, ...]:
    """Every gate that has a file here, in their order."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if module.name not in PLAIN]
    found: list[Gate] = [importlib.import_module(f"{__name__}.{name}").GATE for name in names]
    return tuple(sorted(found, key=lambda gate: gate.order))


def overall(results: Sequence[GateResult]) -> Outcome:
    """Fail when one fails, else undecided when one is, else not executed when one is, else pass; without any: not executed."""
    outcomes = {result.outcome for result in results}
    order: tuple[Outcome, ...] = ("fail", "undecided", "not executed", "pass")
    return next((outcome for outcome in order if outcome in outcomes), "not executed")
