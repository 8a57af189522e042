"""Corpus, queries, regions and judgements in every form that people have, through the Python door."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tiepoint as tp
from forms import FORMS, separated, write_form, write_rows
from sample import hashing
from studies import DOCUMENTS, JUDGEMENTS, PUBLIC, QUERIES, refusal, write_study
from test_bench import without_times
from test_init import INSTALLED
from tiepoint.formats.table_parquet import read_parquet
from tiepoint.formats.trec_topics import read_topics
from tiepoint.workflows.init_study import init_study

SAID = {
    "jsonl": "corpus.jsonl: JSON lines, UTF-8, 36 rows",
    "csv": "corpus.csv: comma-separated with a header, UTF-8 with BOM, 36 rows",
    "tsv": "corpus.tsv: tab-separated with a header, UTF-8, 36 rows",
    "parquet": "corpus.parquet: Parquet, 36 rows",
}
COLUMNS = ("_id", "title", "text", "groups", "region", "subgroups", "rare", "cluster")


def full(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """The rows with every column in each."""
    names = [name for name in COLUMNS if any(name in row for row in rows)]
    return [{name: row.get(name) for name in names} for row in rows]


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


# TREC topics

MARKED = """<top>
<num> Number: 051
<title> Topic:  Airbus
 subsidies
<desc> Description:
How much?
</top>

<top lang='en'><num>52</num><title>Kings & queens</title></top>
"""


@pytest.mark.parametrize("text", [MARKED, "051\tAirbus subsidies\r\n52\tKings & queens\n\n"])
def test_topics_give_ids_and_texts(tmp_path: Path, text: str) -> None:
    (tmp_path / "q.topics").write_text(text, encoding="utf-8")
    rows = read_topics(tmp_path / "q.topics")
    assert (rows.columns["num"], rows.columns["title"]) == (["051", "52"], ["Airbus subsidies", "Kings & queens"])
    assert rows.form.startswith("q.topics: TREC topics, ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "<top>\n<num> 1\n<title> a\n\n<top>\n<num> 2\n<title> b\n",
            ["not closed before the next (1)", "lines 1", "never closed"],
        ),
        ("<top>\n<num> 1\n</top>\n<top>\n<title> a\n</top>", ["no <title> (1)", "no <num> (1)", "lines 4"]),
        ("<top><num> 1 <num> 2 <title> a </top>", ["more than one <num>"]),
        ("1\ta\n2 b\n\n3\tc\n", ["have no tab between id and text (1)", "lines 2", "are blank (1)", "lines 3"]),
    ],
)
def test_topics_that_cannot_be_read(tmp_path: Path, text: str, said: list[str]) -> None:
    (tmp_path / "q.topics").write_text(text, encoding="utf-8")
    with pytest.raises(tp.InputError) as refused:
        read_topics(tmp_path / "q.topics")
    for words in said:
        assert words in str(refused.value)


@pytest.mark.parametrize("name", ["q.topics", "topics.51-52"])
def test_topics_are_the_queries_of_a_study(tmp_path: Path, name: str) -> None:
    plain = dict.fromkeys(("groups", "region", "subgroups", "rare", "cluster", "id", "text"))
    form = {} if name.endswith(".topics") else {"format": "trec-topics"}
    changes = {**PUBLIC, "queries": {**plain, "path": name, **form}, "decision": {"slice": "unfiltered"}}
    folder = write_study(
        tmp_path, questions=None, judgements="051\td1\t1\n52 \td2\t1\n".replace("52 ", "52"), **changes
    )
    (folder / name).write_text(MARKED, encoding="utf-8")
    study = tp.load_study(folder)
    assert (study.queries.ids, study.queries.texts) == (("051", "52"), ("Airbus subsidies", "Kings & queens"))
    wrong = write_study(tmp_path, questions=None, **{**changes, "queries": {**changes["queries"], "text": "desc"}})
    assert "has no column 'desc'" in refusal(wrong)


# Judgements


@pytest.mark.parametrize("quoted", [False, True])
def test_judgements_as_csv(tmp_path: Path, quoted: bool) -> None:
    text = (
        JUDGEMENTS.replace("\t", '","').replace("\n", '"\n"').removesuffix('"')
        if quoted
        else JUDGEMENTS.replace("\t", ",")
    )
    folder = write_study(tmp_path, judgements=None, qrels={"path": "qrels.csv"})
    (folder / "qrels.csv").write_text(f'"{text}' if quoted else text, encoding="utf-8")
    study = tp.load_study(folder)
    assert study.qrels.grade.tolist() == [2, 1, 0, 3, 2, 1]
    assert "qrels.csv: comma-separated with a header, UTF-8, 6 rows" in study.notes


def test_judgements_of_several_files_are_read_together(tmp_path: Path) -> None:
    folder = write_study(tmp_path, judgements=None, qrels={"path": ["qrels/dev.tsv", "qrels/test.tsv"]})
    (folder / "qrels").mkdir()
    lines = JUDGEMENTS.splitlines(keepends=True)
    (folder / "qrels" / "dev.tsv").write_text("".join(lines[:4]), encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text("".join([lines[0], *lines[3:]]), encoding="utf-8")
    study = tp.load_study(folder)
    assert (len(study.qrels), study.qrels.repeats) == (6, 1)
    assert any("qrels/dev.tsv: " in note and "qrels/test.tsv: " in note for note in study.notes)
    (folder / "qrels" / "test.tsv").write_text("q1\td1\t3\nq2\td2\t0\n", encoding="utf-8")
    message = refusal(folder)
    assert "(q1, d1): 2 and 3, (q2, d2): 0 and 1" in message
    assert "qrels/dev.tsv, qrels/test.tsv" in message


@pytest.mark.parametrize(
    ("path", "said"), [([], "not empty"), (["a", "a"], "one file twice"), (["a", 5], "path in quotes")]
)
def test_a_list_of_judgements_is_strict(tmp_path: Path, path: list[object], said: str) -> None:
    assert said in refusal(write_study(tmp_path, qrels={"path": path}))


def test_every_file_of_judgements_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = write_study(tmp_path, judgements=None, qrels={"path": ["qrels/dev.tsv", "qrels/test.tsv", "qrels"]})
    (folder / "qrels").mkdir()
    (folder / "qrels" / "train.tsv").write_text(JUDGEMENTS, encoding="utf-8")
    message = refusal(folder)
    for said in (
        "not there: qrels/dev.tsv",
        "not there: qrels/test.tsv",
        "it is a folder: name a file in it (train.tsv)",
    ):
        assert said in message


def test_another_scale_is_read_through_the_map_that_the_message_writes(tmp_path: Path) -> None:
    judged = JUDGEMENTS.replace("\t3\n", "\t4\n")
    message = refusal(write_study(tmp_path, judgements=judged))
    assert "outside 0..3 (1)" in message
    assert 'grades = { "0" = 0, "1" = 1, "2" = 2, "4" = 3 }' in message
    mapped = {"grades": {"0": 0, "1": 1, "2": 2, "4": 3}}
    study = tp.load_study(write_study(tmp_path, judgements=judged, qrels=mapped))
    assert study.qrels.grade.tolist() == [2, 1, 0, 3, 2, 1]
    words = judged.replace("\t4\n", "\tgood\n")
    message = refusal(write_study(tmp_path, judgements=words, qrels=mapped))
    assert "that the map [qrels] grades lacks (1)" in message
    assert '"good" = 1' in message


# init


def begin(folder: Path, source: Path, **how: object) -> tuple[dict[str, object], str]:
    """What study.toml says and what init printed."""
    asked = {"public": True, "acl": None, **how}
    report = init_study(folder, source=source, suggestions=INSTALLED, **asked)  # type: ignore[arg-type]
    return tomllib.loads((folder / "study.toml").read_text(encoding="utf-8")), "\n".join(report.notes)


@pytest.mark.parametrize("form", FORMS)
def test_init_finds_every_form_and_references_it_where_it_lies(tmp_path: Path, form: str) -> None:
    source = write_form(tmp_path / "data", form)
    (source / "study.toml").unlink()
    said, _ = begin(tmp_path / "s", source, public=False, acl="groups")
    assert said["corpus"]["path"] == f"{source.as_posix()}/corpus.{form}"
    assert said["queries"]["path"] == f"{source.as_posix()}/queries.{form}"
    assert (said["queries"]["rare"], said["queries"]["no_answer"]) == ("has_rare_name", "no_answer")
    assert tp.load_study(tmp_path / "s").queries.rare.sum() == 6


def test_init_names_the_splits_that_it_does_not_read(tmp_path: Path) -> None:
    source = write_study(tmp_path / "data", judgements=None)
    (source / "study.toml").unlink()
    (source / "qrels").mkdir()
    for name in ("dev", "test", "train"):
        (source / "qrels" / f"{name}.tsv").write_text(JUDGEMENTS, encoding="utf-8")
    said, notes = begin(tmp_path / "a", source)
    assert said["qrels"]["path"].endswith("qrels/test.tsv")
    assert "Judgements of other splits: qrels/dev.tsv, qrels/train.tsv" in notes
    said, _ = begin(tmp_path / "b", source, split="dev")
    assert said["qrels"]["path"].endswith("qrels/dev.tsv")
    with pytest.raises(tp.InputError, match=r"the folder lacks qrels/tset\.tsv"):
        begin(tmp_path / "c", source, split="tset")


def test_a_folder_without_qrels_is_one_message(tmp_path: Path) -> None:
    source = write_study(tmp_path / "data", judgements=None)
    (source / "study.toml").unlink()
    (source / "qrels").mkdir()
    (source / "qrels" / "dev.tsv").write_text(JUDGEMENTS, encoding="utf-8")
    with pytest.raises(tp.InputError) as refused:
        begin(tmp_path / "s", source)
    (problem,) = refused.value.problems
    assert problem.what.startswith("the folder lacks qrels.tsv or qrels/test.tsv (judgements of other splits")
    assert "qrels/dev.tsv; name one with --split" in problem.what


@pytest.mark.parametrize("form", FORMS)
def test_init_declares_parents_where_the_judgements_name_them(tmp_path: Path, form: str) -> None:
    passages = [{"_id": f"{p}#{n}", "text": f"part {n}", "region": "N", "parent": p} for p in "ab" for n in range(3)]
    for name, judged, expected in (("parents", "a", "parent"), ("passages", "a#1", None)):
        source = tmp_path / name
        source.mkdir()
        write_rows(source / f"corpus.{form}", passages)
        write_rows(source / f"queries.{form}", [{"_id": "q", "text": "which part", "region": "N"}])
        (source / "qrels.tsv").write_text(f"q\t{judged}\t1\n", encoding="utf-8")
        said, notes = begin(tmp_path / f"{name}-s", source)
        assert said["corpus"].get("parent") == expected
        assert ("hits collapse to their parent" in notes) == (expected is not None)


def test_a_second_corpus_is_said(tmp_path: Path) -> None:
    source = write_study(tmp_path / "data")
    (source / "study.toml").unlink()
    write_rows(source / "corpus.csv", full(DOCUMENTS))
    _, notes = begin(tmp_path / "s", source)
    assert "corpus.csv in the folder: not read, since corpus.jsonl is" in notes


def test_long_values_are_read_whole(tmp_path: Path) -> None:
    folder = studied(tmp_path, "csv")
    rows = full(DOCUMENTS)
    rows[0]["text"] = "silt " * 60_000
    write_rows(folder / "corpus.csv", rows)
    assert np.max([len(text) for text in tp.load_study(folder).corpus.texts]) > 300_000
