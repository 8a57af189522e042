"""What a gate is: a name, and a judgement of the findings against what was written before the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from tiepoint.core.audit import (
    Access,
    Canon,
    Contracts,
    GateResult,
    Inventory,
    Outcome,
    Provenance,
    Quality,
    VectorCheck,
)
from tiepoint.core.gates import Gates


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Findings:
    """Everything that gates look at.

    quality, access   None: not executed; reasons says why
    measure, slice    of the quality gates, the study's own where [gates] names none; None without a study
    per_query         as Audit.per_query; empty without a study
    critical          the ids of the critical queries, subgroups resolved
    reasons           section to why it was not executed
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
    reasons: dict[str, str]


@dataclass(frozen=True, slots=True)
class Gate:
    """One file of gates/.

    name         as it prints
    order        where it stands among the gates
    mechanical   it looks at what the spaces hold and who may read it, not at how well they rank
    judge        the findings and the thresholds to an outcome with its evidence; None: the gate is not asked for
    """

    name: str
    order: int
    mechanical: bool
    judge: Callable[[Findings, Gates], GateResult | None]

    def result(self, outcome: Outcome, evidence: str, threshold: str) -> GateResult:
        """A result of this gate."""
        return GateResult(
            name=self.name, outcome=outcome, mechanical=self.mechanical, evidence=evidence, threshold=threshold
        )


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 item`, `2 items`, `no items`; many: the plural where it is not one with an s."""
    number = f"{count:,}" if count else "no"
    return f"{number} {one if count == 1 else many or f'{one}s'}"
