"""audit.json: what was found and judged, as far as the readers may see it, with its definitions, notes and conditions."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa

from tiepoint.core.audit import AUDIT_VERSION, AuditSummary, GateResult, SideName
from tiepoint.core.held import Held
from tiepoint.core.study import Study
from tiepoint.encoding import same
from tiepoint.gates import gates as every_gate
from tiepoint.gates import overall
from tiepoint.workflows.audit import agreement, quality
from tiepoint.workflows.audit.bounds import Bounds, bounds_of
from tiepoint.workflows.audit.findings import plain_findings
from tiepoint.workflows.audit.sections import SEED, HeldFound, RankedFound
from tiepoint.workflows.audit.sides import Sides
from tiepoint.workflows.bench.run import bounded
from tiepoint.workflows.conditions import definitions, packages, processor, version_of
from tiepoint.workflows.content_hashes import content_hashes

WITHHELD = (
    "what was read, and how, counts items that these readers may not see: rows/findings.parquet says it to the owner"
)
ONE = "source and target are one and the same space, so that nothing moves"
DROWNED = (
    "noise of encoding orders the whole space of {sides}: any value of such rankings could be anything from 0 to 1, and every "
    "bound, quality gate and critical query takes it so"
)
K = 10
"""Where no study names one."""


def summary_of(
    study: Study | None, sides: Sides, held: HeldFound, ranked: RankedFound, judged: tuple[GateResult, ...]
) -> AuditSummary:
    """audit.json. Without a study a gate that needs more than the two spaces is not asked for where it was not executed."""
    beyond = {gate.name for gate in every_gate() if gate.beyond}
    asked = [g for g in judged if study is not None or g.outcome != "not executed" or g.name not in beyond]
    return AuditSummary(
        schema_version=AUDIT_VERSION,
        study=None if study is None else study.name,
        notice=None if study is None else study.notice,
        bounded="for the owner of both spaces: every item may be named and counted"
        if study is None
        else bounded(study),
        k=K if study is None else study.k,
        seed=SEED if study is None else study.seed,
        source=_side(sides.source),
        target=_side(sides.target),
        contracts=held.contracts.shown,
        inventory=held.inventory.shown,
        canon=held.canon.shown,
        source_vectors=held.source_vectors.shown,
        target_vectors=held.target_vectors.shown,
        source_provenance=held.source_provenance.shown,
        target_provenance=held.target_provenance.shown,
        quality=None if ranked.quality is None else ranked.quality.quality,
        agreement=() if ranked.agreement is None else ranked.agreement.slices,
        access=None if ranked.access is None else ranked.access.access,
        gates=judged,
        outcome=overall(asked),
        mechanical_outcome=overall([gate for gate in asked if gate.mechanical]),
        tests=sum(len(gate.hypotheses) for gate in judged),
        definitions=_definitions(study, sides, ranked.drowned),
        not_executed=_not_executed(held, ranked),
        notes=_notes(study, sides, ranked.drowned),
        conditions=_conditions(study),
    )


def _said(sides: Sides) -> tuple[str, ...]:
    """What was read and how, of both sides, each line under its side's name."""
    named = (("source", sides.source), ("target", sides.target))
    return tuple(f"{side}: {note}" for side, one in named for note in one.notes)


def _notes(study: Study | None, sides: Sides, drowned: Sequence[str]) -> tuple[str, ...]:
    """The lines of the report: those of the sides count every row, so they stand there only where every row may be counted."""
    one, other = sides.source, sides.target
    alike = one.where == other.where and one.contract.signature() == other.contract.signature()
    said = _said(sides)
    if said and not bounds_of(study).whole:
        said = (WITHHELD,)
    whole = (DROWNED.format(sides=" and ".join(drowned)),) if drowned else ()
    return ((ONE,) if alike else ()) + whole + said


def withheld(sides: Sides, bounds: Bounds) -> pa.Table:
    """The lines that a report withholds, for the owner's table."""
    lines = () if bounds.whole else _said(sides)
    return plain_findings("notes", "what was read", [(line, None, None) for line in lines])


def _side(held: Held) -> SideName:
    return SideName(name=held.name, contract=held.contract.stated(), noise=held.noise)


def _changed(sides: Sides, drowned: Sequence[str]) -> str:
    """From where on something counts as changed: the floor that was used."""
    floors = ", ".join(
        f"{side} {'not measured' if one.noise is None else f'{one.noise:.3g}'}"
        + (" (it orders the whole space: any value could be anything from 0 to 1)" if side in drowned else "")
        for side, one in (("source", sides.source), ("target", sides.target))
    )
    return (
        f"noise of encoding: {floors}. Documents whose scores lie within twice their side's noise, neighbour by neighbour, tie "
        "in every bound and in every critical query; a query whose values on both sides could be one over these orders counts as "
        "the same, and not as lost. Where no noise was measured or it is 0, only ties within tie_tolerance are taken so"
    )


def _definitions(study: Study | None, sides: Sides, drowned: Sequence[str]) -> dict[str, str]:
    own = {
        "provenance": "a random sample of the rows, embedded again by what makes the contract's vectors; a row is "
        f"elsewhere where the cosine with its stored vector is below {same.AGREEMENT:g}"
    }
    if study is None:
        return own
    own["changed"] = _changed(sides, drowned)
    return own | {"quality": quality.DEFINITION, "agreement": agreement.DEFINITION} | definitions(study)


def _not_executed(held: HeldFound, ranked: RankedFound) -> dict[str, str]:
    lines = {}
    for side, one in (("source", held.source_provenance.shown), ("target", held.target_provenance.shown)):
        if one.reason is not None:
            lines[f"provenance of the {side}"] = one.reason
    silent = [f.field for f in held.canon.shown.fields if not f.compared]
    if silent:
        lines["canon"] = f"not known on both sides, so not compared: {', '.join(silent)}"
    if ranked.reason is not None:
        lines |= dict.fromkeys(("quality", "agreement", "access"), ranked.reason)
    if ranked.access is not None:
        tests = ranked.access.access.tests
        reasons = [(t.name, t.reason) for t in tests]  # a test that says the same of both sides is told once
        lines |= {
            f"access{'' if reasons.count((t.name, t.reason)) > 1 else f', {t.side}'}: {t.name}": t.reason
            for t in tests
            if t.reason is not None
        }
    return lines


def _conditions(study: Study | None) -> dict[str, str]:
    hashes = {} if study is None else {**study.hashes, **content_hashes(study)}
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "tiepoint": version_of("tiepoint") or "unknown",
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "packages": ", ".join(f"{name} {version}" for name, version in packages().items()),
        **{f"SHA-256 of {name}": value for name, value in hashes.items()},
    }
