"""Loading a study: what it makes of sound files, and every bad input with all its offenders in one message."""

from __future__ import annotations

import json
import unicodedata

import pytest

from studies import (
    DOCUMENTS,
    JUDGEMENTS,
    PUBLIC,
    QUERIES,
    refusal,
    rows_with,
    rows_without,
    study_text,
    write_study,
)
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


def test_study_toml_itself_may_be_named(tmp_path):
    folder = write_study(tmp_path)
    assert load_study(folder / "study.toml").folder == folder


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


# study.toml


@pytest.mark.parametrize("k", ["0", "-1", "1.5", "true", '"10"'])
def test_k_must_be_a_whole_number_from_1(tmp_path, k):
    write_study(tmp_path)
    text = study_text().replace("k = 3", f"k = {k}")
    (tmp_path / "study.toml").write_text(text)
    message = refusal(tmp_path)
    assert "error: k must be" in message
    assert "study.toml, line 3, [study] k" in message


def test_every_wrong_key_and_missing_file_is_reported_at_once(tmp_path):
    folder = write_study(
        tmp_path,
        judgements=None,
        study={"k": 0, "sede": 1},
        corpus={"regoin": "region", "source_revision": "revison"},
        queries={"path": "quries.jsonl"},
        desicion={"gap": 0.1},
    )
    message = refusal(folder)
    for said in (
        "k must be at least 1; is 0",
        "unknown key 'sede'\n  where: study.toml, line 6, [study] sede\n  fix:   did you mean \"seed\"?",
        'did you mean "region"?',
        'did you mean "decision"?',
        "a file that is not there: quries.jsonl",
        'did you mean "queries.jsonl"?',
        "a file that is not there: qrels.tsv",
        "no column 'revison'",
    ):
        assert said in message


def test_missing_columns_are_named_with_the_columns_there_are(tmp_path):
    message = refusal(
        write_study(tmp_path, corpus={"acl": "group", "text": "{titel} {text}"}, queries={"cluster": "clusters"})
    )
    assert "corpus.jsonl has no column 'group'" in message
    assert "corpus.jsonl has no column 'titel'" in message
    assert "queries.jsonl has no column 'clusters'" in message
    assert 'did you mean "groups"? (its columns: _id, title, text, groups, region)' in message


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"access": {"public": True}}, "public = true stands beside an acl"),
        ({"corpus": {"acl": None}}, "no acl and not public"),
        ({"queries": {"groups": None}}, "nobody has said who asks"),
        ({"corpus": {"region": None}}, "queries have a region, but documents have none"),
        ({"decision": {"measure": "pooled_recall@3"}}, "pooled_recall"),
        ({"decision": {"confidence": 0.4}}, "confidence must lie between 0.5 and 1"),
        ({"decision": {"confidence": True}}, "confidence must lie between 0.5 and 1"),
        ({"decision": {"gap": 1.0}}, "gap must be less than 1"),
        ({"decision": {"gap": -0.1}}, "gap must be at least 0"),
        ({"decision": {"prefer": ["dimensions"]}}, 'did you mean "dimension"?'),
        ({"decision": {"slice": "unfiltered_same"}}, "slice must be"),
        ({"decision": {"measure": "nDGC@3"}}, 'did you mean "nDCG"?'),
        ({"study": {"measures": ["recal@3"]}}, 'did you mean "recall"?'),
        ({"study": {"measures": []}}, "measures must not be empty"),
        ({"qrels": {"path": None}}, "[qrels] names no file"),
        ({"qrels": {"grades": {"4": 4}}}, "must be at most 3"),
        ({"corpus": {"text": "{text.upper}"}}, "more than plain column names"),
        ({"queries": {"provenance": "trafic"}}, 'did you mean "traffic"?'),
    ],
)
def test_rules_between_keys(tmp_path, tables, said):
    assert said in refusal(write_study(tmp_path, **tables))


@pytest.mark.parametrize("name", ["BM25", "random", "a b", "-x", ""])
def test_candidate_ids(tmp_path, name):
    message = refusal(write_study(tmp_path, candidates=[{"id": name, "embedder": "wordllama"}]))
    assert "[candidate 1] id" in message


def test_candidate_tables_are_strict_and_ids_unique(tmp_path):
    twins = [{"id": "m", "embedder": "onnx"}, {"id": "m", "embedder": "onnx"}]
    assert "2 candidates are called 'm'" in refusal(write_study(tmp_path / "a", candidates=twins))
    wrong = [{"id": "m", "embedder": "onnx", "contract": {"dimension": "3", "metrik": "dot"}, "options": {"a": [1]}}]
    message = refusal(write_study(tmp_path / "b", candidates=wrong))
    for said in ("dimension must be a whole number", 'did you mean "metric"?', "a must be a text, a number"):
        assert said in message


def test_candidates_carry_what_the_study_states(tmp_path):
    stated = {
        "id": "m",
        "embedder": "vectors",
        "contract": {"dimension": 3, "metric": "dot"},
        "options": {"documents": "d.npy", "batch": 4},
        "price_per_million_tokens": 0.5,
        "cache": True,
    }
    (candidate,) = load_study(write_study(tmp_path, candidates=[stated])).candidates
    assert candidate.claims == {"dimension": 3, "metric": "dot"}
    assert candidate.options == {"documents": "d.npy", "batch": 4}
    assert (candidate.price_per_million_tokens, candidate.cache) == (0.5, True)


def test_a_broken_study_toml_names_its_line(tmp_path):
    write_study(tmp_path)
    (tmp_path / "study.toml").write_text("[study]\nname = \n")
    assert "line 2" in refusal(tmp_path)


def test_study_toml_that_is_not_utf8_names_the_byte(tmp_path):
    write_study(tmp_path)
    (tmp_path / "study.toml").write_bytes(b'[study]\nname = "caf\xe9"\n')
    assert "offset 19" in refusal(tmp_path)


def test_defaults_of_a_study_that_says_little(tmp_path):
    study = load_study(
        write_study(tmp_path / "little", study={"name": None, "k": None, "measures": None}, decision={"measure": "R@7"})
    )
    assert (study.name, study.k) == ("little", 10)
    assert study.measures == ("recall@10", "RR@10", "nDCG@10", "recall@7")


def test_the_deciding_measure_is_added_and_said(tmp_path):
    study = load_study(write_study(tmp_path, study={"measures": ["R@3", "recall@3"]}))
    assert study.measures == ("recall@3", "nDCG@3")
    assert "nDCG@3 decides and was added to the measures" in study.notes
    assert any("named twice" in note for note in study.notes)


# ids and texts


def test_V017_repeated_ids_name_both_lines(tmp_path):
    message = refusal(write_study(tmp_path, documents=[*DOCUMENTS, DOCUMENTS[0], DOCUMENTS[3]]))
    assert "d1 (lines 1, 7), d4 (lines 4, 8)" in message
    assert "q2 (lines 2, 5)" in refusal(write_study(tmp_path, questions=[*QUERIES, QUERIES[1]]))


def test_ids_that_are_no_text_are_refused_with_their_lines(tmp_path):
    rows = rows_with(DOCUMENTS, d1={"_id": 1.0}, d2={"_id": None}, d3={"_id": True})
    message = refusal(write_study(tmp_path, documents=rows))
    assert "3 of 6 documents have an id that is neither text nor a whole number" in message
    assert "lines 1, 2, 3" in message


def test_an_integer_id_is_its_decimal_text_and_that_is_said(tmp_path):
    study = load_study(
        write_study(tmp_path, questions=rows_with(QUERIES, q1={"_id": 12}), judgements=JUDGEMENTS.replace("q1", "12"))
    )
    assert study.queries.ids[0] == "12"
    assert "1 queries have an integer id, read as its decimal text" in study.notes


def test_V051_empty_texts_are_refused(tmp_path):
    rows = rows_with(
        DOCUMENTS, d1={"title": "", "text": ""}, d2={"title": " ", "text": "\n\n"}, d3={"title": None, "text": None}
    )
    message = refusal(write_study(tmp_path, documents=rows, questions=rows_with(QUERIES, q4={"text": "\t"})))
    assert "3 of 6 documents have an empty text\n  where: corpus.jsonl, ids d1, d2, d3" in message
    assert "1 of 4 queries have an empty text\n  where: queries.jsonl, ids q4" in message


def test_a_null_column_of_the_template_is_empty_and_counted(tmp_path):
    study = load_study(write_study(tmp_path, documents=rows_with(DOCUMENTS, d1={"title": None}), **PUBLIC))
    assert study.corpus.texts[0] == " Silt in the harbour"
    assert "1 of 6 documents have no 'title': empty in the embedding text" in study.notes


def test_no_message_and_no_note_holds_a_text(tmp_path):
    rows = rows_with(DOCUMENTS, d1={"text": ["SECRET"], "groups": "x"}, d2={"region": 5, "groups": [3]})
    assert "SECRET" not in refusal(write_study(tmp_path, documents=rows))


# access


def test_V112_acl_missing_null_and_of_a_wrong_type_is_refused_and_counted(tmp_path):
    rows = rows_with(
        rows_without(DOCUMENTS, "groups", "d1"),
        d2={"groups": None},
        d3={"groups": 5},
        d4={"groups": ["staff", ""]},
        d5={"groups": ""},
    )
    message = refusal(write_study(tmp_path, documents=rows))
    assert "2 of 6 documents have no acl\n  where: corpus.jsonl, ids d1, d2" in message
    assert "3 of 6 documents have something in 'groups'" in message
    assert "ids d3, d4, d5" in message


def test_groups_of_queries_under_an_acl(tmp_path):
    rows = rows_with(rows_without(QUERIES, "groups", "q1"), q2={"groups": None}, q3={"groups": [1]})
    message = refusal(write_study(tmp_path, questions=rows))
    assert "2 of 4 queries have no groups\n  where: queries.jsonl, ids q1, q2" in message
    assert "ids q3" in message


def test_under_public_groups_are_not_read(tmp_path):
    study = load_study(write_study(tmp_path, questions=rows_with(QUERIES, q1={"groups": 5}), **PUBLIC))
    assert study.corpus.public
    assert study.corpus.readable([]).all()


def test_a_gold_document_that_the_principal_may_not_read(tmp_path):
    message = refusal(write_study(tmp_path, judgements=JUDGEMENTS + "q1\td4\t1\nq2\td6\t2\nq2\td3\t0\n"))
    assert "2 relevant documents may not be read" in message
    assert "q1 (d4), q2 (d6)" in message


# regions


def test_unplaced_documents_are_an_error_or_counted(tmp_path):
    rows = rows_with(rows_without(DOCUMENTS, "region", "d1"), d2={"region": ""}, d3={"region": []}, d4={"region": None})
    message = refusal(write_study(tmp_path, documents=rows))
    assert "4 of 6 documents have no region\n  where: corpus.jsonl, ids d1, d2, d3, d4" in message
    out = {"corpus": {**PUBLIC["corpus"], "unplaced": "out"}}
    study = load_study(write_study(tmp_path, documents=rows_with(DOCUMENTS, d1={"region": None}), **{**PUBLIC, **out}))
    assert "1 of 6 documents have no region: outside every region filter" in study.notes


def test_V105_unknown_regions_of_queries_come_with_near_names(tmp_path):
    message = refusal(
        write_study(tmp_path, questions=rows_with(QUERIES, q1={"region": "north "}, q2={"region": ["Sout"]}))
    )
    assert "2 of 4 queries ask for a region that the study does not know: 'Sout', 'north '" in message
    assert "ids q1, q2" in message
    assert "'Sout': did you mean \"South\"?" in message


@pytest.mark.parametrize("empty", ["", [], [""]])
def test_an_empty_region_of_a_query_never_passes(tmp_path, empty):
    assert "ids q1" in refusal(write_study(tmp_path, questions=rows_with(QUERIES, q1={"region": empty})))


def test_aliases_and_parents(tmp_path):
    study = load_study(
        write_study(
            tmp_path,
            places='region,within,aliases\nNorth,Land,"[""N"", ""Upper""]"\nSouth,Land,S\n',
            regions={"path": "regions.csv", "parent": "within", "aliases": "aliases"},
            documents=rows_with(DOCUMENTS, d1={"region": "Upper"}),
            questions=rows_with(QUERIES, q1={"region": "N"}, q2={"region": "Land"}),
        )
    )
    assert study.queries.regions[:2] == (("North",), ("Land",))
    assert study.corpus.region_names() == ["North", "South"]
    assert study.regions.under(["Land"]) == {"Land", "North", "South"}
    assert any(note.startswith("regions.csv: comma-separated") for note in study.notes)
    assert "regions" in study.hashes


def test_aliases_between_separators(tmp_path):
    table = {"path": "regions.csv", "aliases": "aliases", "list_separator": ";"}
    study = load_study(write_study(tmp_path, places="region,aliases\nNorth,N; Upper\nSouth,\n", regions=table))
    assert study.regions.aliases == {"N": "North", "Upper": "North"}


def test_V103_names_of_regions_meet_in_either_unicode_form(tmp_path):
    composed, apart = unicodedata.normalize("NFC", "Åre"), unicodedata.normalize("NFD", "Åre")
    study = load_study(
        write_study(
            tmp_path,
            documents=rows_with(DOCUMENTS, d1={"region": apart}),
            questions=rows_with(QUERIES, q1={"region": composed}),
        )
    )
    assert study.queries.regions[0] == (composed,)
    assert study.corpus.within([composed]).tolist()[0]


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ("region,within,aliases\nA,B,\nB,A,\n", "circle of parents"),
        ("region,within,aliases\nA,,x\nB,,x\n", "'x' (A, B)"),
        ("region,within,aliases\nA,,B\nB,,\n", "names of other regions"),
        ("region,within,aliases\nA,,\nA,,\n", "A (lines 2, 3)"),
        ('region,within,aliases\nA,,"[1]"\n', "neither a text nor a list of texts"),
        ("region,within,aliases\nA,,\nB\n", "lines 3"),
        ("region,within\nA,\n", "has no column 'aliases'"),
        ('region,within,aliases\n"A,,\n', "lines 2"),
    ],
)
def test_regions_that_cannot_be_read(tmp_path, places, said):
    table = {"path": "regions.csv", "parent": "within", "aliases": "aliases"}
    assert said in refusal(write_study(tmp_path, places=places, regions=table))


# other columns of the queries


def test_flags_splits_and_provenances_are_strict(tmp_path):
    rows = rows_with(
        QUERIES,
        q1={"rare": "yes", "na": 1, "split": "tset", "prov": "traffic"},
        q2={"rare": 1, "split": "dev", "prov": "trafic"},
        q3={"split": None, "prov": None},
        q4={"subgroups": [1]},
    )
    message = refusal(
        write_study(tmp_path, questions=rows, queries={"split": "split", "no_answer": "na", "provenance": "prov"})
    )
    assert "2 of 4 queries have something in 'rare' that is neither true nor false" in message
    assert "ids q1, q2" in message
    assert "1 of 4 queries have something in 'na'" in message
    assert 'did you mean "test"?' in message
    assert 'did you mean "traffic"?' in message
    assert "have something in 'subgroups'" in message


def test_no_answer_with_gold_is_refused(tmp_path):
    rows = rows_with(QUERIES, q1={"na": True}, q3={"na": True}, q4={"na": False})
    message = refusal(write_study(tmp_path, questions=rows, queries={"no_answer": "na"}))
    assert "2 queries are flagged no_answer" in message
    assert "queries q1, q3" in message


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


# the decision


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"questions": rows_with(QUERIES, **{q: {"region": None} for q in ("q1", "q2", "q3")})},
            "no query has a region",
        ),
        (
            {"questions": rows_with(QUERIES, q1={"rare": False}), "decision": {"slice": "rare"}},
            "no query is flagged rare",
        ),
        ({"judgements": "q4\td4\t1\nq1\td1\t0\n"}, "has a relevant document"),
        (
            {"questions": rows_with(QUERIES, q1={"split": "dev"}), "queries": {"split": "split"}},
            "is in the test split",
        ),
    ],
)
def test_a_decision_on_an_empty_slice(tmp_path, changes, said):
    assert said in refusal(write_study(tmp_path, **changes))


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


# notes under an acl


def test_V114_notes_count_only_what_the_readers_may_see(tmp_path):
    rows = rows_with(DOCUMENTS, d1={"title": None}, d5={"title": None})
    nobody = load_study(write_study(tmp_path, documents=rows))
    assert "corpus.jsonl: JSON lines, UTF-8" in nobody.notes
    assert not any("6" in note for note in nobody.notes if "documents" in note)
    some = load_study(write_study(tmp_path, documents=rows, report={"readers": ["planning"]}))
    assert "1 of 3 documents that the readers may see have no 'title': empty in the embedding text" in some.notes
    odd = load_study(write_study(tmp_path, report={"readers": ["planing"]}))
    assert any("'planing'" in note for note in odd.notes)


def test_no_file_is_changed_by_a_refusal(tmp_path):
    folder = write_study(tmp_path, study={"k": 0})
    before = {path: path.read_bytes() for path in folder.iterdir()}
    refusal(folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
