"""Opens every file that a study names and finds the columns it names, all problems together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tiepoint.core.rows import Rows
from tiepoint.errors import InputError, Problems, did_you_mean, some
from tiepoint.formats.delimited import read_delimited
from tiepoint.formats.jsonl import read_jsonl
from tiepoint.formats.qrels import Judgements, read_qrels
from tiepoint.formats.study_toml import StudyFile
from tiepoint.formats.template import Template
from tiepoint.workflows.intake_corpus import PARENT

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Intake:
    """The files of a study as read; None where a file could not be read or the study names none."""

    corpus: Rows | None
    queries: Rows | None
    qrels: Judgements | None
    regions: Rows | None
    template: Template | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A column that the study names under this key."""

    key: str
    column: str


def take_in(file: StudyFile, problems: Problems) -> Intake:
    """Read every file that study.toml names. Notes in `problems` what is missing, broken, empty or lacks a column."""
    spec = file.spec
    template = _template(file, problems)
    document_columns = list(_corpus_columns(file, template))
    query_columns = list(_query_columns(file))
    region_columns = list(_region_columns(file))

    provenance = [Wanted("provenance", spec.queries.provenance)]  # a column, or a class that is no column

    looked_at = [*document_columns, Wanted("parent", PARENT)]
    corpus = _open(file, "corpus", lambda path: _json_lines(path, looked_at), problems)
    queries = _open(file, "queries", lambda path: _json_lines(path, query_columns + provenance), problems)
    qrels = _open(file, "qrels", lambda path: read_qrels(path, grades=spec.qrels.grades), problems)
    regions = _open(file, "regions", lambda path: _regions(path, region_columns), problems)
    return Intake(
        corpus=_with_columns(file, "corpus", corpus, document_columns, problems),
        queries=_with_columns(file, "queries", queries, query_columns, problems),
        qrels=qrels,
        regions=_with_columns(file, "regions", regions, region_columns, problems),
        template=template,
    )


def _json_lines(path: Path, wanted: list[Wanted]) -> Rows:
    if path.suffix.lower() in {".csv", ".tsv", ".parquet"}:
        raise InputError(
            f"{path.name}: documents and queries are read from JSON lines in this version",
            where=str(path),
            fix="write one JSON object on each line of a .jsonl file",
        )
    return read_jsonl(path, columns={want.column for want in wanted})


def _regions(path: Path, wanted: list[Wanted]) -> Rows:
    return _json_lines(path, wanted) if path.suffix.lower() in {".jsonl", ".ndjson"} else read_delimited(path)


def _path(file: StudyFile, table: str) -> str | None:
    named = {
        "corpus": file.spec.corpus.path,
        "queries": file.spec.queries.path,
        "qrels": file.spec.qrels.path,
        "regions": file.spec.regions.path,
    }
    return named[table]


def _open(file: StudyFile, table: str, read: Callable[[Path], T], problems: Problems) -> T | None:
    named = _path(file, table)
    if named is None:
        return None
    path = file.path.parent / named
    where = file.where(table, "path")
    if not path.is_file():
        beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, beside) or f"put the file there, or correct path under [{table}]"
        problems.add(f"[{table}] names a file that is not there: {named}", where=where, fix=hint)
        return None
    try:
        return read(path)
    except InputError as error:
        problems.extend(error.problems)
    except OSError as error:
        problems.add(f"{named} cannot be read: {error.strerror}", where=where, fix="make the file readable")
    return None


def _with_columns(
    file: StudyFile, table: str, rows: Rows | None, wanted: list[Wanted], problems: Problems
) -> Rows | None:
    """The rows, if there are any and no named column is missing; else None, and the reasons are noted."""
    if rows is None:
        return None
    if not len(rows):
        problems.add(f"{rows.name} holds no row", where=file.where(table, "path"), fix="name the right file")
        return None
    missing = [want for want in wanted if want.column not in rows.seen]
    for want in missing:
        hint = did_you_mean(want.column, rows.seen) or "correct the name"
        problems.add(
            f"{rows.name} has no column {want.column!r}",
            where=file.where(table, want.key),
            fix=f"{hint} (its columns: {some(rows.seen, first=20)})",
        )
    return None if missing else rows


def _template(file: StudyFile, problems: Problems) -> Template | None:
    try:
        return Template.parse(file.spec.corpus.text)
    except InputError as error:
        for problem in error.problems:
            problems.add(problem.what, where=file.where("corpus", "text"), fix=problem.fix)
    return None


def _certain(file: StudyFile, table: str, key: str) -> bool:
    """Whether a key's value is what was meant: said in study.toml, or its default in a study without a problem."""
    tables = {"corpus": file.spec.corpus, "queries": file.spec.queries, "regions": file.spec.regions}
    return tables[table].stated(key) or not file.problems


def _corpus_columns(file: StudyFile, template: Template | None) -> Iterator[Wanted]:
    corpus = file.spec.corpus
    if _certain(file, "corpus", "id"):
        yield Wanted("id", corpus.id)
    if template is not None and _certain(file, "corpus", "text"):
        yield from (Wanted("text", column) for column in template.columns)
    for key in ("acl", "region", "source_revision", "parent"):
        if (column := getattr(corpus, key)) is not None:
            yield Wanted(key, column)


def _query_columns(file: StudyFile) -> Iterator[Wanted]:
    queries = file.spec.queries
    for key, column in (("id", queries.id), ("text", queries.text)):
        if _certain(file, "queries", key):
            yield Wanted(key, column)
    for key, optional in (
        ("groups", queries.groups if file.spec.corpus.acl is not None else None),
        ("region", queries.region),
        ("subgroups", queries.subgroups),
        ("rare", queries.rare),
        ("no_answer", queries.no_answer),
        ("split", queries.split),
        ("cluster", queries.cluster),
    ):
        if optional is not None:
            yield Wanted(key, optional)


def _region_columns(file: StudyFile) -> Iterator[Wanted]:
    regions = file.spec.regions
    if _certain(file, "regions", "id"):
        yield Wanted("id", regions.id)
    for key, column in (("parent", regions.parent), ("aliases", regions.aliases)):
        if column is not None:
            yield Wanted(key, column)
