"""Bad files of a study through the command line: exit 2, one message that names every offender, no traceback, no file changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from command import Command, held
from refusals import CONTRACT, MINE, bench_refuses, refused, study
from studies import DOCUMENTS, JUDGEMENTS, PUBLIC, QUERIES, rows_with, rows_without

Change = Mapping[str, object]


def test_the_study_that_the_cases_break_is_sound(tmp_path: Path, command: Command) -> None:
    folder = study(tmp_path)
    answer = command("bench", folder)
    assert answer.code == 0, answer.err  # one candidate alone: measured, and nothing to decide
    assert (folder / "results").is_dir()


def many(count: int, **row: object) -> list[dict[str, object]]:
    return [{**DOCUMENTS[0], "_id": f"x{i:02d}", **row} for i in range(count)]


CASES: dict[str, tuple[Change, tuple[str, ...]]] = {
    # ids
    "repeated document ids": (
        {"documents": [*DOCUMENTS, DOCUMENTS[1], DOCUMENTS[3], DOCUMENTS[3]]},
        ("2 of 9 documents", "ids are repeated", "d2 (lines 2, 7)", "d4 (lines 4, 8, 9)", "corpus.jsonl"),
    ),
    "repeated query ids": (
        {"questions": [*QUERIES, QUERIES[0], QUERIES[2]]},
        ("2 of 6 queries", "q1 (lines 1, 5)", "q3 (lines 3, 6)", "queries.jsonl"),
    ),
    "ids that are null, a float, true": (
        {"documents": [*DOCUMENTS, {"text": "a"}, {"_id": 1.5, "text": "b"}, {"_id": True, "text": "c"}]},
        ("3 of 9 documents", "neither text nor a whole number", "lines 7, 8, 9"),
    ),
    "ids that are padded, empty, hold a control character": (
        {"documents": rows_with(DOCUMENTS, d1={"_id": " d1"}, d2={"_id": ""}, d3={"_id": "d\t3"})},
        ("' d1'", "''", "'d\\t3'", "control character"),
    ),
    "ids in two Unicode forms": (
        {"documents": rows_with(DOCUMENTS, d5={"_id": "\u00e9"}, d6={"_id": "e\u0301"})},
        ("1 of 6 documents", "two Unicode forms"),
    ),
    # texts
    "empty texts of documents": (
        {"documents": rows_with(DOCUMENTS, d2={"text": " ", "title": ""}, d5={"text": None, "title": None})},
        ("2 of 6 documents have an empty text", "d2, d5"),
    ),
    "empty texts of queries": (
        {"questions": rows_with(QUERIES, q1={"text": "\n"}, q4={"text": ""})},
        ("2 of 4 queries have an empty text", "q1, q4"),
    ),
    "texts that are no texts": (
        {"documents": rows_with(DOCUMENTS, d2={"text": ["a"]}, d5={"text": 1.5})},
        ("2 of 6 documents", "'text'", "d2, d5"),
    ),
    # judgements
    "no judgements": ({"judgements": ""}, ("qrels.tsv holds no judgement",)),
    "a header alone": ({"judgements": "query-id\tcorpus-id\tscore\n"}, ("qrels.tsv holds no judgement",)),
    "grades that are no grades": (
        {"judgements": "q1\td1\tNaN\nq2\td2\t1\nq3\td5\t1.5\nq3\td3\t\nq4\td4\t4\nq4\td3\t-1\n"},
        ("no whole number (3)", "1 ('NaN')", "3 ('1.5')", "4 ('')", "outside 0..3 (2)", "5 ('4')", "6 ('-1')"),
    ),
    "conflicting grades": (
        {"judgements": f"{JUDGEMENTS}q1\td1\t3\nq4\td4\t0\n"},
        ("q1", "d1", "q4", "d4", "qrels.tsv"),
    ),
    "lines of another shape": (
        {"judgements": "q1\td1\t2\nq2 d2 1\n\nq3\td5\n\td1\t1\n"},
        ("2, 4", "are blank (1)", "lines 3", "empty id", "lines 5"),
    ),
    "columns in another order": (
        {"judgements": "corpus-id\tquery-id\tscore\nd1\tq1\t2\n"},
        ("query-id, corpus-id, score",),
    ),
    "judgements of other queries": (
        {"judgements": "a1\td1\t2\na2\td2\t1\n"},
        ("other queries", "0 of 2", "'a1'", "'a2'", "'q1'"),
    ),
    "judgements of other documents": (
        {"judgements": "q1\tx1\t2\nq2\tx2\t1\n"},
        ("other documents", "0 of 2", "'x1'", "'x2'", "'d1'"),
    ),
    "judged ids in another spelling": (
        {"judgements": "q1 \td1\t2\nq2\td2\t1\n q3\td5\t1\n"},
        ("'q1 '", "' q3'", "2 judged query ids"),
    ),
    "gold that the principal may not read": (
        {"judgements": f"{JUDGEMENTS}q1\td4\t1\nq2\td5\t2\nq3\td4\t0\n"},
        ("2 relevant documents may not be read", "q1 (d4)", "q2 (d5)"),
    ),
    "gold for a query without an answer": (
        {"questions": rows_with(QUERIES, q2={"none": True}, q3={"none": True}), "queries": {"no_answer": "none"}},
        ("2 queries are flagged no_answer", "q2, q3"),
    ),
    # who may read
    "acl null or missing": (
        {"documents": rows_without(rows_with(DOCUMENTS, d2={"groups": None}), "groups", "d4")},
        ("2 of 6 documents have no acl", "d2, d4"),
    ),
    "acl of a wrong type": (
        {"documents": rows_with(DOCUMENTS, d2={"groups": 7}, d4={"groups": ["planning", ""]}, d5={"groups": {}})},
        ("3 of 6 documents", "'groups'", "d2, d4, d5"),
    ),
    "a misspelt acl column": (
        {"corpus": {"acl": "gruops"}},
        ("no column 'gruops'", 'did you mean "groups"?', "[corpus] acl"),
    ),
    "a misspelt acl key": (
        {"corpus": {"acl": None, "alc": "groups"}},
        ("unknown key 'alc'", 'did you mean "acl"?', "no acl and not public"),
    ),
    "no acl and not public": (
        {"corpus": {"acl": None}, "queries": {"groups": None}},
        ("no acl and not public", "public = true"),
    ),
    "public beside an acl": ({"access": {"public": True}}, ("contradict each other",)),
    "nobody asks": ({"queries": {"groups": None}}, ("nobody has said who asks",)),
    "queries without groups": (
        {"questions": rows_with(QUERIES, q1={"groups": None}, q3={"groups": 3})},
        ("1 of 4 queries have no groups", "q1", "1 of 4 queries have something in 'groups'", "q3"),
    ),
    # regions
    "unknown regions of queries": (
        {"questions": rows_with(QUERIES, q1={"region": "Nort"}, q3={"region": ["South", "Sooth"]})},
        ("2 of 4 queries", "'Nort': did you mean \"North\"?", "'Sooth': did you mean \"South\"?", "q1, q3"),
    ),
    "empty regions of queries": (
        {"questions": rows_with(QUERIES, q1={"region": []}, q2={"region": ""}, q3={"region": [""]})},
        ("empty list of regions", "q1", "q2, q3"),
    ),
    "documents without region": (
        {"documents": rows_with(DOCUMENTS, d1={"region": None}, d2={"region": []}, d4={"region": ""})},
        ("3 of 6 documents have no region", "d1, d2, d4", 'unplaced = "out"'),
    ),
    "regions in a circle": (
        {
            "places": "region,within\nNorth,South\nSouth,North\n",
            "regions": {"path": "regions.csv", "parent": "within"},
        },
        ("2 regions lie in a circle", "North", "South"),
    ),
    # the rule
    "unknown tables and keys": (
        {"study": {"kk": 3, "seeds": 1}, "qrel": {"path": "x"}, "decision": {"gpa": 0.1}},
        ("'kk'", "'seeds'", 'did you mean "seed"?', "'qrel'", 'did you mean "qrels"?', "'gpa'", 'did you mean "gap"?'),
    ),
    "measures that there are not": (
        {"study": {"measures": ["recal@3", "nDCG@0", "nDCG"]}, "decision": {"measure": "ndgc@3"}},
        ("recal", "nDCG@0", "ndgc"),
    ),
    "a gap, a confidence, a slice and a preference that are none": (
        {"decision": {"gap": 1.5, "confidence": 95, "slice": "region", "prefer": ["cost"]}},
        ("gap", "1.5", "confidence", "95", "slice", '"region"', "'cost'"),
    ),
    "the filtered slice is empty": (
        {"questions": rows_with(QUERIES, **{f"q{i}": {"region": None} for i in range(1, 5)})},
        ("slice 'filtered'", "no query has a region"),
    ),
    "the rare slice is empty": (
        {"questions": rows_with(QUERIES, q1={"rare": False}), "decision": {"slice": "rare"}},
        ("slice 'rare'", "no query is flagged rare"),
    ),
    "no query of the slice is in the test split": (
        {"questions": rows_with(QUERIES, q1={"part": "dev"}), "queries": {"split": "part"}},
        ("test split",),
    ),
    "no query of the slice has gold": (
        {"judgements": "q1\td1\t0\nq4\td4\t1\n"},
        ("slice 'filtered'", "relevant document"),
    ),
    "flags, splits and provenances": (
        {
            "questions": rows_with(QUERIES, q1={"rare": "yes", "part": "train"}, q2={"rare": 1, "by": "me"}),
            "queries": {"split": "part", "provenance": "by"},
        },
        ("'rare'", "q1, q2", "'train'", "'me'"),
    ),
    # candidates
    "no candidate": ({"candidates": []}, ("no candidate", "[[candidate]]")),
    "candidates of one name, of a baseline's, and with a path": (
        {"candidates": [MINE, MINE, {**MINE, "id": "bm25"}, {**MINE, "id": "../up"}]},
        ("2 candidates are called 'mine'", "'bm25'", "'../up'"),
    ),
    "an embedder that there is not, and options that it lacks": (
        {
            "candidates": [
                {"id": "a", "embedder": "wordlama"},
                {"id": "b", "embedder": "wordllama", "options": {"dims": 1}},
                {"id": "c", "embedder": "callable", "contract": CONTRACT},
            ]
        },
        ("'wordlama'", 'did you mean "wordllama"?', "'dims'", "'b'", "module:function", "'c'"),
    ),
    "a contract that lacks fields": (
        {"candidates": [{**MINE, "contract": {"dimension": 4, "metric": "cosine"}}]},
        ("lacks", "document_role", "dtype", "model", "normalized", "provider", "query_role", "revision"),
    ),
    "cut-offs that no ranking reaches": (
        {"study": {"k": 1_000_000_000, "measures": ["recall@99999999999999999999", "nDCG@20000"]}},
        ("k must be at most 10000", "'recall@99999999999999999999' looks deeper", "'nDCG@20000' looks deeper"),
    ),
    "a measure that cannot decide": (
        {"decision": {"measure": "Judged@5"}},
        ("Judged@5 does not say how good a ranking is", "[decision] measure", "decide on nDCG@k or recall@k"),
    ),
    "a candidate's id that no folder's name can hold": (
        {"candidates": [{**MINE, "id": "a" * 300}, {**MINE, "id": "b" * 100}]},
        ("has 300 characters; use at most 100",),
    ),
    "a device that this version does not know": ({"run": {"device": "cuda"}}, ("device", '"cuda"')),
    # files
    "missing files": (
        {"documents": None, "questions": None, "judgements": None, "regions": {"path": "regions.csv"}},
        ("corpus.jsonl", "queries.jsonl", "qrels.tsv", "regions.csv"),
    ),
    "empty files": ({"documents": "", "questions": "\n\n"}, ("corpus.jsonl holds no row", "queries.jsonl holds no row")),
    "files of another encoding": (
        {
            "documents": b'{"_id": "d1", "text": "K\xf6ln"}\n{"_id": "d2", "text": "ok"}\n{"_id": "\xff", "text": "x"}\n',
            "questions": '{"_id": "q1", "text": "x"}'.encode("utf-16"),
            "judgements": b"q1\td1\t1\nq\xe9\td1\t1\n",
        },
        ("1 (byte offset 24)", "3 (byte offset 67)", "queries.jsonl", "byte offset 0", "qrels.tsv", "offset 9"),
    ),
    "JSON that is none": (
        {
            "documents": '{"_id": "d1", "_id": "d2", "text": "x"}\n{"_id": "d3", "text": "x", "n": NaN}\n{\n[1]\n'
            '\n{"_id": "d4", "text": "\\ud800"}\n{"_id": "d5", "a": {"b": 1, "b": 2}, "text": "x"}\n'
        },
        (
            *("one key twice", "lines 1, 7", "NaN or Infinity", "lines 2", "not JSON", "lines 3"),
            *("not a JSON object", "lines 4", "blank", "lines 5", "surrogate", "lines 6"),
        ),
    ),
    "columns that the files lack": (
        {"corpus": {"id": "id", "region": "reigon"}, "queries": {"text": "question", "cluster": "clusters"}},
        ("'id'", "'reigon'", 'did you mean "region"?', "'question'", "'clusters'", 'did you mean "cluster"?'),
    ),
    "a corpus that is a spreadsheet": ({"corpus": {"path": "corpus.csv"}}, ("corpus.csv",)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_input(case: str, tmp_path: Path, command: Command) -> None:
    change, named = CASES[case]
    folder = study(tmp_path, **change)
    bench_refuses(command, folder, *named)
    if case != "no candidate":  # an error of bench alone
        assert command("check", folder).err == command("bench", folder).err


@pytest.mark.parametrize("k", ["0", "-1", "1.5", "true", '"ten"', "[10]", "nan"])
def test_k(k: str, tmp_path: Path, command: Command) -> None:
    folder = study(tmp_path)
    text = (folder / "study.toml").read_text(encoding="utf-8")
    (folder / "study.toml").write_text(text.replace("k = 3\n", f"k = {k}\n"), encoding="utf-8")
    bench_refuses(command, folder, "k must be", "study.toml, line 3, [study] k")


def test_problems_of_many_files_stand_in_one_message_and_long_lists_are_counted(
    tmp_path: Path, command: Command
) -> None:
    folder = study(
        tmp_path,
        documents=[*DOCUMENTS, *many(14, groups=None)],
        questions=rows_with(QUERIES, q1={"text": ""}),
        judgements=f"{JUDGEMENTS}a\tb\tc\n",
        decision={"gap": 0.1},
    )
    named = ("14 of 20 documents have no acl", "x00, x01", "x09 and 4 more", "1 of 4 queries have an empty text", "'c'")
    bench_refuses(command, folder, *named)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", ("[corpus] names no file", "[queries] names no file", "[qrels] names no file", "no acl and not public")),
        (b"[study\nk = 1\n", ("not TOML", "line 1")),
        (b"[study]\nk = 1\nk = 2\n", ("not TOML", "line 3")),
        (b'[study]\nname = "caf\xe9"\n', ("not UTF-8", "offset 19", "line 2")),
        (b"study = 3\ncandidate = 4\n", ("study must be a table", "[[candidate]]")),
    ],
)
def test_a_study_file_that_is_none(content: bytes, named: tuple[str, ...], tmp_path: Path, command: Command) -> None:
    folder = study(tmp_path)
    (folder / "study.toml").write_bytes(content)
    bench_refuses(command, folder, *named)


def test_no_study_names_the_command_that_makes_one_there(tmp_path: Path, command: Command) -> None:
    refused(command("bench", tmp_path / "nowhere"), "no study", f"tiepoint init {tmp_path / 'nowhere'}")
    refused(command("bench", tmp_path), "no study", f"tiepoint init {tmp_path}")
    assert held(tmp_path) == {}


def test_texts_never_stand_in_a_message(tmp_path: Path, command: Command) -> None:
    rows = [{"_id": "d1", "text": "SECRET one"}, {"_id": "d1", "text": "SECRET two", "groups": 3}]
    folder = study(tmp_path, documents=rows, questions=rows_with(QUERIES, q1={"text": ["SECRET"]}))
    answer = command("bench", folder)
    refused(answer)
    assert "SECRET" not in answer.err


def test_json_asked_for_leaves_stdout_empty_when_it_refuses(tmp_path: Path, command: Command) -> None:
    folder = study(tmp_path, **PUBLIC, documents=[*DOCUMENTS, DOCUMENTS[0]])
    refused(command("bench", folder, "--json"), "d1 (lines 1, 7)")
    assert json.dumps(command("bench", folder, "--json").out) == '""'
