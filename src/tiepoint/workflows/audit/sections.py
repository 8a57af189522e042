"""The sections of an audit, each made once: what the two spaces hold, and how they rank."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from tiepoint.core.audit_findings import Canon, Contracts, Inventory, Provenance, VectorCheck
from tiepoint.core.gates import Gates
from tiepoint.core.held import Held
from tiepoint.core.study import Study
from tiepoint.encoding.progress import Progress
from tiepoint.workflows.audit.access import AccessFound, audit_access
from tiepoint.workflows.audit.agreement import AgreementFound, audit_agreement
from tiepoint.workflows.audit.bounds import Bounds, Seen
from tiepoint.workflows.audit.canon import audit_canon
from tiepoint.workflows.audit.contracts import audit_contracts
from tiepoint.workflows.audit.findings import Side
from tiepoint.workflows.audit.inventory import audit_inventory
from tiepoint.workflows.audit.items import Items
from tiepoint.workflows.audit.pair import Pair, rank_both, under_gates
from tiepoint.workflows.audit.provenance import audit_provenance, embedder_of
from tiepoint.workflows.audit.quality import QualityFound, audit_quality
from tiepoint.workflows.audit.sides import Sides
from tiepoint.workflows.audit.space import space_of
from tiepoint.workflows.audit.vectors import audit_vectors

NO_STUDY = "no study was named: there are no questions, no judgements and no permissions to rank under"
SEED = 0
"""Where no study names one."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HeldFound:
    """What the two spaces hold: the mechanical sections."""

    contracts: Seen[Contracts]
    inventory: Seen[Inventory]
    canon: Seen[Canon]
    source_vectors: Seen[VectorCheck]
    target_vectors: Seen[VectorCheck]
    source_provenance: Seen[Provenance]
    target_provenance: Seen[Provenance]

    @property
    def findings(self) -> list[pa.Table]:
        """Every offender of every section."""
        sections: tuple[Seen[object], ...] = (
            self.contracts,
            self.inventory,
            self.canon,
            self.source_vectors,
            self.target_vectors,
            self.source_provenance,
            self.target_provenance,
        )  # type: ignore[assignment]  # a Seen is read only
        return [one.findings for one in sections]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RankedFound:
    """How the two spaces rank; None with the reason where that was not executed. small: as gates.gate.Findings.

    drowned   the sides whose whole space noise of encoding orders, source first
    """

    reason: str | None = None
    measure: str | None = None
    slice: str | None = None
    loss: float = 0.0
    quality: QualityFound | None = None
    agreement: AgreementFound | None = None
    access: AccessFound | None = None
    small: int = 0
    drowned: tuple[str, ...] = ()


def held_found(study: Study | None, sides: Sides, gates: Gates, bounds: Bounds, progress: Progress) -> HeldFound:
    """Compare what both sides hold, check their vectors, and embed a sample of each again."""
    source, target = sides.source, sides.target
    items = Items.of(source, target)
    seed = SEED if study is None else study.seed

    embedders = {one.contract.signature(): one.contract for one in (source, target)}
    found = {signature: embedder_of(study, contract) for signature, contract in embedders.items()}

    def again(held: Held, side: Side) -> Seen[Provenance]:
        embedder = found[held.contract.signature()]
        return audit_provenance(
            held, side, embedder, bounds, size=gates.sample, seed=seed, level=gates.confidence, progress=progress
        )

    return HeldFound(
        contracts=audit_contracts(source, target),
        inventory=audit_inventory(source, target, items, bounds),
        canon=audit_canon(source, target, items, bounds),
        source_vectors=audit_vectors(source, "source", bounds),
        target_vectors=audit_vectors(target, "target", bounds),
        source_provenance=again(source, "source"),
        target_provenance=again(target, "target"),
    )


def ranked_found(study: Study | None, sides: Sides, gates: Gates, progress: Progress) -> RankedFound:
    """Search and measure both sides, where there is a study and both hold vectors that can be searched."""
    if study is None:
        return RankedFound(reason=NO_STUDY)
    spaces = [space_of(study, held) for held in (sides.source, sides.target)]
    if broken := [one for one in spaces if isinstance(one, str)]:
        rule = under_gates(study, gates).rule
        return RankedFound(reason="; ".join(broken), measure=rule.measure, slice=rule.slice, loss=rule.gap)
    source, target = (one for one in spaces if not isinstance(one, str))
    pair = rank_both(study, source, target, gates, progress=progress)
    return RankedFound(
        measure=pair.study.rule.measure,
        slice=pair.study.rule.slice,
        loss=pair.study.rule.gap,
        quality=audit_quality(pair),
        agreement=audit_agreement(pair),
        access=audit_access(pair),
        small=_too_small(pair),
        drowned=tuple(side.name for side in pair.sides if side.drowned),
    )


def _too_small(pair: Pair) -> int:
    """How many groups of the gates' slice are scored and yet may not be shown to these readers."""
    name = pair.study.rule.measure
    part, shown = next(p for p in pair.parts if p.name == pair.study.rule.slice), pair.shown([name])[name]
    hidden = (group for group in pair.groups(part) if group.key not in shown)
    return sum(bool(pair.pairs(group, name).scored.any()) for group in hidden)
