"""JSON lines, delimited files, qrels and templates: every bad line by its number."""

from __future__ import annotations

import hashlib

import pytest

from tiepoint.errors import InputError
from tiepoint.formats.delimited import read_delimited
from tiepoint.formats.jsonl import read_jsonl
from tiepoint.formats.qrels import read_qrels
from tiepoint.formats.template import Template


def refused(read, *args, **kwargs):
    with pytest.raises(InputError) as error:
        read(*args, **kwargs)
    assert error.value.exit_code == 2
    return str(error.value)


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


# JSON lines


def test_jsonl_columns_nulls_and_absent_columns(write):
    path = write("a.jsonl", '{"a": 1, "b": null}\r\n{"b": "x", "c": 2}\n\n \n')
    rows = read_jsonl(path, columns=["a", "b", "z"])
    assert rows.columns == {"a": [1, None], "b": [None, "x"]}
    assert rows.seen == {"a": 1, "b": 2, "c": 1}
    assert rows.lines == [1, 2]
    assert rows.sentence == "a.jsonl: JSON lines, UTF-8, 2 rows"
    assert rows.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert set(read_jsonl(path).columns) == {"a", "b", "c"}


def test_jsonl_byte_order_mark_changes_nothing_but_the_form(write):
    plain, marked = write("a.jsonl", '{"a": "é"}\n'), write("b.jsonl", b"\xef\xbb\xbf" + '{"a": "é"}\n'.encode())
    assert read_jsonl(plain).columns == read_jsonl(marked).columns
    assert read_jsonl(marked).form == "b.jsonl: JSON lines, UTF-8 with BOM"


def test_jsonl_line_separators_inside_a_text_are_text(write):
    assert read_jsonl(write("a.jsonl", '{"a": "x\u2028y\x85"}\n')).columns == {"a": ["x\u2028y\x85"]}


def test_jsonl_every_kind_of_bad_line_in_one_message(write):
    lines = [
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 2}}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b"",
        b'{"a": ',
        b"[1]",
        b'"x"',
        b'{"a": "\\ud800"}',
        b'{"a": "\xff"}',
        b'{"a": "fine"}',
        b"[" * 100_000,
    ]
    message = refused(read_jsonl, write("a.jsonl", b"\n".join(lines)))
    offset = sum(len(line) + 1 for line in lines[:10]) + 7
    for said in (
        "has lines that have one key twice in one object (2)\n  where: a.jsonl, lines 1, 2",
        "has lines that hold NaN or Infinity, which are not JSON (3)\n  where: a.jsonl, lines 3, 4, 5",
        "has lines that are blank (1)\n  where: a.jsonl, lines 6",
        "has lines that are not JSON (2)\n  where: a.jsonl, lines 7, 13",
        "has lines that are not a JSON object (2)\n  where: a.jsonl, lines 8, 9",
        "has lines that hold half of a surrogate pair (1)\n  where: a.jsonl, lines 10",
        f"lines 11 (byte offset {offset})",
    ):
        assert said in message


def test_jsonl_names_the_first_ten_and_counts_the_rest(write):
    message = refused(read_jsonl, write("a.jsonl", "x\n" * 25))
    assert "(25)" in message
    assert "8, 9, 10 and 15 more" in message


def test_jsonl_no_message_holds_a_text(write):
    assert "SECRET" not in refused(read_jsonl, write("a.jsonl", '{"a": "SECRET"\n{"SECRET": 1, "SECRET": 2}\n'))


# CSV and TSV


def test_V104_V106_delimited_keeps_every_value_as_text(write):
    text = 'id,"name"\n007,NA\n"1.0","a, ""b""\nc"\n,\n'
    rows = read_delimited(write("a.csv", text))
    assert rows.columns == {"id": ["007", "1.0", None], "name": ["NA", 'a, "b"\nc', None]}
    assert rows.lines == [2, 3, 5]
    assert read_delimited(write("b.csv", b"\xef\xbb\xbf" + text.encode())).columns == rows.columns


def test_delimited_separators(write):
    assert read_delimited(write("a.tsv", "a\tb\r\n1\t2\r\n\n")).columns == {"a": ["1"], "b": ["2"]}
    rows = read_delimited(write("a.csv", "a;b\n1;2"), separator=";")
    assert (rows.columns, rows.form) == ({"a": ["1"], "b": ["2"]}, "a.csv: separated by ';' with a header, UTF-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1\n1,2\n\n1,2,3\n", "lines 2, 4, 5"),
        (
            'a,b\n1,2\n"1,2\n3,4\n',
            "a quote that is never closed, or text after a closing quote (1)\n  where: a.csv, lines 3\n",
        ),
        ('a,b\n1,"2"x\n3,4\n5,"6"y\n7\n8,"9\n', "closing quote (3)\n  where: a.csv, lines 2, 4, 6\n"),
        (
            'a,b\n1,"2"x\n3,4\n5,"6"y\n7\n8,"9\n',
            "1 row has another number of values than the header (2)\n  where: a.csv, lines 5\n",
        ),
        ("\na,b\n1,2\n", "lines 1"),
        ("a;b\n1;2,3\n", 'delimiter = ";"'),
        ("a,a\n1,2\n", "columns named twice: a"),
        ("a,\n1,2\n", "a column without a name"),
        ("", "is empty"),
    ],
)
def test_delimited_refuses(write, text, said):
    assert said in refused(read_delimited, write("a.csv", text))


def test_delimited_not_utf8(write):
    message = refused(read_delimited, write("a.csv", b"\xef\xbb\xbfa\nb\xff\n"))
    assert "lines 2 (byte offset 6)" in message
    latin = "a,b\n" + "é,ü\n" * 12
    message = refused(read_delimited, write("b.csv", latin.encode("latin-1")))
    assert "lines that are not UTF-8 (12)" in message
    assert "lines 2 (byte offset 4), 3 (byte offset 8)" in message
    assert message.count("byte offset") == 10
    assert "2 more" in message


# qrels


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("query-id\tcorpus-id\tscore\nq 1\td\t2\nq2\tNA\t0\n", "tab-separated with a header"),
        ("q 1\td\t2\nq2\tNA\t0\n\n \n", "tab-separated without a header"),
        ("qid\tdocid\trel\r\nq 1\td\t2\r\nq2\tNA\t0\r\n", "tab-separated with a header"),
    ],
)
def test_V034_qrels_forms(write, text, shape):
    read = read_qrels(write("q.tsv", text))
    assert read.rows == (("q 1", "d", 2), ("q2", "NA", 0))
    assert read.form == f"q.tsv: {shape}, UTF-8, 2 rows"


@pytest.mark.parametrize("gap", [" ", "\t", "   "])
def test_V034_qrels_trec(write, gap):
    read = read_qrels(write("q.txt", gap.join(["q1", "0", "msmarco#7", "3"]) + "\n"))
    assert read.rows == (("q1", "msmarco#7", 3),)
    assert read.form == "q.txt: TREC, four columns, UTF-8, 1 rows"


def test_qrels_are_not_quoted(write):
    assert read_qrels(write("q.tsv", '"q1\t"d"\t1\n')).rows == (('"q1', '"d"', 1),)


def test_V034_qrels_every_bad_line(write):
    text = "q1\td1\t1\nq2 d1 1\nq3\td1\n\nq4\td1\tNaN\nq5\td1\t1.5\nq6\td1\tgood\nq7\td1\t4\nq8\td1\t-1\n\td1\t1\n"
    message = refused(read_qrels, write("q.tsv", text))
    for said in (
        "lines 2, 3\n",
        "has lines that are blank (1)\n  where: q.tsv, lines 4",
        "lines 5 ('NaN'), 6 ('1.5'), 7 ('good')",
        "lines 8 ('4'), 9 ('-1')",
        "lines 10\n",
    ):
        assert said in message


def test_qrels_header_in_another_order(write):
    assert "line 1" in refused(read_qrels, write("q.tsv", "corpus-id\tquery-id\tscore\nd\tq\t1\n"))


def test_qrels_grades_only_through_the_map(write):
    path = write("q.tsv", "q1\td1\t4\nq1\td2\tgood\nq1\td3\tbad\nq1\td4\t1\n")
    assert [row[2] for row in read_qrels(path, grades={"4": 3, "good": 2, "bad": 0, "1": 1}).rows] == [3, 2, 0, 1]
    assert "lines 2 ('good'), 4 ('1')" in refused(read_qrels, path, grades={"4": 3, "bad": 0})


# the template


def test_template_fills():
    template = Template.parse("{title}: {text} {{{title}}}!")
    assert template.columns == ("title", "text")
    assert template.fill({"title": "{x}", "text": ""}) == "{x}:  {{x}}!"


@pytest.mark.parametrize(
    "source", ["", "plain", "{", "}", "{}", "{0.a}", "{a[0]}", "{a!r}", "{a:>4}", "{ }", "{a:}{b:{c}}"]
)
def test_template_refuses(source):
    assert "template" in refused(Template.parse, source)
