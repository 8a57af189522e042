"""The result of an audit, as audit.json holds it: what a move from a source to a target space changes.

Counts and ids in it are of what the readers may see (`Offenders.of` in workflows/); the owner's tables name everything.
None means that it could not be measured, and `not_executed` says why; it is never 0 and never a pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

from tiepoint.core.audit_findings import Access, Canon, Contracts, Inventory, Provenance, VectorCheck
from tiepoint.core.audit_quality import Agreement, Quality

AUDIT_VERSION = 2
Outcome = Literal["pass", "fail", "undecided", "not executed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """One hypothesis that a gate tests. All of them follow from [gates] and the number of queries, never from what was measured.

    of            what it is of: `every query`, `policy`, `region North`, `source`
    states        what is held until it is shown to be wrong
    speaks_for    the outcome of the gate that its rejection speaks for
    level         how often at most it is rejected although it is true; where it is corrected, how often any of its family is
    correction    for what it is corrected, or why it need not be
    p             one-sided; None: it is judged by its bound
    p_corrected   None: not corrected
    rejected      whether it was shown to be wrong; None, as p then: items that the readers may not see decide it
    """

    of: str
    states: str
    speaks_for: Literal["pass", "fail"]
    level: float
    correction: str
    rejected: bool | None
    p: float | None = None
    p_corrected: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One gate: what it found, against what was written before the run.

    mechanical   True: it looks at what the spaces hold, not at how well they rank
    evidence     one or two sentences with the figures
    threshold    what was asked, in words
    hypotheses   all that it tested; empty: it looks at facts, or could not be executed
    """

    name: str
    outcome: Outcome
    mechanical: bool
    evidence: str
    threshold: str
    hypotheses: tuple[Hypothesis, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SideName:
    """One of the two spaces: its name, and its contract.

    noise   by how much scores of the same text differ at most when it is encoded again; None: not measured
    """

    name: str
    contract: Mapping[str, object]
    noise: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSummary:
    """audit.json. Reports are made from it and from rows/ alone.

    study               None: an audit of two files without a study
    bounded             who it is for, in one sentence
    outcome             of all gates: fail when one fails, else undecided when one is, else not executed when one is, else pass
    mechanical_outcome  of the mechanical gates alone
    tests               how many hypotheses all gates test, those of groups that the readers may not see left out, see
                        GateResult.hypotheses
    quality_decision_required   always True: gates that pass authorise no release, a person does
    not_executed        section to the reason
    notes               what was read and how; lines that count and name no document
    conditions          when, with which versions and on which machine; hashes of the study's files
    """

    schema_version: int
    study: str | None
    notice: str | None
    bounded: str
    k: int
    seed: int
    source: SideName
    target: SideName
    contracts: Contracts
    inventory: Inventory
    canon: Canon
    source_vectors: VectorCheck
    target_vectors: VectorCheck
    source_provenance: Provenance
    target_provenance: Provenance
    quality: Quality | None
    agreement: tuple[Agreement, ...]
    access: Access | None
    gates: tuple[GateResult, ...]
    outcome: Outcome
    mechanical_outcome: Outcome
    tests: int = 0
    quality_decision_required: Literal[True] = True
    definitions: Mapping[str, str] = field(default_factory=dict)
    not_executed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Audit:
    """What audit returns.

    summary     audit.json
    findings    section, side (source, target, null: both), kind, role, id, field, source, target: every offender of the
                mechanical sections, none left out
    per_query   slice, query, measure, source, target, difference (null: either side does not score it), weight in the mean
                (1 but for pooled measures), worst, best: the difference with ties against and for the target (null: of
                measures that cannot decide); queries of every split; shown: false where the query has an answer that the
                readers may not see
    agreement   slice, query, jaccard, overlap (null: undefined), entered, left, entered_judged, left_judged
    rankings    side, slice, query, rank, document, score, grade, shown
    The tables are the owner's: they name every id.
    """

    summary: AuditSummary
    findings: pa.Table
    per_query: pa.Table
    agreement: pa.Table
    rankings: pa.Table
