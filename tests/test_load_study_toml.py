"""Loading a study: what study.toml states, what it leaves out, and every wrong key by its line with the name that was meant."""

from __future__ import annotations

import pytest

from studies import QUERIES, refusal, rows_with, study_text, write_study
from tiepoint.workflows.intake.load import load_study


def test_study_toml_itself_may_be_named(tmp_path):
    folder = write_study(tmp_path)
    assert load_study(folder / "study.toml").folder == folder


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
