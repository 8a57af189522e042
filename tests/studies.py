"""A small valid study, and any change to it: six documents, four queries, two regions, two groups."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tiepoint.errors import InputError
from tiepoint.formats.study_toml.write import toml_value
from tiepoint.workflows.intake.load import load_study

DOCUMENTS = [
    {
        "_id": "d1",
        "title": "Harbour",
        "text": "Silt in the harbour",
        "groups": ["staff", "planning"],
        "region": "North",
    },
    {"_id": "d2", "title": "Quay", "text": "Quay wall survey", "groups": ["staff", "planning"], "region": "North"},
    {"_id": "d3", "title": "Moor", "text": "Peat on the moor", "groups": ["staff"], "region": ["North", "South"]},
    {"_id": "d4", "title": "Fen", "text": "Drainage of the fen", "groups": ["planning"], "region": "South"},
    {"_id": "d5", "title": "Dyke", "text": "The dyke is breached", "groups": "staff", "region": "South"},
    {"_id": "d6", "title": "Well", "text": "Water of the well", "groups": [], "region": "South"},
]
QUERIES = [
    {"_id": "q1", "text": "silt of the port", "groups": ["staff"], "region": "North", "rare": True, "cluster": "a"},
    {"_id": "q2", "text": "state of the quay", "groups": ["planning"], "region": "North", "subgroups": ["walls"]},
    {
        "_id": "q3",
        "text": "is the dyke sound",
        "groups": ["staff"],
        "region": "South",
        "subgroups": "walls",
        "cluster": 7,
    },
    {"_id": "q4", "text": "wet land", "groups": ["staff", "planning"], "region": None, "rare": False},
]
JUDGEMENTS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td2\t1\nq3\td5\t3\nq3\td3\t0\nq4\td4\t1\nq4\td3\t2\n"
TABLES: Mapping[str, Mapping[str, object]] = {
    "study": {"name": "small", "k": 3, "measures": ["recall@3", "RR@3", "nDCG@3"], "seed": 1},
    "corpus": {
        "path": "corpus.jsonl",
        "id": "_id",
        "text": "{title} {text}",
        "acl": "groups",
        "region": "region",
    },
    "queries": {
        "path": "queries.jsonl",
        "id": "_id",
        "text": "text",
        "groups": "groups",
        "region": "region",
        "subgroups": "subgroups",
        "rare": "rare",
        "cluster": "cluster",
    },
    "qrels": {"path": "qrels.tsv"},
    "decision": {"measure": "nDCG@3", "slice": "filtered", "gap": 0.05},
}
PUBLIC: Mapping[str, Mapping[str, object]] = {
    "corpus": {"acl": None},
    "queries": {"groups": None},
    "access": {"public": True},
}
"""Changes that make the study public: `write_study(folder, **PUBLIC)`."""

Rows = Sequence[Mapping[str, object]]


def write_study(
    folder: Path,
    *,
    documents: Rows | str | bytes | None = DOCUMENTS,
    questions: Rows | str | bytes | None = QUERIES,
    judgements: str | bytes | None = JUDGEMENTS,
    places: str | bytes | None = None,
    candidates: Sequence[Mapping[str, object]] = (),
    **tables: Mapping[str, object] | None,
) -> Path:
    """Write the study and return its folder.

    documents, questions, judgements, places   the files; rows, or their text as it stands; None: no such file
    candidates                                 the [[candidate]] tables
    tables                                     keys of study.toml to change, by table: `study={"k": 0}`;
                                               a key that is None is left out, a table that is None too
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {"corpus.jsonl": documents, "queries.jsonl": questions, "qrels.tsv": judgements, "regions.csv": places}
    for name, content in files.items():
        if content is not None:
            (folder / name).write_bytes(_bytes(content))
    (folder / "study.toml").write_text(study_text(candidates, **tables), encoding="utf-8")
    return folder


def study_text(candidates: Sequence[Mapping[str, object]] = (), **tables: Mapping[str, object] | None) -> str:
    changes = {name: tables.get(name, {}) for name in [*TABLES, *(name for name in tables if name not in TABLES)]}
    stated = {name: {**TABLES.get(name, {}), **change} for name, change in changes.items() if change is not None}
    return tables_text(stated) + "".join(_table("[[candidate]]", candidate) for candidate in candidates)


def tables_text(tables: Mapping[str, Mapping[str, object]]) -> str:
    """Tables as study.toml holds them; a key that is None is left out."""
    return "".join(_table(f"[{name}]", keys) for name, keys in tables.items())


def rows_with(rows: Rows, **changes: Mapping[str, object]) -> list[dict[str, object]]:
    """The rows, some changed by id: `rows_with(DOCUMENTS, d1={"region": None})`."""
    return [{**row, **changes.get(str(row["_id"]), {})} for row in rows]


def rows_without(rows: Rows, column: str, *ids: str) -> list[dict[str, object]]:
    """The rows, some (all where none is named) without a column."""
    return [{k: v for k, v in row.items() if k != column or (ids and row["_id"] not in ids)} for row in rows]


def refusal(folder: Path) -> str:
    """The message with which the study is refused; fails where it loads."""
    with pytest.raises(InputError) as refused:
        load_study(folder)
    assert refused.value.exit_code == 2
    return str(refused.value)


def _table(head: str, keys: Mapping[str, object]) -> str:
    lines = [head, *(f"{key} = {toml_value(value)}" for key, value in keys.items() if value is not None), ""]
    return "".join(f"{line}\n" for line in lines)


def _bytes(content: Rows | str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content).encode()
