"""The audit of a move between two embedding spaces: what they hold, how they rank, what the gates say."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from tiepoint.core.audit import (
    AUDIT_VERSION,
    Audit,
    AuditSummary,
    Canon,
    Contracts,
    GateResult,
    Inventory,
    Provenance,
    SideName,
    VectorCheck,
)
from tiepoint.core.gates import SUBGROUP, Gates
from tiepoint.core.held import Held
from tiepoint.core.queries import Queries
from tiepoint.core.study import Study
from tiepoint.encoding import same
from tiepoint.encoding.progress import SILENT, Progress
from tiepoint.gates import gates as every_gate
from tiepoint.gates import overall
from tiepoint.gates.gate import Findings
from tiepoint.workflows import audit_agreement, audit_quality
from tiepoint.workflows.audit_access import AccessFound, audit_access
from tiepoint.workflows.audit_agreement import AGREEMENT, AgreementFound
from tiepoint.workflows.audit_bounds import Bounds, Seen, bounds_of
from tiepoint.workflows.audit_canon import audit_canon
from tiepoint.workflows.audit_contracts import audit_contracts
from tiepoint.workflows.audit_findings import Side, plain_findings, together
from tiepoint.workflows.audit_inventory import audit_inventory
from tiepoint.workflows.audit_items import Items
from tiepoint.workflows.audit_pair import Pair, Part, rank_both, under_gates
from tiepoint.workflows.audit_provenance import audit_provenance, embedder_of
from tiepoint.workflows.audit_quality import QualityFound
from tiepoint.workflows.audit_rows import PER_QUERY, SIDE_RANKINGS
from tiepoint.workflows.audit_sides import Asked, Sides, read_sides
from tiepoint.workflows.audit_space import space_of
from tiepoint.workflows.audit_vectors import audit_vectors
from tiepoint.workflows.bench import bounded
from tiepoint.workflows.conditions import definitions, packages, processor, version_of
from tiepoint.workflows.content_hashes import content_hashes

Section = TypeVar("Section")

NO_STUDY = "no study was named: there are no questions, no judgements and no permissions to rank under"
HIDDEN = "items that these readers may not see decide this gate"
WITHHELD = (
    "what was read, and how, counts items that these readers may not see: rows/findings.parquet says it to the owner"
)
ONE = "source and target are one and the same space, so that nothing moves"
K = 10
SEED = 0


def audit(
    study: Study | None,
    source: str | Path,
    target: str | Path,
    *,
    source_contract: str | Path | None = None,
    target_contract: str | Path | None = None,
    progress: Progress = SILENT,
) -> Audit:
    """Hold two spaces against each other, every row of them, and judge the move by the study's gates.

    study             None: quality, agreement and access are not executed
    source, target    a candidate's id, a folder below spaces/, or a Parquet file (id, vector, and where known text or hash,
                      role, acl, source_revision, version, deleted)
    source_contract, target_contract   TOML files: a Parquet file needs one, everything else brings its own
    returns           an Audit. Gates that pass authorise no release
    raises            InputError: no such side, no contract, a revision that is not pinned, bad files, all of both sides at once;
                      gates that cannot be judged; CannotRun: a candidate cannot be encoded here. Nothing is written but
                      vectors that a candidate lacked
    """
    asked = (
        Asked(str(source), None if source_contract is None else Path(source_contract), "--source"),
        Asked(str(target), None if target_contract is None else Path(target_contract), "--target"),
    )
    bounds, gates = bounds_of(study), Gates() if study is None else study.gates
    if study is not None:
        under_gates(study, gates)  # gates that cannot be judged are refused before anything is read or encoded
    sides = read_sides(study, *asked, progress=progress)
    held = _held(study, sides, gates, bounds, progress)
    ranked = _ranked(study, sides, gates, progress)
    judged = _judge(study, gates, held, ranked)
    return Audit(
        summary=_summary(study, sides, held, ranked, judged),
        findings=together(
            [*held.findings, *([] if ranked.access is None else [ranked.access.findings]), _withheld(sides, bounds)]
        ),
        per_query=PER_QUERY.empty_table() if ranked.quality is None else ranked.quality.per_query,
        agreement=AGREEMENT.empty_table() if ranked.agreement is None else ranked.agreement.table,
        rankings=SIDE_RANKINGS.empty_table() if ranked.quality is None else ranked.quality.rankings,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _HeldFound:
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
class _RankedFound:
    """How the two spaces rank; None with the reason where that was not executed. small: as gates.gate.Findings."""

    reason: str | None = None
    measure: str | None = None
    slice: str | None = None
    loss: float = 0.0
    quality: QualityFound | None = None
    agreement: AgreementFound | None = None
    access: AccessFound | None = None
    small: int = 0


def _held(study: Study | None, sides: Sides, gates: Gates, bounds: Bounds, progress: Progress) -> _HeldFound:
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

    return _HeldFound(
        contracts=audit_contracts(source, target),
        inventory=audit_inventory(source, target, items, bounds),
        canon=audit_canon(source, target, items, bounds),
        source_vectors=audit_vectors(source, "source", bounds),
        target_vectors=audit_vectors(target, "target", bounds),
        source_provenance=again(source, "source"),
        target_provenance=again(target, "target"),
    )


def _ranked(study: Study | None, sides: Sides, gates: Gates, progress: Progress) -> _RankedFound:
    """Search and measure both sides, where there is a study and both hold vectors that can be searched."""
    if study is None:
        return _RankedFound(reason=NO_STUDY)
    spaces = [space_of(study, held) for held in (sides.source, sides.target)]
    if broken := [one for one in spaces if isinstance(one, str)]:
        rule = under_gates(study, gates).rule
        return _RankedFound(reason="; ".join(broken), measure=rule.measure, slice=rule.slice, loss=rule.gap)
    source, target = (one for one in spaces if not isinstance(one, str))
    pair = rank_both(study, source, target, gates, progress=progress)
    return _RankedFound(
        measure=pair.study.rule.measure,
        slice=pair.study.rule.slice,
        loss=pair.study.rule.gap,
        quality=audit_quality.audit_quality(pair),
        agreement=audit_agreement.audit_agreement(pair),
        access=audit_access(pair),
        small=_too_small(pair),
    )


def _too_small(pair: Pair) -> int:
    """How many subgroups of the gates' slice are scored and yet too small for these readers to be shown."""
    part = next(p for p in pair.parts if p.name == pair.study.rule.slice)
    shown = {group.subgroup for group in pair.subgroups(part)}
    members: dict[str, list[int]] = {}
    for i in pair.whole(part).queries:
        for name in pair.study.queries.subgroups[i]:
            members.setdefault(name, []).append(int(i))
    hidden = (Part(part, name, np.array(of, dtype=np.int64)) for name, of in members.items() if name not in shown)
    return sum(bool(pair.pairs(group, pair.study.rule.measure).scored.any()) for group in hidden)


def _judge(study: Study | None, gates: Gates, held: _HeldFound, ranked: _RankedFound) -> tuple[GateResult, ...]:
    """Every gate that is asked for: its outcome from every row, its evidence from what the readers may see."""
    whole, shown = (_findings(study, gates, held, ranked, whole=which) for which in (True, False))
    results = []
    for gate in every_gate():
        decided, told = gate.judge(whole, gates), gate.judge(shown, gates)
        if decided is None:
            continue
        if told is None or told.outcome != decided.outcome:
            seen = "" if told is None else f"of what these readers may see: {told.evidence}; "
            told = replace(told or decided, outcome=decided.outcome, evidence=f"{seen}{HIDDEN}")
        results.append(told)
    return tuple(results)


def _findings(study: Study | None, gates: Gates, held: _HeldFound, ranked: _RankedFound, *, whole: bool) -> Findings:
    def seen(section: Seen[Section]) -> Section:
        return section.whole if whole else section.shown

    return Findings(
        contracts=seen(held.contracts),
        inventory=seen(held.inventory),
        canon=seen(held.canon),
        source_vectors=seen(held.source_vectors),
        target_vectors=seen(held.target_vectors),
        source_provenance=seen(held.source_provenance),
        target_provenance=seen(held.target_provenance),
        quality=None if ranked.quality is None else ranked.quality.quality,
        access=None if ranked.access is None else ranked.access.access,
        measure=ranked.measure,
        slice=ranked.slice,
        loss=ranked.loss,
        per_query=PER_QUERY.empty_table() if ranked.quality is None else ranked.quality.per_query,
        critical=() if study is None else critical_queries(study.queries, gates),
        reason=ranked.reason,
        single=whole or study is None or study.corpus.public or study.readers is not None,
        small=ranked.small,
    )


def critical_queries(queries: Queries, gates: Gates) -> tuple[str, ...]:
    """The ids of the critical queries in id order, subgroups resolved: to those of their queries that have an answer."""
    groups = {name.removeprefix(SUBGROUP) for name in gates.critical if name.startswith(SUBGROUP)}
    return tuple(
        name
        for name, subgroups, no_answer in zip(queries.ids, queries.subgroups, queries.no_answer, strict=True)
        if name in gates.critical or (groups & set(subgroups) and not no_answer)
    )


def _summary(
    study: Study | None, sides: Sides, held: _HeldFound, ranked: _RankedFound, judged: tuple[GateResult, ...]
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
        source=SideName(name=sides.source.name, contract=sides.source.contract.stated()),
        target=SideName(name=sides.target.name, contract=sides.target.contract.stated()),
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
        definitions=_definitions(study),
        not_executed=_not_executed(held, ranked),
        notes=_notes(study, sides),
        conditions=_conditions(study),
    )


def _said(sides: Sides) -> tuple[str, ...]:
    """What was read and how, of both sides, each line under its side's name."""
    named = (("source", sides.source), ("target", sides.target))
    return tuple(f"{side}: {note}" for side, one in named for note in one.notes)


def _notes(study: Study | None, sides: Sides) -> tuple[str, ...]:
    """The lines of the report: those of the sides count every row, so they stand there only where every row may be counted."""
    one, other = sides.source, sides.target
    same = one.where == other.where and one.contract.signature() == other.contract.signature()
    said = _said(sides)
    if said and not bounds_of(study).whole:
        said = (WITHHELD,)
    return ((ONE,) if same else ()) + said


def _withheld(sides: Sides, bounds: Bounds) -> pa.Table:
    """The lines that a report withholds, for the owner's table."""
    lines = () if bounds.whole else _said(sides)
    return plain_findings("notes", "what was read", [(line, None, None) for line in lines])


def _definitions(study: Study | None) -> dict[str, str]:
    own = {
        "provenance": "a random sample of the rows, embedded again by what makes the contract's vectors; a row is "
        f"elsewhere where the cosine with its stored vector is below {same.AGREEMENT:g}"
    }
    if study is None:
        return own
    return own | {"quality": audit_quality.DEFINITION, "agreement": audit_agreement.DEFINITION} | definitions(study)


def _not_executed(held: _HeldFound, ranked: _RankedFound) -> dict[str, str]:
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
