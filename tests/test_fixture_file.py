"""The file of a strict fixture and k: what is no JSON in UTF-8, too large, or not to be opened is refused by its layer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command import Command
from fixture_kit import TEXT, refused
from tiepoint.errors import InputError
from tiepoint.formats.fixture_json import LARGEST, parse_fixture
from tiepoint.workflows.fixture.file import load_fixture
from tiepoint.workflows.fixture.run import audit_fixture


def put(old: str, new: str) -> bytes:
    text = TEXT.decode()
    assert old in text, old
    return text.replace(old, new, 1).encode()


FILES: list[tuple[bytes, str, str]] = [
    (b"", "is not JSON", "line 1, column 1"),
    (b'{"contracts": [', "is not JSON", "line 1, column 16"),
    (b"{} {}", "is not JSON", "line 1, column 4"),
    (b'{"a": 1,}', "is not JSON", ""),
    (b"\xff\xfe{\x00", "is not UTF-8", "line 1"),
    (TEXT[:100] + b"\x80" + TEXT[100:], "is not UTF-8: the byte at offset 100", ""),
    (TEXT.decode().encode("utf-16"), "is not UTF-8", ""),
    (put('"contracts": [', '"contracts": [], "contracts": ['), "one key stands more than once", "the top level: contracts"),
    (put('"model":', '"model": "x", "model":'), "one key stands more than once", "contracts[0]: model"),
    (put('"doc-deploy": 3', '"doc-deploy": 3, "doc-deploy": 1'), "more than once", "queries[0].relevance: doc-deploy"),
    (put('"dimension": 4', '"dimension": {"a": [{"b": 1, "b": 2}]}'), "more than once", "contracts[0].dimension.a[0]: b"),
    (put("[0.0, 1.0,", "[NaN, 1.0,"), "NaN, infinite or beyond float64", "items[0].vector[0]"),
    (put("[0.0, 1.0,", "[Infinity, 1.0,"), "NaN, infinite or beyond float64", "items[0].vector[0]"),
    (put("[0.0, 1.0,", "[-Infinity, 1.0,"), "NaN, infinite or beyond float64", "items[0].vector[0]"),
    (put("[0.0, 1.0,", "[0.0, 1e999,"), "NaN, infinite or beyond float64", "items[0].vector[1]"),
    (put("[0.0, 1.0,", "[0.0, -1" + "0" * 309 + ","), "NaN, infinite or beyond float64", "items[0].vector[1]"),
    (put("[0.0, 1.0,", "[0.0, 1" + "0" * 5000 + ","), "NaN, infinite or beyond float64", "items[0].vector[1]"),
    (put('"dimension": 4', '"dimension": 1' + "0" * 400), "NaN, infinite or beyond float64", "contracts[0].dimension"),
    (put('"doc-deploy": 3', '"doc-deploy": NaN'), "beyond float64", 'queries[0].relevance["doc-deploy"]'),
    (b"NaN", "NaN, infinite or beyond float64", "the top level"),
    (b"[" * 100_000, "is nested too deep to be read", ""),
    (b"[" * 200 + b"]" * 200, "is nested too deep to be read", ""),
    (put('"dimension": 4', '"dimension": ' + '[{"a":' * 20 + "1" + "}]" * 20), "is nested too deep", ""),
    (put('"platform"', '"\\ud800"'), "half of a surrogate pair", "items[1].acl[0]"),
    (put('"doc-deploy": 3', '"\\udfff": 3'), "half of a surrogate pair", "queries[0].relevance"),
    (b" " * (LARGEST + 1), "is larger than 5,242,880 bytes (5 MiB)", ""),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "what", "place"), FILES, ids=lambda value: None if isinstance(value, bytes) else value)
def test_the_file_layer_refuses(raw: bytes, what: str, place: str) -> None:
    ((layer, said, where),) = refused(raw)
    assert layer == "file"
    assert what in said
    assert place in where


def test_five_mebibytes_are_read_and_one_byte_more_is_not_even_parsed() -> None:
    padded = TEXT + b" " * (LARGEST - len(TEXT))
    assert parse_fixture(padded, name="x") == load_fixture("bundled")
    ((layer, what, _),) = refused(b"{" * (LARGEST + 1))
    assert (layer, "larger" in what) == ("file", True)


def test_a_byte_order_mark_and_line_ends_change_nothing() -> None:
    assert parse_fixture(b"\xef\xbb\xbf" + TEXT.replace(b"\n", b"\r\n"), name="x") == load_fixture("bundled")


@pytest.mark.parametrize("name", ["nowhere.json", "", "folder"])
def test_a_file_that_cannot_be_opened_is_refused(command: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    answer = command("audit", "--fixture", tmp_path / name)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: file: cannot be read")


def test_a_file_without_end_is_refused_by_its_size(command: Command) -> None:
    if not os.access("/dev/zero", os.R_OK):
        pytest.skip("not executed: this system has no /dev/zero")
    answer = command("audit", "--fixture", "/dev/zero")
    assert answer.code == 2
    assert "error: file: is larger than" in answer.err


@pytest.mark.parametrize("k", ["0", "-1", "1.5", "1.0", "two", "", "true", "1_0", " 3", "٣", "NaN"])
def test_k_is_a_positive_integer(command: Command, k: str) -> None:
    answer = command("audit", "--fixture", "bundled", f"--k={k}")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: query: k must be a positive integer, is ")


@pytest.mark.parametrize("k", [True, 1.0, "3", None])
def test_k_is_a_positive_integer_from_python_too(k: object) -> None:
    with pytest.raises(InputError, match="query: k must be a positive integer"):
        audit_fixture(load_fixture("bundled"), k=k)  # type: ignore[arg-type]


def test_without_a_fixture_there_is_nothing_to_audit(command: Command) -> None:
    answer = command("audit")
    assert (answer.code, answer.out) == (2, "")
    assert "--fixture FILE|bundled" in answer.err
