"""Opens every file that a study names and finds the columns it names, all problems together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from tiepoint.core.rows import Rows
from tiepoint.errors import InputError, Problems, did_you_mean, some
from tiepoint.formats.qrels import Judgements, merged, read_qrels
from tiepoint.formats.study_toml import CorpusTable, QueriesTable, RegionsTable, StudyFile
from tiepoint.formats.template import Template
from tiepoint.workflows.intake.corpus import PARENT
from tiepoint.workflows.intake.read_rows import Form, read_rows, with_values

T = TypeVar("T")
LISTS = ("acl", "groups", "region", "subgroups", "aliases")
FLAGS = ("rare", "no_answer")


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
    corpus = _rows(file, "corpus", looked_at, problems)
    queries = _rows(file, "queries", query_columns + provenance, problems)
    qrels = _judgements(file, problems)
    regions = _rows(file, "regions", region_columns, problems)
    return Intake(
        corpus=_with_columns(file, "corpus", corpus, document_columns, problems),
        queries=_with_columns(file, "queries", queries, query_columns, problems),
        qrels=qrels,
        regions=_with_columns(file, "regions", regions, region_columns, problems),
        template=template,
    )


def _rows(file: StudyFile, table: str, wanted: Sequence[Wanted], problems: Problems) -> Rows | None:
    """The rows of [corpus], [queries] or [regions]; None where they cannot be read or the study names no file."""
    tables: Mapping[str, CorpusTable | QueriesTable | RegionsTable] = {
        "corpus": file.spec.corpus,
        "queries": file.spec.queries,
        "regions": file.spec.regions,
    }
    spec = tables[table]
    if spec.path is None:
        return None
    form = Form(spec.format, spec.delimiter, spec.list_separator)
    names = {want.column for want in wanted}
    rows = _open(file, table, spec.path, lambda path: read_rows(path, form, columns=names), problems)
    if rows is None:
        return None
    lists = {want.column for want in wanted if want.key in LISTS and not (want.key == "region" and table == "regions")}
    flags = {want.column for want in wanted if want.key in FLAGS}
    return with_values(rows, lists=lists, flags=flags, separator=spec.list_separator)


def _judgements(file: StudyFile, problems: Problems) -> Judgements | None:
    """The judgements of every file of [qrels]; None where one cannot be read."""
    grades = file.spec.qrels.grades
    paths = file.spec.qrels.paths
    read = [
        _open(file, "qrels", named, partial(read_qrels, grades=grades, name=_short(named)), problems) for named in paths
    ]
    whole = [judgements for judgements in read if judgements is not None]
    if not paths or len(whole) < len(paths):
        return None
    try:
        return merged(whole, names=[_short(named) for named in paths])
    except InputError as error:
        problems.extend(error.problems)
    return None


def _short(named: str) -> str:
    """What messages call a qrels file: its name, with the folder where that is `qrels`, as BEIR has it."""
    path = Path(named)
    return f"{path.parent.name}/{path.name}" if path.parent.name == "qrels" else path.name


def _open(file: StudyFile, table: str, named: str, read: Callable[[Path], T], problems: Problems) -> T | None:
    path = file.path.parent / named
    where = file.where(table, "path")
    if not path.is_file():
        problems.add(f"[{table}] names a file that is not there: {named}", where=where, fix=_near(path, table))
        return None
    try:
        return read(path)
    except InputError as error:
        problems.extend(error.problems)
    except OSError as error:
        problems.add(f"{named} cannot be read: {error.strerror}", where=where, fix="make the file readable")
    return None


def _near(path: Path, table: str) -> str:
    """What may be meant by a path that is no file."""
    if path.is_dir():
        held = sorted(entry.name for entry in path.iterdir() if entry.is_file())
        return f"it is a folder: name a file in it ({some(held) or 'it holds none'})"
    beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    return did_you_mean(path.name, beside) or f"put the file there, or correct path under [{table}]"


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
        ("exclude", queries.exclude),
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
