"""What an audit's gates test: every hypothesis with its level, how it is corrected, and whether it was rejected."""

from __future__ import annotations

from tiepoint.core.audit import AuditSummary, Hypothesis
from tiepoint.report.table import NONE, Section, Table

TITLE = "Hypotheses"
UNTOLD = "not told"
HIDDEN = (
    "Where items that these readers may not see decide a gate, what was rejected is not told, and no hypothesis of a hidden "
    "group is listed or counted."
)


def hypotheses(found: AuditSummary) -> Section:
    """All that the gates test, gate by gate."""
    rows = tuple((gate.name, *_row(one)) for gate in found.gates for one in gate.hypotheses)
    head = ("gate", "of", "held until shown otherwise", "rejected, it speaks for", "level", "correction", "p", "p corrected",
            "rejected")  # fmt: skip
    note = "Without a p it is judged by its bound at the same level. Groups that are too few to decide are not tested."
    return Section(TITLE, (in_words(found),), (Table("What the gates test", head, rows, note),))


def in_words(found: AuditSummary) -> str:
    """How many there are, and what their levels promise."""
    if not found.tests:
        return "The gates test no hypothesis."
    gates = [gate for gate in found.gates if gate.hypotheses]
    errors = sum(max(h.level for h in gate.hypotheses if h.speaks_for == "fail") for gate in gates)
    count = "1 hypothesis" if found.tests == 1 else f"{found.tests:,} hypotheses"
    untold = any(h.rejected is None for gate in gates for h in gate.hypotheses)
    hidden = f" {HIDDEN}" if untold else ""
    names = [gate.name for gate in gates]
    together = f", any of the gates {', '.join(names[:-1])} and {names[-1]} at most {_percent(errors)}"
    each = together if len(names) > 1 else ""
    return (
        f"The gates test {count}. Each follows from [gates] and the number of queries, none from what was measured. A gate "
        "passes only where all of its hypotheses that speak for a pass are rejected, so they need no correction; it fails where "
        "one that speaks for it is rejected, after correction for all of them. So a gate fails wrongly at most as often as its "
        f"level says{each}, and passes wrongly at most as often.{hidden}"
    )


def _percent(share: float) -> str:
    """`95%`, `97.5%`."""
    return f"{round(100 * share, 6):g}%"


def _row(one: Hypothesis) -> tuple[str, ...]:
    p, corrected = (NONE if value is None else f"{value:.3g}" for value in (one.p, one.p_corrected))
    rejected = UNTOLD if one.rejected is None else "yes" if one.rejected else "no"
    return one.of, one.states, one.speaks_for, _percent(one.level), one.correction, p, corrected, rejected
