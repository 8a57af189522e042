"""Loading a study: ids, texts, groups, regions and flags are read strictly, every offender is named, and no text is told."""

from __future__ import annotations

import unicodedata

import pytest

from studies import DOCUMENTS, JUDGEMENTS, PUBLIC, QUERIES, refusal, rows_with, rows_without, write_study
from tiepoint.workflows.intake.load import load_study

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


def test_V114_notes_count_only_what_the_readers_may_see(tmp_path):
    rows = rows_with(DOCUMENTS, d1={"title": None}, d5={"title": None})
    nobody = load_study(write_study(tmp_path, documents=rows))
    assert "corpus.jsonl: JSON lines, UTF-8" in nobody.notes
    assert not any("6" in note for note in nobody.notes if "documents" in note)
    some = load_study(write_study(tmp_path, documents=rows, report={"readers": ["planning"]}))
    assert "1 of 3 documents that the readers may see have no 'title': empty in the embedding text" in some.notes
    odd = load_study(write_study(tmp_path, report={"readers": ["planing"]}))
    assert any("'planing'" in note for note in odd.notes)
