"""Loading a study: sound files in any order, judgements that fit them, and the problems of all files in one message."""

from __future__ import annotations

import json

import pytest

from studies import DOCUMENTS, JUDGEMENTS, QUERIES, refusal, rows_with, write_study
from tiepoint.workflows.intake.load import load_study


def test_a_sound_study_loads(tmp_path):
    study = load_study(write_study(tmp_path / "s", candidates=[{"id": "m", "embedder": "wordllama"}]))
    assert (study.name, study.k, study.measures) == ("small", 3, ("recall@3", "RR@3", "nDCG@3"))
    assert study.corpus.ids == ["d1", "d2", "d3", "d4", "d5", "d6"]
    assert study.corpus.texts[0] == "Harbour Silt in the harbour"
    assert study.corpus.readable(["planning"]).tolist() == [True, True, False, True, False, False]
    assert study.queries.ids == ("q1", "q2", "q3", "q4")
    assert study.queries.regions == (("North",), ("North",), ("South",), ())
    assert study.queries.cluster == ("a", "q2", "7", "q4")
    assert study.queries.subgroups == ((), ("walls",), ("walls",), ())
    assert study.queries.rare.tolist() == [True, False, False, False]
    assert study.queries.provenance == ("unknown",) * 4
    assert study.qrels.grade.tolist() == [2, 1, 0, 3, 2, 1]
    assert study.regions.names == {"North", "South"}
    assert study.candidates[0].embedder == "wordllama"
    assert study.readers is None
    assert set(study.hashes) == {"study", "corpus", "queries", "qrels"}
    assert all(len(value) == 64 for value in study.hashes.values())


def test_no_study_is_said_with_the_command_that_makes_one(tmp_path):
    assert "tiepoint init" in refusal(tmp_path)


def test_a_shuffled_corpus_file_gives_the_same_columns(tmp_path):
    one = load_study(write_study(tmp_path / "a"))
    other = load_study(write_study(tmp_path / "b", documents=DOCUMENTS[::-1], questions=QUERIES[::-1]))
    assert one.corpus.table.equals(other.corpus.table)
    assert one.queries.ids == other.queries.ids


def test_problems_of_all_files_stand_in_one_message(tmp_path):
    folder = write_study(
        tmp_path,
        documents=rows_with(DOCUMENTS, d2={"groups": None}, d4={"text": "", "title": " "}),
        questions=rows_with(QUERIES, q1={"text": "  "}, q3={"region": "Nort"}),
        judgements="q1\td1\tNaN\nq1\td1\n",
    )
    message = refusal(folder)
    for said in ("ids d2", "ids d4", "ids q1", "ids q3", "lines 1 ('NaN')", "lines 2"):
        assert said in message


# judgements


@pytest.mark.parametrize("text", ["", "\n", "query-id\tcorpus-id\tscore\n"])
def test_empty_qrels(tmp_path, text):
    assert "qrels.tsv holds no judgement" in refusal(write_study(tmp_path, judgements=text))


def test_V007_conflicting_grades_are_all_named(tmp_path):
    message = refusal(write_study(tmp_path, judgements=JUDGEMENTS + "q1\td1\t0\nq2\td2\t3\n"))
    assert "(q1, d1): 0 and 2, (q2, d2): 1 and 3" in message


def test_V006_identical_judgements_count_once_and_are_said(tmp_path):
    study = load_study(write_study(tmp_path, judgements=JUDGEMENTS + "q1\td1\t2\n"))
    assert (len(study.qrels), study.qrels.repeats) == (6, 1)
    assert any("count once" in note for note in study.notes)


@pytest.mark.parametrize("spelling", ["012", "12.0", " 12"])
def test_V008_spellings_that_collide_are_shown_with_the_overlap(tmp_path, spelling):
    rows = rows_with(QUERIES, q1={"_id": "12"})
    message = refusal(write_study(tmp_path, questions=rows, judgements=JUDGEMENTS.replace("q1", spelling)))
    assert f"{spelling!r} is judged, '12' is known" in message
    assert "3 of 4 judged query ids stand in the queries" in message


def test_qrels_of_other_queries_and_documents(tmp_path):
    message = refusal(write_study(tmp_path, judgements="x1\td1\t1\nx2\td2\t1\n"))
    assert "belong to other queries: 0 of 2 judged query ids" in message
    assert "judged 'x1', 'x2'; known 'q1', 'q2', 'q3' and 1 more" in message
    assert "belong to other documents: 0 of 1" in refusal(write_study(tmp_path, judgements="q1\tx1\t1\n"))


def test_V015_stray_and_dangling_judgements_are_counted(tmp_path):
    study = load_study(write_study(tmp_path, judgements=JUDGEMENTS + "q9\td1\t1\nq1\td999\t1\n"))
    assert study.qrels.stray == ("q9",)
    assert study.qrels.document.tolist().count(-1) == 1
    assert "1 judged documents are not in the corpus: they can never be found" in study.notes
    assert any("q9" in note for note in study.notes)


# files


def test_not_utf8_names_the_byte_offset_of_every_file(tmp_path):
    good = json.dumps(QUERIES[0]).encode()
    message = refusal(write_study(tmp_path, questions=good + b'\n{"_id": "\xe9"}\n', judgements=b"q1\td\xff\t1\n"))
    assert f"byte offset {len(good) + 1 + 9}" in message
    assert "the byte at offset 4 cannot be read" in message


def test_an_empty_file_and_a_folder_in_place_of_a_file(tmp_path):
    assert "queries.jsonl holds no row" in refusal(write_study(tmp_path, questions=""))
    (tmp_path / "folder").mkdir()
    assert "not there: folder" in refusal(write_study(tmp_path, qrels={"path": "folder"}))


def test_a_form_that_nobody_says_is_refused_plainly(tmp_path):
    (tmp_path / "corpus.xlsx").write_text("a,b\n")
    assert 'say format = "jsonl" (or csv, tsv, parquet)' in refusal(
        write_study(tmp_path, corpus={"path": "corpus.xlsx"})
    )


def test_paths_may_be_absolute_or_lead_out_of_the_folder(tmp_path):
    write_study(tmp_path / "elsewhere")
    there = tmp_path / "elsewhere"
    study = load_study(
        write_study(
            tmp_path / "s",
            documents=None,
            questions=None,
            judgements=None,
            corpus={"path": str(there / "corpus.jsonl")},
            queries={"path": "../elsewhere/queries.jsonl"},
            qrels={"path": "../elsewhere/qrels.tsv"},
        )
    )
    assert len(study.corpus) == 6


def test_no_file_is_changed_by_a_refusal(tmp_path):
    folder = write_study(tmp_path, study={"k": 0})
    before = {path: path.read_bytes() for path in folder.iterdir()}
    refusal(folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
