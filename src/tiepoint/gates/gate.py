"""What a gate is: a name, and a judgement of the findings against what was written before the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from tiepoint.core.audit import GateResult, Hypothesis, Outcome
from tiepoint.core.audit_findings import Access, Canon, Contracts, Inventory, Offenders, Provenance, VectorCheck
from tiepoint.core.audit_quality import Delta, Quality
from tiepoint.core.gates import Gates
from tiepoint.core.rounding import bound_above, bound_below

NAMED = 5
"""So many offenders, groups or tests stand in an evidence; the report's own sections and rows/ have the rest."""
NOT_SAID = "no study says what the move must hold"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Findings:
    """Everything that gates look at.

    quality, access   None: not executed; reason says why
    measure, slice    of the quality gates, the study's own where [gates] names none; None without a study
    per_query         as Audit.per_query; empty without a study
    critical          the ids of the critical queries, subgroups resolved
    single            whether the evidence may tell of a single query: under an acl without readers it may not
    small             scored subgroups and regions of the gates' slice that these readers may not be shown
    reason            why nothing was ranked; None: both sides were
    """

    contracts: Contracts
    inventory: Inventory
    canon: Canon
    source_vectors: VectorCheck
    target_vectors: VectorCheck
    source_provenance: Provenance
    target_provenance: Provenance
    quality: Quality | None
    access: Access | None
    measure: str | None
    slice: str | None
    loss: float
    per_query: pa.Table
    critical: tuple[str, ...]
    reason: str | None
    single: bool = True
    small: int = 0

    def asked(self, threshold: str) -> str:
        """What a quality gate asks for, `{}` standing for what it looks at; without a study nobody said."""
        return NOT_SAID if self.measure is None else threshold.replace("{}", f"{self.measure} ({self.slice})")


@dataclass(frozen=True, slots=True)
class Gate:
    """One file of gates/.

    name         as it prints
    order        where it stands among the gates
    mechanical   it looks at what the spaces hold and who may read it, not at how well they rank
    judge        the findings and the thresholds to an outcome with its evidence; None: the gate is not asked for
    beyond       it needs questions beside the two spaces, so that without a study it is asked for
                 only as far as it can be executed
    """

    name: str
    order: int
    mechanical: bool
    judge: Callable[[Findings, Gates], GateResult | None]
    beyond: bool = False

    def result(
        self, outcome: Outcome, evidence: str, threshold: str, hypotheses: tuple[Hypothesis, ...] = ()
    ) -> GateResult:
        """A result of this gate."""
        return GateResult(
            name=self.name,
            outcome=outcome,
            mechanical=self.mechanical,
            evidence=evidence,
            threshold=threshold,
            hypotheses=hypotheses,
        )


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 item`, `2 items`, `no items`; many: the plural where it is not one with an s."""
    number = f"{count:,}" if count else "no"
    return f"{number} {one if count == 1 else many or f'{one}s'}"


def named(offenders: Offenders) -> str:
    """`d12, d88 and 11 more`: the first offenders, and how many of them all are not named."""
    shown = offenders.first[:NAMED]
    left = offenders.count - len(shown)
    return ", ".join(shown) + (f" and {left:,} more" if left else "")


def listed(sentences: Sequence[str]) -> str:
    """The first sentences, parted by semicolons, and how many more there are."""
    left = len(sentences) - NAMED
    return "; ".join(sentences[:NAMED]) + (f"; and {left:,} more" if left > 0 else "")


def percent(share: float) -> str:
    """`95%`, `97.5%`: never rounded to another threshold."""
    return f"{round(100 * share, 6):g}%"


def changed(delta: Delta) -> str:
    """`-0.0100 [-0.0150, -0.0050]`: the difference and its interval; a question mark behind one that cannot be trusted."""
    known = delta.low is not None
    interval = f" [{delta.low:+.4f}, {delta.high:+.4f}]{'' if delta.trusted else '?'}" if known else ""
    return f"{delta.difference:+.4f}{interval}"


def at_worst(delta: Delta) -> str:
    """`at worst -0.0100`, empty where it was not measured."""
    return "" if delta.worst is None else f"at worst {bound_below(delta.worst):+.4f}"


def at_best(delta: Delta) -> str:
    """`at best +0.0400`, likewise."""
    return "" if delta.best is None else f"at best {bound_above(delta.best):+.4f}"


def too_few(delta: Delta, tolerated: float) -> str:
    """`25 independent queries`, and the smallest loss that so few can rule out where it lies beyond the tolerated one."""
    counts = counted(delta.clusters, "independent query", "independent queries")
    if delta.least_loss is None or delta.least_loss <= tolerated:
        return counts
    return f"{counts}, and so few rule out no loss under {bound_above(delta.least_loss):.4f}"


def shown_inside(one: Provenance, tolerated: float) -> bool:
    """Whether the sample shows that at most the tolerated share of rows lies outside their declared space."""
    return one.reason is None and one.high is not None and one.high <= tolerated
