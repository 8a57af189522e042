"""The sample study and the small one as JSON lines, CSV with BOM, TSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sample import documents, questions, write_sample
from studies import DOCUMENTS, JUDGEMENTS, QUERIES, write_study

FORMS = ("jsonl", "csv", "tsv", "parquet")
COLUMNS = ("_id", "title", "text", "groups", "region", "subgroups", "rare", "cluster")
Row = dict[str, object]


def cell(value: object) -> str:
    """A value as a spreadsheet holds it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def separated(rows: Sequence[Row], separator: str = ",") -> str:
    """Rows as CSV or TSV with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def column(values: list[object]) -> pa.Array:
    """Values as one Arrow column: a list for every row where one is a list, text where one is text."""
    if any(isinstance(value, list) for value in values):
        return pa.array([value if value is None or isinstance(value, list) else [value] for value in values])
    if any(isinstance(value, str) for value in values):
        return pa.array([None if value is None else str(value) for value in values])
    return pa.array(values)


def table(rows: Sequence[Row]) -> pa.Table:
    """Rows as Arrow, in the types that writers differ in: large texts, dictionaries, lists."""
    columns = {name: column([row[name] for row in rows]) for name in rows[0]}
    columns["text"] = columns["text"].cast(pa.large_string())
    if "region" in columns and pa.types.is_string(columns["region"].type):
        columns["region"] = columns["region"].dictionary_encode()
    return pa.table(columns)


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """The rows in the form that the path's suffix says; CSV with a byte order mark."""
    form = path.suffix[1:]
    if form == "jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    elif form == "parquet":
        pq.write_table(table(rows), path, row_group_size=7)
    else:
        text = separated(rows, "," if form == "csv" else "\t")
        path.write_text(text, encoding="utf-8-sig" if form == "csv" else "utf-8", newline="")


def write_form(folder: Path, form: str, **how: object) -> Path:
    """The sample study with its corpus and queries in this form."""
    write_sample(folder, **how)  # type: ignore[arg-type]
    for name, rows in (("corpus", documents()), ("queries", questions())):
        (folder / f"{name}.jsonl").unlink()
        write_rows(folder / f"{name}.{form}", rows)
    toml = folder / "study.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace(".jsonl", f".{form}"), encoding="utf-8")
    return folder


def full(rows: Sequence[Row]) -> list[Row]:
    """The rows with every column in each."""
    names = [name for name in COLUMNS if any(name in row for row in rows)]
    return [{name: row.get(name) for name in names} for row in rows]


def studied(folder: Path, form: str, *, corpus: dict[str, object] | None = None, judgements: str = JUDGEMENTS) -> Path:
    """The small study with its corpus and queries in this form; corpus: keys of its table to change."""
    write_study(
        folder,
        documents=None,
        questions=None,
        judgements=judgements,
        corpus={"path": f"corpus.{form}", **(corpus or {})},
        queries={"path": f"queries.{form}"},
    )
    write_rows(folder / f"corpus.{form}", full(DOCUMENTS))
    write_rows(folder / f"queries.{form}", full(QUERIES))
    return folder
