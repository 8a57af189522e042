"""TREC topics, and judgements as CSV, of several files and on another scale: read as they lie, or refused with every bad line."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiepoint as tp
from studies import JUDGEMENTS, PUBLIC, refusal, write_study
from tiepoint.formats.trec_topics import read_topics

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
