"""Judgements: joined with queries and documents, refused where the ids do not meet."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tiepoint.core.corpus import Corpus
from tiepoint.core.qrels import Qrels
from tiepoint.core.queries import Queries
from tiepoint.errors import Problems, some
from tiepoint.formats.qrels import Judgements
from tiepoint.formats.study_toml import StudyFile

NUMBER = re.compile(r"0*([0-9]+)(?:\.0+)?")


def check_ids(
    file: StudyFile,
    judgements: Judgements,
    *,
    known: Mapping[str, Sequence[str]],
    parents: frozenset[str],
    problems: Problems,
) -> None:
    """Note where judged ids do not meet the ids of the study: no judgement, none is equal, one is spelt in two ways.

    known     the ids of each "query" and each "document"
    parents   what the corpus' column "parent" holds where the study does not declare it; for the hint
    """
    name = _name(file)
    if not judgements.rows:
        problems.add(f"{name} holds no judgement", where=file.where("qrels", "path"), fix="judge some documents first")
        return
    for column, what in enumerate(("query", "document")):
        judged = sorted({str(row[column]) for row in judgements.rows})
        named = sum(i in parents for i in judged) if what == "document" else 0
        hint = f'say parent = "parent" under [corpus]: {named:,} of them stand in that column' if named else ""
        _meet(judged, known[what], what=what, name=name, hint=hint, problems=problems)


def join(judgements: Judgements, *, queries: Queries, corpus: Corpus, pooled: bool) -> Qrels:
    """The judgements in the order of the queries and documents."""
    return Qrels.from_rows(judgements.rows, query_ids=queries.ids, document_ids=corpus.units.ids, pooled=pooled)


def loosened(name: str) -> str:
    """A form in which spellings of one id fall together: `12`, `012`, `12.0` and ` 12`; NFC and NFD."""
    plain = unicodedata.normalize("NFC", name).strip()
    match = NUMBER.fullmatch(plain)
    return match[1] if match else plain


def _meet(judged: Sequence[str], known: Sequence[str], *, what: str, name: str, hint: str, problems: Problems) -> None:
    """Note when judged ids and known ids do not meet: none is equal, or one is spelt in two ways."""
    exact = set(known)
    unmatched = [i for i in judged if i not in exact]
    overlap = f"{len(judged) - len(unmatched):,} of {len(judged):,} judged {what} ids stand in the {_PLURAL[what]}"
    spelt: dict[str, str] = {}
    for i in known:
        spelt.setdefault(loosened(i), i)
    collisions = [f"{i!r} is judged, {spelt[loosened(i)]!r} is known" for i in unmatched if loosened(i) in spelt]
    if collisions:
        problems.add(
            f"{len(collisions):,} judged {what} ids are spelt otherwise than in the {_PLURAL[what]}; {overlap}",
            where=f"{name}: {some(collisions)}",
            fix="write each id in one spelling; ids are text and are compared as written",
        )
    elif len(unmatched) == len(judged):
        problems.add(
            f"the judgements belong to other {_PLURAL[what]}: {overlap}",
            where=f"{name}: judged {some(map(repr, judged), first=3)}; known {some(map(repr, known), first=3)}",
            fix=hint or f"name the qrels of these {_PLURAL[what]}, or the other way round",
        )


_PLURAL = {"query": "queries", "document": "documents"}


def check_gold(file: StudyFile, qrels: Qrels, *, queries: Queries, corpus: Corpus, problems: Problems) -> None:
    """Note gold for a query flagged no_answer, more absent gold than is allowed, and gold that the principal may not read."""
    name = _name(file)
    query = qrels.query
    gold = qrels.grade >= 1
    flagged = sorted({queries.ids[i] for i in query[gold & queries.no_answer[query]]})
    if flagged:
        problems.add(
            f"{len(flagged):,} queries are flagged no_answer and have a relevant document",
            where=f"{name}, queries {some(flagged)}",
            fix="remove the flag, or the judgements of grade 1 and above",
        )
    _check_absent(file, qrels, problems)
    if corpus.public:
        return
    forbidden: list[str] = []
    by_groups: dict[frozenset[str], list[int]] = {}
    for j in np.flatnonzero(gold & (qrels.document >= 0)):
        by_groups.setdefault(queries.groups[query[j]], []).append(int(j))
    for groups, judged in by_groups.items():
        may_read = corpus.units_readable(corpus.readable(groups))
        forbidden += [
            f"{queries.ids[query[j]]} ({qrels.document_id[j]})" for j in judged if not may_read[qrels.document[j]]
        ]
    if forbidden:
        problems.add(
            f"{len(forbidden):,} relevant documents may not be read by the query's own principal",
            where=f"{name}, queries (documents) {some(sorted(forbidden))}",
            fix="correct the acl or the query's groups, or remove the judgement: nobody can find what he may not read",
        )


def _check_absent(file: StudyFile, qrels: Qrels, problems: Problems) -> None:
    """Note when more of the relevant documents are missing from the corpus than the study allows."""
    allowed = file.spec.qrels.absent_at_most
    gold = qrels.grade >= 1
    absent = np.flatnonzero(gold & (qrels.document < 0))
    if allowed is not None and len(absent) > allowed * gold.sum():
        problems.add(
            f"{len(absent):,} of {int(gold.sum()):,} relevant documents are not in the corpus, more than absent_at_most = "
            f"{allowed:g} allows",
            where=f"{_name(file)}, documents {some(sorted({qrels.document_id[j] for j in absent}))}",
            fix="name the corpus that was judged, or raise absent_at_most under [qrels]",
        )


def _name(file: StudyFile) -> str:
    return ", ".join(Path(path).name for path in file.spec.qrels.paths)
