"""study.toml, strictly: an unknown key or a wrong type is an error with its line and a hint."""

from tiepoint.formats.study_toml.read import StudyFile, read_study_toml
from tiepoint.formats.study_toml.spec import (
    CandidateTable,
    CorpusTable,
    QueriesTable,
    RegionsTable,
    StudySpec,
)
from tiepoint.formats.study_toml.write import study_toml

__all__ = [
    "CandidateTable",
    "CorpusTable",
    "QueriesTable",
    "RegionsTable",
    "StudyFile",
    "StudySpec",
    "read_study_toml",
    "study_toml",
]
