"""Finds the columns of a folder of documents, questions and judgements that a study can use as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tiepoint.core.queries import PROVENANCES, SPLITS
from tiepoint.core.rows import Rows
from tiepoint.errors import InputError, Problems, did_you_mean, some
from tiepoint.formats.qrels import read_qrels
from tiepoint.workflows.intake.corpus import PARENT
from tiepoint.workflows.intake.files import FLAGS, LISTS
from tiepoint.workflows.intake.read_rows import SUFFIXES, Form, read_rows, with_values

SPLIT = "test"
"""The split of a BEIR folder that is read when nobody names one."""
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

    folder              where the files lie
    files               corpus, queries and qrels to the path of each in it
    others              sentences on files that could be meant as well and are not read
    documents, queries  key of study.toml to the column that stands for it
    sizes               a sentence on how much there is
    unplaced            documents without a region, where the documents have such a column
    asks_region         a question has a region, and documents have them too
    unused              columns that look like a key but hold something else
    """

    folder: Path
    files: Mapping[str, str]
    others: tuple[str, ...]
    documents: Mapping[str, str]
    queries: Mapping[str, str]
    sizes: str
    unplaced: int
    asks_region: bool
    unused: tuple[str, ...]


def has_corpus(folder: Path) -> bool:
    """Whether a corpus lies in this folder, in any form."""
    return bool(_lying(folder, "corpus"))


def find_columns(folder: Path, *, acl: str | None, split: str | None = None) -> Found:
    """What stands in a BEIR folder: corpus and queries in any form that is read, and qrels.

    acl      the documents' column of groups; None: public
    split    read qrels/<split>.tsv; None: qrels.tsv, qrels.csv or qrels/test.tsv
    raises   InputError naming every missing file, a broken line, an acl that the documents lack, no groups of questions
    """
    problems = Problems()
    files, others = _files(folder, split, problems)
    problems.raise_if_any()
    corpus = _read(folder / files["corpus"], ("id", PARENT, *OF_DOCUMENTS), problems)
    queries = _read(folder / files["queries"], OF_QUERIES, problems)
    problems.raise_if_any()
    documents, unused = _columns(corpus, OF_DOCUMENTS)
    if _names_parents(corpus, documents.get("id", ""), folder / files["qrels"]):
        documents["parent"] = PARENT
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
        files=files,
        others=tuple(others),
        documents=documents,
        queries=asked,
        sizes=f"{len(corpus):,} documents and {len(queries):,} questions",
        unplaced=sum(value in (None, "", []) for value in corpus.columns.get(documents.get("region", ""), ())),
        asks_region=any(value for value in queries.columns.get(asked.get("region", ""), ())),
        unused=(*unused, *unused_asked),
    )


def _files(folder: Path, split: str | None, problems: Problems) -> tuple[dict[str, str], list[str]]:
    """The files to read, and what is said of those that are not. Notes every file that is missing."""
    lying = {table: _lying(folder, table) for table in ("corpus", "queries")}
    judged = [f"qrels/{split}.tsv"] if split else ["qrels.tsv", "qrels.csv", f"qrels/{SPLIT}.tsv"]
    qrels = [name for name in judged if (folder / name).is_file()]
    splits = [f"qrels/{path.name}" for path in sorted((folder / "qrels").glob("*.tsv"))]
    missing = [f"{table}.jsonl" for table, names in lying.items() if not names]
    if not qrels:
        missing.append(" or ".join(name for name in judged if name != "qrels.csv"))
    if missing:
        named = f" (judgements of other splits lie there: {some(splits)}; name one with --split)" if splits else ""
        forms = ", ".join(suffix for suffix in SUFFIXES if suffix != ".topics")
        problems.add(
            f"the folder lacks {', '.join(missing)}{named if not qrels else ''}",
            where=str(folder),
            fix=f"put them there (corpus and queries: {forms}), or name another folder with --from; nothing was written",
        )
        return {}, []
    others = [
        f"{', '.join(names[1:])} in the folder: not read, since {names[0]} is" for names in lying.values() if names[1:]
    ]
    if rest := [name for name in splits if name != qrels[0]]:
        others.append(
            f"Judgements of other splits: {', '.join(rest)}; --split NAME reads one of them, "
            "and path under [qrels] takes a list of files"
        )
    return {table: names[0] for table, names in lying.items()} | {"qrels": qrels[0]}, others


def _lying(folder: Path, table: str) -> list[str]:
    """The files of this folder that hold a corpus or queries by their names, the likeliest form first."""
    suffixes = [suffix for suffix in SUFFIXES if table == "queries" or suffix != ".topics"]
    return [f"{table}{suffix}" for suffix in suffixes if (folder / f"{table}{suffix}").is_file()]


def _read(path: Path, keys: Sequence[str], problems: Problems) -> Rows:
    """The columns that may stand for these keys. Notes what cannot be read, and gives no rows then."""
    names = {key: NAMES.get(key, (key,)) for key in keys}
    lists, flags = ({name for key in keys if key in kind for name in names[key]} for kind in (LISTS, FLAGS))
    try:
        rows = read_rows(path, Form(), columns={name for every in names.values() for name in every})
    except InputError as error:
        problems.extend(error.problems)
        return Rows(path.name, "", {}, {}, [], "")
    return with_values(rows, lists=lists, flags=flags)


def _names_parents(corpus: Rows, own: str, qrels: Path) -> bool:
    """Whether the judgements name what the column parent holds: more parents that are no document than passages."""
    ids = [str(i) for i in corpus.columns.get(own, ())]
    above = corpus.columns.get(PARENT)
    if above is None or not all(map(_is_text, above)):
        return False
    try:
        judged = {document for _, document, _ in read_qrels(qrels).rows}
    except InputError:  # loading the study says it, with everything else
        return False
    parents = {str(parent) for parent in above if parent is not None}
    passages = {i for i, parent in zip(ids, above, strict=True) if parent is not None}
    return len((judged & parents) - set(ids)) > len(judged & passages)


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
