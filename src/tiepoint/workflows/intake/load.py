"""Loads a study: reads everything, checks everything, and reports every problem of all its files together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tiepoint.core.candidate import Candidate
from tiepoint.core.study import Rule, Study
from tiepoint.errors import InputError, Problems
from tiepoint.formats.study_toml import CandidateTable, StudyFile, read_study_toml
from tiepoint.workflows.intake.contents import Contents, take_contents
from tiepoint.workflows.intake.files import Intake, take_in
from tiepoint.workflows.intake.notes import study_notes
from tiepoint.workflows.intake.rule import check_critical, take_gates, take_measures, take_rule


def load_study(folder: str | Path) -> Study:
    """The study of a folder, checked; candidates are named and not opened.

    folder   the study folder, or its study.toml
    raises   InputError with every problem of every file; only what needs a broken part is left unchecked
    """
    path = Path(folder)
    path = path if path.name == "study.toml" or path.is_file() else path / "study.toml"
    if not path.is_file():
        raise InputError("there is no study here", where=str(path), fix=f"make one: tiepoint init {path.parent}")
    file = read_study_toml(path)
    problems = Problems(list(file.problems))
    intake = take_in(file, problems)
    rule = take_rule(file, problems)
    gates = take_gates(file, problems)
    measures = take_measures(file, rule, gates, problems)
    if file.problems:  # what the columns mean is not sure, so their contents are not judged
        problems.raise_if_any()
    contents = take_contents(file, intake, rule, problems)
    check_critical(file, contents.queries, problems)
    problems.raise_if_any()
    return replace(_study(file, intake, contents, rule), gates=gates, measures=measures)


def _study(file: StudyFile, intake: Intake, contents: Contents, rule: Rule) -> Study:
    spec = file.spec
    readers = None if spec.report.readers is None else tuple(spec.report.readers)
    return Study(
        folder=file.path.parent,
        name=spec.study.name or file.path.parent.resolve().name,
        k=spec.study.k,
        measures=(),
        seed=spec.study.seed,
        corpus=contents.corpus,
        queries=contents.queries,
        qrels=contents.qrels,
        regions=contents.regions,
        rule=rule,
        candidates=tuple(map(_candidate, spec.candidate)),
        readers=readers,
        threads=spec.run.threads,
        device=spec.run.device,
        tie_tolerance=float(spec.study.tie_tolerance),
        notice=spec.study.notice,
        hashes=_hashes(file, intake),
        notes=tuple(study_notes(file, intake, contents, rule)),
    )


def _candidate(table: CandidateTable) -> Candidate:
    return Candidate(
        id=table.id,
        embedder=table.embedder,
        contract=table.contract.model_dump(exclude_none=True),
        options=dict(table.options),
        price_per_million_tokens=table.price_per_million_tokens,
        cache=table.cache,
    )


def _hashes(file: StudyFile, intake: Intake) -> Mapping[str, str]:
    read = {"corpus": intake.corpus, "queries": intake.queries, "qrels": intake.qrels, "regions": intake.regions}
    return {"study": file.sha256} | {name: part.sha256 for name, part in read.items() if part is not None}
