"""The audit of a move between two embedding spaces: what they hold, how they rank, what the gates say."""

from __future__ import annotations

from pathlib import Path

from tiepoint.core.audit import Audit
from tiepoint.core.gates import Gates
from tiepoint.core.study import Study
from tiepoint.encoding.progress import SILENT, Progress
from tiepoint.workflows.audit.agreement import AGREEMENT
from tiepoint.workflows.audit.bounds import bounds_of
from tiepoint.workflows.audit.findings import together
from tiepoint.workflows.audit.judge import judge
from tiepoint.workflows.audit.pair import under_gates
from tiepoint.workflows.audit.rows import PER_QUERY, SIDE_RANKINGS
from tiepoint.workflows.audit.sections import held_found, ranked_found
from tiepoint.workflows.audit.sides import Asked, read_sides
from tiepoint.workflows.audit.summary import summary_of, withheld


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
    held = held_found(study, sides, gates, bounds, progress)
    ranked = ranked_found(study, sides, gates, progress)
    judged = judge(study, gates, held, ranked)
    return Audit(
        summary=summary_of(study, sides, held, ranked, judged),
        findings=together(
            [*held.findings, *([] if ranked.access is None else [ranked.access.findings]), withheld(sides, bounds)]
        ),
        per_query=PER_QUERY.empty_table() if ranked.quality is None else ranked.quality.per_query,
        agreement=AGREEMENT.empty_table() if ranked.agreement is None else ranked.agreement.table,
        rankings=SIDE_RANKINGS.empty_table() if ranked.quality is None else ranked.quality.rankings,
    )
