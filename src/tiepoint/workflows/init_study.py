"""Writes a new study folder: a commented study.toml that loads, and a .gitignore."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tiepoint.core.candidate import Candidate
from tiepoint.core.rows import utf8_text
from tiepoint.errors import InputError, NotInstalled, Problem
from tiepoint.formats.study_toml import StudySpec, study_toml
from tiepoint.workflows.init_columns import Found, find_columns, has_corpus
from tiepoint.workflows.intake.load import load_study

SEED = 20261130
TEMPLATE = {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels.tsv"}
"""The files of a study whose data are still to come."""
MEASURES = ["recall@10", "RR@10", "nDCG@10"]


@dataclass(frozen=True, slots=True)
class InitReport:
    """What init did.

    folder    the study folder
    written   names of the files written in it
    loads     the study is whole and loads; False: files are still to be put there, and `notes` says which
    notes     what was seen and what was made of it, one sentence each
    """

    folder: Path
    written: tuple[str, ...]
    loads: bool
    notes: tuple[str, ...]


def init_study(
    folder: str | Path,
    *,
    source: Path | None,
    public: bool,
    acl: str | None,
    suggestions: Sequence[Candidate],
    split: str | None = None,
) -> InitReport:
    """Write study.toml and .gitignore into a folder.

    folder        made when it is not there; a study that is there already is not touched
    source        a BEIR folder, referenced where it lies; None: the study folder itself if it holds a corpus,
                  else a template is written
    public, acl   exactly one: everybody may read everything, or the documents' column of groups
    suggestions   installed candidates
    split         which judgements of a BEIR folder; None: qrels.tsv, or those of test
    raises        InputError for a wrong call, a study already there, or data that do not load (then after writing, and
                  it says so); NotInstalled without suggestions, and nothing is written
    """
    target = Path(folder)
    _check_call(target, public=public, acl=acl)
    if not suggestions:
        raise NotInstalled(
            "no embedder is installed, so there is no candidate to compare",
            where=str(target),
            fix="pip install 'tiepoint[demo]'; nothing was written",
        )
    if source is None and has_corpus(target):
        source = target
    if source is None and split is not None:
        raise InputError(
            "--split names judgements, but there is no folder of them", where="tiepoint init", fix="add --from"
        )
    found = find_columns(source, acl=acl, split=split) if source is not None else None
    spec = _spec(target, found, acl=acl, suggestions=suggestions)
    ignored = ["spaces/", "cache/", *([] if public else ["results/*/rows/"])]
    try:
        target.mkdir(parents=True, exist_ok=True)
        written = [*_ignore(target / ".gitignore", ignored), *_write(target / "study.toml", study_toml(spec))]
    except OSError as error:
        raise InputError(
            f"the study cannot be written: {error.strerror}", where=str(target), fix="choose a folder"
        ) from None
    if found is not None:
        _load_once(target)
    return InitReport(target, tuple(written), found is not None, tuple(_notes(found, spec)))


def _check_call(target: Path, *, public: bool, acl: str | None) -> None:
    if public == (acl is not None):
        raise InputError(
            "--public and --acl contradict each other" if public else "nobody has said who may read the documents",
            where="tiepoint init",
            fix="say --public if everybody may read everything, else --acl COLUMN; nothing was written",
        )
    if acl is not None and not acl.strip():
        raise InputError("--acl names no column", where="tiepoint init", fix="name the documents' column of groups")
    if (target / "study.toml").exists():
        raise InputError(
            "there is a study here already",
            where=str(target / "study.toml"),
            fix="name another folder; nothing was changed",
        )
    if target.exists() and not target.is_dir():
        raise InputError("this is a file, not a folder", where=str(target), fix="name another folder")


def _spec(target: Path, found: Found | None, *, acl: str | None, suggestions: Sequence[Candidate]) -> StudySpec:
    """What study.toml will say."""
    place = _reference(target, found.folder) if found is not None else ""
    files = found.files if found is not None else TEMPLATE
    documents = dict(found.documents) if found is not None else {"acl": acl} if acl else {}
    queries = dict(found.queries) if found is not None else {"groups": acl} if acl else {}
    titled = documents.pop("title", None)
    queries.pop("title", None)
    return StudySpec.model_validate(
        {
            "study": {"name": target.resolve().name or "study", "k": 10, "measures": MEASURES, "seed": SEED},
            "corpus": documents
            | {"path": f"{place}{files['corpus']}", "text": "{title} {text}" if titled else "{text}"}
            | {"unplaced": "out" if found is not None and found.unplaced else "error"},
            "queries": queries | {"path": f"{place}{files['queries']}"},
            "qrels": {"path": f"{place}{files['qrels']}"},
            "access": {"public": acl is None},
            "candidate": [_candidate(candidate) for candidate in suggestions],
            "decision": {"slice": "filtered" if found is not None and found.asks_region else "unfiltered"},
        }
    )


def _candidate(candidate: Candidate) -> dict[str, object]:
    stated = {"contract": {k: v for k, v in candidate.claims.items() if k != "space_id"}, "options": candidate.options}
    return {"id": candidate.id, "embedder": candidate.embedder} | {k: dict(v) for k, v in stated.items() if v}


def _reference(target: Path, source: Path) -> str:
    """How study.toml names a folder, ending in a slash: an absolute one stays so, a relative one is seen from the study."""
    if source.is_absolute() and source.resolve() != target.resolve():
        return f"{source.as_posix()}/"
    seen = Path(os.path.relpath(source.resolve(), target.resolve())).as_posix()
    return "" if seen == "." else f"{seen}/"


def _ignore(path: Path, wanted: Sequence[str]) -> list[str]:
    """Add what tiepoint writes to .gitignore; lines that stand there stay."""
    held = utf8_text(path.read_bytes(), name=path.name) if path.is_file() else ""
    lacking = [line for line in wanted if line not in held.splitlines()]
    if not lacking:
        return []
    start = held if not held or held.endswith("\n") else f"{held}\n"
    return _write(path, start + "\n".join(["# what tiepoint writes", *lacking]) + "\n")


def _write(path: Path, text: str) -> list[str]:
    beside = path.with_name(f".writing-{path.name}")
    beside.write_text(text, encoding="utf-8", newline="\n")
    beside.replace(path)
    return [path.name]


def _load_once(target: Path) -> None:
    try:
        load_study(target)
    except InputError as error:
        written = Problem(
            "the study was written, but it does not load yet",
            str(target / "study.toml"),
            f"mend what is named above in the study's own files, then: tiepoint bench {target}",
        )
        raise InputError(problems=[*error.problems, written]) from None


def _notes(found: Found | None, spec: StudySpec) -> Iterator[str]:
    if found is None:
        yield "No documents yet. Put these files there, or correct the paths and column names in study.toml:"
        yield '  corpus.jsonl    {"_id": ..., "text": ...} on each line'
        yield '  queries.jsonl   {"_id": ..., "text": ...} on each line'
        yield "  qrels.tsv       query-id, corpus-id and score (0..3) between tabs"
    else:
        yield f"Found {found.sizes} in {found.folder}; they are read where they lie."
        yield from found.others
        if "parent" in found.documents:
            yield "The judgements name parents of passages: hits collapse to their parent before the cut."
        named = [
            f"[{table}] {key} = {column}" for table, keys in _tables(found) for key, column in keys if key != "title"
        ]
        yield f"Columns in use: {', '.join(named)}"
        if found.unplaced:
            yield f'{found.unplaced:,} documents have no region: unplaced = "out" keeps them out of every region filter.'
        for column in found.unused:
            yield f"Not in use, since it holds something else than its name says: {column}"
    yield f"Candidates: {', '.join(candidate.id for candidate in spec.candidate)}"
    yield f'Decision: {spec.decision.measure} on the slice "{spec.decision.slice}"; change the rule before the first run.'


def _tables(found: Found) -> list[tuple[str, list[tuple[str, str]]]]:
    return [("corpus", sorted(found.documents.items())), ("queries", sorted(found.queries.items()))]
