"""Finds the columns of a folder of documents, questions and judgements that a study can use as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tiepoint.core.queries import PROVENANCES, SPLITS
from tiepoint.core.rows import Rows
from tiepoint.errors import InputError, Problems, did_you_mean, some
from tiepoint.formats.jsonl import read_jsonl

QRELS = ("qrels.tsv", "qrels/test.tsv")
NAMES: Mapping[str, Sequence[str]] = {
    "id": ("_id", "id"),
    "text": ("text",),
    "title": ("title",),
    "region": ("region", "regions"),
    "source_revision": ("source_revision", "revision"),
    "groups": ("groups", "group"),
    "subgroups": ("subgroups", "subgroup"),
    "rare": ("has_rare_name", "rare", "rare_name"),
    "no_answer": ("no_answer",),
    "split": ("split",),
    "cluster": ("cluster", "cluster_id"),
    "provenance": ("provenance",),
}
"""Which column names stand for a key of study.toml, the likeliest first."""
OF_DOCUMENTS = ("region", "source_revision")
OF_QUERIES = ("region", "groups", "subgroups", "rare", "no_answer", "split", "cluster", "provenance")


def _is_text(value: object) -> bool:
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


def _is_list(value: object) -> bool:
    return (
        value is None or isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, str) for v in value))
    )


def _is_flag(value: object) -> bool:
    return value is None or isinstance(value, bool)


FIT: Mapping[str, Callable[[object], bool]] = {
    "region": _is_list,
    "groups": _is_list,
    "subgroups": _is_list,
    "source_revision": _is_text,
    "cluster": _is_text,
    "rare": _is_flag,
    "no_answer": _is_flag,
    "split": lambda value: value is None or value in SPLITS,
    "provenance": lambda value: value is None or value in PROVENANCES,
}


@dataclass(frozen=True, slots=True)
class Found:
    """What a folder holds.

    folder              where the three files lie
    qrels               the path of the judgements in it
    documents, queries  key of study.toml to the column that stands for it
    sizes               a sentence on how much there is
    unplaced            documents without a region, where the documents have such a column
    asks_region         a question has a region, and documents have them too
    unused              columns that look like a key but hold something else
    """

    folder: Path
    qrels: str
    documents: Mapping[str, str]
    queries: Mapping[str, str]
    sizes: str
    unplaced: int
    asks_region: bool
    unused: tuple[str, ...]


def find_columns(folder: Path, *, acl: str | None) -> Found:
    """What stands in a BEIR folder: corpus.jsonl, queries.jsonl, and qrels.tsv or qrels/test.tsv.

    acl      the documents' column of groups; None: public
    raises   InputError naming every missing file, a broken line, an acl that the documents lack, no groups of questions
    """
    problems = Problems()
    qrels = next((name for name in QRELS if (folder / name).is_file()), None)
    missing = [name for name in ("corpus.jsonl", "queries.jsonl") if not (folder / name).is_file()]
    if qrels is None:
        missing.append(" or ".join(QRELS))
    if missing:
        fix = "put them there, or name another folder with --from; nothing was written"
        problems.add(f"the folder lacks {', '.join(missing)}", where=str(folder), fix=fix)
    problems.raise_if_any()
    corpus = _read(folder / "corpus.jsonl", OF_DOCUMENTS, problems)
    queries = _read(folder / "queries.jsonl", OF_QUERIES, problems)
    problems.raise_if_any()
    documents, unused = _columns(corpus, OF_DOCUMENTS)
    asked, unused_asked = _columns(queries, OF_QUERIES)
    if "region" not in documents:
        asked.pop("region", None)
    if acl is None:
        asked.pop("groups", None)
    else:
        documents["acl"] = acl
        if "groups" not in asked and acl in queries.seen:
            asked["groups"] = acl
        _check_access(corpus, queries, acl, asked.get("groups"), problems)
    problems.raise_if_any()
    return Found(
        folder=folder,
        qrels=qrels or "",
        documents=documents,
        queries=asked,
        sizes=f"{len(corpus):,} documents and {len(queries):,} questions",
        unplaced=sum(value in (None, "", []) for value in corpus.columns.get(documents.get("region", ""), ())),
        asks_region=any(value for value in queries.columns.get(asked.get("region", ""), ())),
        unused=(*unused, *unused_asked),
    )


def _read(path: Path, keys: Sequence[str], problems: Problems) -> Rows:
    """The columns that may stand for these keys. Notes what cannot be read, and gives no rows then."""
    try:
        return read_jsonl(path, columns=[name for key in keys for name in NAMES[key]])
    except InputError as error:
        problems.extend(error.problems)
        return Rows(path.name, "", {}, {}, [], "")


def _columns(rows: Rows, keys: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The column for each key, and the columns that bear a fitting name but do not fit."""
    found: dict[str, str] = {}
    unused = []
    for key in ("id", "text", "title", *keys):
        for name in NAMES[key]:
            if name in rows.seen and key not in found:
                if key not in FIT or all(map(FIT[key], rows.columns[name])):
                    found[key] = name
                else:
                    unused.append(f"{rows.name}: {name!r}")
    return found, unused


def _check_access(corpus: Rows, queries: Rows, acl: str, groups: str | None, problems: Problems) -> None:
    if acl not in corpus.seen:
        hint = did_you_mean(acl, corpus.seen) or f"its columns are {some(corpus.seen, first=20)}"
        problems.add(f"{corpus.name} has no column {acl!r}", where=f"--acl {acl}", fix=f"{hint}; nothing was written")
    if groups is None:
        problems.add(
            f"{queries.name} has no column that says who asks",
            where=f"its columns are {some(queries.seen, first=20)}",
            fix="add a column groups with the groups of each question's principal; nothing was written",
        )
