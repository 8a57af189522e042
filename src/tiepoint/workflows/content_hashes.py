"""Hashes of what a study's files say, whatever the order of their rows, their format or their line ends."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

import pyarrow as pa

from tiepoint.core.ids import content_hash
from tiepoint.core.study import Study

BESIDE = frozenset({"text", "source_revision"})
"""Columns of the corpus that are not hashed: the text has its content hash, and a revision changes nothing by itself."""


def content_hashes(study: Study) -> dict[str, str]:
    """SHA-256 by name: corpus_content, queries_content, qrels_content (the pool of judgements), regions_content.

    Equal for two studies whose rows say the same; a column that is empty in every row says nothing.
    """
    queries, qrels, regions = study.queries, study.qrels, study.regions
    return {
        "corpus_content": _hash([{"public": study.corpus.public}, *_documents(study)]),
        "queries_content": _hash(
            {
                "id": queries.ids[i],
                "text": content_hash(queries.texts[i]).hex(),
                "groups": sorted(queries.groups[i]),
                "regions": sorted(queries.regions[i]),
                "subgroups": sorted(queries.subgroups[i]),
                "rare": bool(queries.rare[i]),
                "no_answer": bool(queries.no_answer[i]),
                "split": queries.split[i],
                "cluster": queries.cluster[i],
            }
            for i in range(len(queries))
        ),
        "qrels_content": _hash(
            [
                {"pooled": qrels.pooled},
                *sorted(
                    [queries.ids[q], document, int(grade)]
                    for q, document, grade in zip(qrels.query, qrels.document_id, qrels.grade, strict=True)
                ),
            ]
        ),
        "regions_content": _hash(
            [sorted(regions.names), sorted(regions.parents.items()), sorted(regions.aliases.items())]
        ),
    }


def _documents(study: Study) -> Iterable[dict[str, object]]:
    """The rows of the corpus as it stands, in id order, with the parent where passages are declared."""
    table, units = study.corpus.table, study.corpus.units
    columns = {
        name: table.column(name).to_pylist()
        for name in table.column_names
        if name not in BESIDE and not _says_nothing(table.column(name))
    }
    if not units.plain:
        columns["parent"] = [units.ids[u] for u in units.of_row]
    for i in range(len(study.corpus)):
        yield {name: _plain(values[i]) for name, values in columns.items()}


def _says_nothing(column: pa.ChunkedArray) -> bool:
    return all(value is None or value == [] for value in column.to_pylist())


def _plain(value: object) -> object:
    """A value that JSON can hold; lists are sets here, so they are sorted."""
    if isinstance(value, bytes):
        return value.hex()
    return sorted(value) if isinstance(value, list) else value


def _hash(rows: Iterable[object]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode())
        digest.update(b"\n")
    return digest.hexdigest()
