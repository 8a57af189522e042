"""Corpus, queries and regions in every form that people have give one study and one result, through the Python door."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tiepoint as tp
from forms import FORMS, full, separated, studied, write_form, write_rows
from sample import hashing
from studies import DOCUMENTS, JUDGEMENTS, QUERIES, refusal, write_study
from test_bench import without_times
from tiepoint.formats.table_parquet import read_parquet

SAID = {
    "jsonl": "corpus.jsonl: JSON lines, UTF-8, 36 rows",
    "csv": "corpus.csv: comma-separated with a header, UTF-8 with BOM, 36 rows",
    "tsv": "corpus.tsv: tab-separated with a header, UTF-8, 36 rows",
    "parquet": "corpus.parquet: Parquet, 36 rows",
}


@pytest.mark.parametrize("public", [True, False], ids=["public", "acl"])
def test_one_study_in_four_forms_gives_one_result(tmp_path: Path, public: bool) -> None:
    results = {}
    for form in FORMS:
        study = tp.load_study(write_form(tmp_path / form / "sample", form, public=public))
        said = SAID[form] if public else SAID[form].removesuffix(", 36 rows")
        assert said in study.notes, "the form is said; under an acl without a count of documents"
        results[form] = tp.bench(study, candidates=[hashing(16), hashing(64)])
    first, *others = results.values()
    for other in others:
        summaries = [without_times(found.summary) for found in (first, other)]
        for summary in summaries:
            named = [note for note in summary["notes"] if not note.startswith(("corpus.", "queries."))]
            assert len(named) == len(summary["notes"]) - 2
            summary["notes"] = named
        assert summaries[0] == summaries[1]
        assert other.per_query.equals(first.per_query)
        assert other.rankings.equals(first.rankings)
        differ = {
            name for name in first.conditions.hashes if first.conditions.hashes[name] != other.conditions.hashes[name]
        }
        assert differ == {"study", "corpus", "queries"}, "the contents are equal, the files are not"


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_lists_are_json_arrays_or_stand_between_separators(tmp_path: Path, form: str) -> None:
    plain = tp.load_study(write_study(tmp_path / "a"))
    arrays = tp.load_study(studied(tmp_path / "b", form))
    folder = studied(tmp_path / "c", form, corpus={"list_separator": "|"})
    path = folder / f"corpus.{form}"
    text = path.read_text(encoding="utf-8-sig")
    for array in ('["staff", "planning"]', '["North", "South"]'):
        quoted = f'"{array.replace(chr(34), chr(34) * 2)}"'
        assert quoted in text
        text = text.replace(quoted, "|".join(json.loads(array)))
    path.write_text(text, encoding="utf-8")
    for study in (arrays, tp.load_study(folder)):
        assert study.corpus.table.equals(plain.corpus.table)
        assert (study.queries.groups, study.queries.subgroups) == (plain.queries.groups, plain.queries.subgroups)
        assert study.queries.rare.tolist() == plain.queries.rare.tolist()


def test_cells_that_are_no_list_and_no_flag_are_refused_by_id(tmp_path: Path) -> None:
    folder = studied(tmp_path, "csv", corpus={"list_separator": "|"})
    rows = full(DOCUMENTS)
    rows[0]["groups"], rows[1]["groups"], rows[2]["groups"] = '["staff"', "staff||planning", '["staff", 5]'
    write_rows(folder / "corpus.csv", rows)
    asked = full(QUERIES)
    asked[1]["rare"], asked[2]["rare"] = "yes", "1"
    write_rows(folder / "queries.csv", asked)
    message = refusal(folder)
    assert "3 of 6 documents have something in 'groups'" in message
    assert "ids d1, d2, d3" in message
    assert "2 of 4 queries have something in 'rare' that is neither true nor false" in message
    assert "ids q2, q3" in message


def test_flags_of_a_spreadsheet_are_read_in_capitals(tmp_path: Path) -> None:
    folder = studied(tmp_path, "csv")
    text = (folder / "queries.csv").read_text(encoding="utf-8-sig")
    (folder / "queries.csv").write_text(text.replace("true", "TRUE").replace("false", "FALSE"), encoding="utf-8")
    assert tp.load_study(folder).queries.rare.tolist() == [True, False, False, False]


def test_an_empty_cell_is_null_and_no_acl_is_no_acl(tmp_path: Path) -> None:
    folder = studied(tmp_path, "csv")
    rows = full(DOCUMENTS)
    rows[3]["groups"] = None
    write_rows(folder / "corpus.csv", rows)
    assert "1 of 6 documents have no acl\n  where: corpus.csv, ids d4" in refusal(folder)


def test_a_delimiter_and_a_format_are_stated(tmp_path: Path) -> None:
    folder = studied(tmp_path, "csv", corpus={"path": "export.txt", "format": "csv", "delimiter": ";"})
    (folder / "export.txt").write_text(separated(full(DOCUMENTS), ";"), encoding="utf-8")
    study = tp.load_study(folder)
    assert len(study.corpus) == 6
    assert "export.txt: separated by ';' with a header, UTF-8" in study.notes


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"delimiter": ";;"}, "delimiter must be one character"),
        ({"delimiter": '"'}, "delimiter must be one character"),
        ({"delimiter": 5}, "delimiter must be a text"),
        ({"format": "xlsx"}, "format must be"),
        ({"formt": "csv"}, 'did you mean "format"?'),
        ({"list_separator": ""}, "list_separator must not be empty"),
    ],
)
def test_keys_of_a_form_are_strict(tmp_path: Path, change: dict[str, object], said: str) -> None:
    assert said in refusal(studied(tmp_path, "csv", corpus=change))


@pytest.mark.parametrize("key", ["delimiter", "list_separator"])
def test_a_key_that_the_form_does_not_know_is_refused(tmp_path: Path, key: str) -> None:
    assert f"{key} is stated, but corpus.jsonl is neither CSV nor TSV" in refusal(
        write_study(tmp_path, corpus={key: ";"})
    )


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_file_is_refused(tmp_path: Path, form: str) -> None:
    folder = studied(tmp_path, form)
    (folder / f"corpus.{form}").write_bytes(b"")
    message = refusal(folder)
    assert f"corpus.{form}" in message
    assert any(said in message for said in ("holds no row", "is empty", "is no Parquet file"))
    if form == "parquet":
        pq.write_table(pa.table({"_id": pa.array([], pa.string())}), folder / "corpus.parquet")
        assert "corpus.parquet holds no row" in refusal(folder)


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_regions_in_every_form(tmp_path: Path, form: str) -> None:
    rows = [
        {"region": "North", "text": "", "aliases": ["N", "Upper"]},
        {"region": "South", "text": "", "aliases": None},
    ]
    folder = write_study(tmp_path, regions={"path": f"regions.{form}", "aliases": "aliases"})
    write_rows(folder / f"regions.{form}", rows)
    assert tp.load_study(folder).regions.aliases == {"N": "North", "Upper": "North"}


# Parquet


def test_parquet_reads_only_the_named_columns_over_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    blob = pa.array([b"\xff"] * 5)
    pq.write_table(pa.table({"id": list("abcde"), "n": range(5), "blob": blob}), path, row_group_size=2)
    rows = read_parquet(path, columns=["id", "gone"])
    assert rows.columns == {"id": list("abcde")}
    assert dict(rows.seen) == {"id": 5, "n": 5, "blob": 5}
    assert rows.sentence == "a.parquet: Parquet, 5 rows"


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([1.0, 2.0, 3.0]),
        pa.array([["a"], ["b"], ["c"]]),
        pa.array([{"a": 1}, {"a": 2}, {"a": 3}]),
        pa.array([b"a", b"b", b"c"]),
        pa.array([True, False, True]),
        pa.array([None, None, None], pa.string()),
    ],
    ids=["float", "list", "struct", "bytes", "bool", "null"],
)
def test_parquet_ids_that_are_no_ids_are_refused_with_their_rows(tmp_path: Path, ids: pa.Array) -> None:
    folder = write_study(
        tmp_path, documents=None, corpus={"path": "corpus.parquet", "text": "{text}"}, queries={"region": None}
    )
    others = {"text": ["a"] * 3, "groups": [["staff"]] * 3, "region": ["North"] * 3}
    pq.write_table(pa.table({"_id": ids, **others}), folder / "corpus.parquet")
    message = refusal(folder)
    assert "3 of 3 documents have an id that is neither text nor a whole number" in message
    assert "corpus.parquet, rows 1, 2, 3" in message


def test_parquet_integer_ids_are_decimal_text_and_said(tmp_path: Path) -> None:
    folder = studied(tmp_path, "parquet", judgements=JUDGEMENTS.replace("q", "").replace("uery-id", "query-id"))
    rows = [{**row, "_id": int(str(row["_id"])[1:])} for row in full(QUERIES)]
    write_rows(folder / "queries.parquet", rows)
    study = tp.load_study(folder)
    assert study.queries.ids == ("1", "2", "3", "4")
    assert "4 queries have an integer id, read as its decimal text" in study.notes


def test_parquet_repeated_ids_name_their_rows(tmp_path: Path) -> None:
    folder = studied(tmp_path, "parquet")
    write_rows(folder / "corpus.parquet", full([*DOCUMENTS, DOCUMENTS[1]]))
    assert "d2 (rows 2, 7)" in refusal(folder)


def test_parquet_that_is_none_or_holds_no_utf8(tmp_path: Path) -> None:
    folder = studied(tmp_path, "parquet")
    (folder / "queries.parquet").write_text("a,b\n", encoding="utf-8")
    broken = pa.array([b"a", b"\xff", b"c"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"_id": ["a", "b", "c"], "title": broken}), folder / "corpus.parquet")
    message = refusal(folder)
    assert "queries.parquet is no Parquet file" in message
    assert "1 values of the column 'title' are not UTF-8\n  where: corpus.parquet, rows 2" in message


def test_long_values_are_read_whole(tmp_path: Path) -> None:
    folder = studied(tmp_path, "csv")
    rows = full(DOCUMENTS)
    rows[0]["text"] = "silt " * 60_000
    write_rows(folder / "corpus.csv", rows)
    assert np.max([len(text) for text in tp.load_study(folder).corpus.texts]) > 300_000
