"""Bad vectors made elsewhere through the command line: every offender of both forms in one message, exit 2, no file changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import Command, process
from refusals import CONTRACT, MINE, bench_refuses, refused, study
from studies import DOCUMENTS, QUERIES

DOCUMENT_IDS = [str(row["_id"]) for row in DOCUMENTS]
QUERY_IDS = [str(row["_id"]) for row in QUERIES]
Rows = dict[str, list[float]]


def sound(ids: list[str]) -> Rows:
    return {name: np.eye(4)[i % 4].tolist() for i, name in enumerate(ids)}


def write_vectors(folder: Path, name: str, form: str, rows: Rows, dtype: str = "float32") -> str:
    """One file of vectors in the study's folder; its name."""
    if form == "npy":
        np.save(folder / f"{name}.npy", np.array(list(rows.values()), dtype=dtype))
        (folder / f"{name}.ids.txt").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    else:
        kind = pa.list_(pa.type_for_alias(dtype))
        vectors = pa.array([np.array(row, dtype=dtype) for row in rows.values()], kind)
        pq.write_table(pa.table({"id": list(rows), "vector": vectors}), folder / f"{name}.{form}")
    return f"{name}.{form}"


def made_study(
    folder: Path, form: str, documents: Rows, queries: Rows, *, name: str = "made", **contract: object
) -> Path:
    """The small study with one candidate whose vectors were made elsewhere."""
    options = {"documents": f"{name}-docs.{form}", "queries": f"{name}-asked.{form}"}
    table = {"id": name, "embedder": "vectors", "contract": {**CONTRACT, **contract}, "options": options}
    written = study(folder, candidates=[table])
    write_vectors(written, f"{name}-docs", form, documents)
    write_vectors(written, f"{name}-asked", form, queries)
    return written


@pytest.mark.parametrize("form", ["npy", "parquet"])
def test_vectors_made_elsewhere_run_when_they_are_sound(form: str, tmp_path: Path, command: Command) -> None:
    answer = command("bench", made_study(tmp_path, form, sound(DOCUMENT_IDS), sound(QUERY_IDS)))
    assert answer.code == 0, answer.err


@pytest.mark.parametrize("form", ["npy", "parquet"])
@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ([float("nan"), 0, 0, 1], "hold NaN or infinity"),
        ([float("inf"), 0, 0, 1], "hold NaN or infinity"),
        ([0, -float("inf"), 0, 1], "hold NaN or infinity"),
        ([0, 0, 0, 0], "are zero"),
        ([3, 4, 0, 0], "have a length off 1"),
        ([1.001, 0, 0, 0], "have a length off 1"),
    ],
    ids=["nan", "inf", "-inf", "zero", "long", "a-little-long"],
)
def test_bad_values(bad: list[float], sentence: str, form: str, tmp_path: Path, command: Command) -> None:
    """Documents and queries, first, middle and last, in one message."""
    documents = {**sound(DOCUMENT_IDS), "d1": bad, "d4": bad, "d6": bad}
    folder = made_study(tmp_path, form, documents, {**sound(QUERY_IDS), "q2": bad, "q4": bad})
    named = (f"3 of 6 vectors of documents {sentence}", "d1, d4, d6", f"2 of 4 vectors of queries {sentence}", "q2, q4")
    bench_refuses(command, folder, *named, f"made-docs.{form}", f"made-asked.{form}")


@pytest.mark.parametrize("form", ["npy", "parquet"])
def test_missing_ids(form: str, tmp_path: Path, command: Command) -> None:
    documents, queries = sound([*DOCUMENT_IDS[2:], "stranger"]), sound(["q1", "q4"])
    named = ("2 of 6 documents have no vector", "d1, d2", "2 of 4 queries have no vector", "q2, q3")
    bench_refuses(command, made_study(tmp_path, form, documents, queries), *named)


@pytest.mark.parametrize("form", ["npy", "parquet"])
def test_wrong_dimension_and_type(form: str, tmp_path: Path, command: Command) -> None:
    folder = made_study(tmp_path, form, sound(DOCUMENT_IDS), sound(QUERY_IDS), dimension=5, dtype="float16")
    answer = command("bench", folder)
    refused(answer, "documents", "queries", "(6, 4)", "(6, 5)", "(4, 4)", "(4, 5)")


@pytest.mark.parametrize("form", ["npy", "parquet"])
def test_repeated_ids_of_vectors(form: str, tmp_path: Path, command: Command) -> None:
    folder = made_study(tmp_path, form, sound(DOCUMENT_IDS), sound(QUERY_IDS))
    twice = ["d1", "d2", "d2", "d4", "d5", "d5", "d3", "d6"]
    if form == "npy":
        np.save(folder / "made-docs.npy", np.eye(4, dtype="float32")[[0] * 8])
        (folder / "made-docs.ids.txt").write_text("".join(f"{name}\n" for name in twice), encoding="utf-8")
    else:
        vectors = pa.array([[1.0, 0, 0, 0]] * 8, pa.list_(pa.float32()))
        pq.write_table(pa.table({"id": twice, "vector": vectors}), folder / "made-docs.parquet")
    bench_refuses(command, folder, "ids are repeated", "d2", "d5", "made-docs")


def test_every_candidate_and_every_kind_of_trouble_in_one_message(tmp_path: Path, command: Command) -> None:
    nan = [float("nan")] * 4
    documents = {**sound(DOCUMENT_IDS[1:]), "d2": nan, "d3": [0.0] * 4, "d4": [2.0, 0, 0, 0]}
    options = {"documents": "docs.npy", "queries": "asked.parquet"}
    one = {"id": "one", "embedder": "vectors", "contract": CONTRACT, "options": options}
    two = {**one, "id": "two", "options": {"documents": "gone.npy", "queries": "gone.parquet"}}
    three = {**one, "id": "three", "options": {"documents": "docs.npy"}}
    folder = study(tmp_path, candidates=[MINE, one, two, three])
    write_vectors(folder, "docs", "npy", documents)
    write_vectors(folder, "asked", "parquet", {**sound(QUERY_IDS), "q3": nan})
    named = ("1 of 6 documents have no vector", "ids d1", "NaN or infinity", "ids d2", "are zero", "ids d3", "off 1")
    bench_refuses(
        command, folder, *named, "ids d4", "ids q3", "gone.npy", "gone.parquet", "the option queries", "'three'"
    )


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda f: (f / "made-docs.npy").write_bytes(b"\x93NUMPY\x01\x00"), ("made-docs.npy",)),
        (lambda f: np.save(f / "made-docs.npy", np.array([{}], dtype=object), allow_pickle=True), ("made-docs.npy",)),
        (lambda f: np.save(f / "made-docs.npy", np.ones((6, 4), dtype="int8")), ("made-docs.npy", "int8")),
        (lambda f: np.save(f / "made-docs.npy", np.ones(6, dtype="float32")), ("made-docs.npy", "(6,)")),
        (lambda f: (f / "made-docs.ids.txt").write_text("d1\nd2\n", encoding="utf-8"), ("6 vectors", "2 ids")),
        (lambda f: (f / "made-docs.ids.txt").write_bytes(b"d1\n\xff\n"), ("made-docs.ids.txt", "offset 3")),
        (lambda f: (f / "made-docs.ids.txt").unlink(), ("no file of ids",)),
    ],
    ids=["cut short", "pickled", "integers", "one axis", "too few ids", "ids not UTF-8", "no ids"],
)
def test_npy_files_that_are_none(
    spoil: Callable[[Path], object], named: tuple[str, ...], tmp_path: Path, command: Command
) -> None:
    folder = made_study(tmp_path, "npy", sound(DOCUMENT_IDS), sound(QUERY_IDS))
    spoil(folder)
    bench_refuses(command, folder, *named)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"_id": ["d1"], "vec": [[1.0, 0, 0, 0]]}, ("'id'", "'vector'")),
        ({"id": ["d1"], "vector": ["1 0 0 0"]}, ("vector", "string")),
        ({"id": ["d1", "d2", "d3"], "vector": [[1.0, 0, 0, 0], None, [1.0, None, 0, 0]]}, ("d2", "d3")),
        ({"id": ["d1", "d2", "d3"], "vector": [[1.0, 0, 0, 0], [1.0], [0.0, 1, 0, 0]]}, ("ids d2", "than 4")),
    ],
    ids=["columns", "type", "null", "ragged"],
)
def test_parquet_files_that_are_none(
    columns: Mapping[str, list[object]], named: tuple[str, ...], tmp_path: Path, command: Command
) -> None:
    folder = made_study(tmp_path, "parquet", sound(DOCUMENT_IDS), sound(QUERY_IDS))
    pq.write_table(pa.table(columns), folder / "made-docs.parquet")
    bench_refuses(command, folder, *named, "made-docs.parquet")


def test_the_same_in_a_process_of_its_own(tmp_path: Path) -> None:
    folder = study(tmp_path / "a", documents=[*DOCUMENTS, DOCUMENTS[1]])
    bench_refuses(process, folder, "d2 (lines 2, 7)")
    made = made_study(tmp_path / "b", "npy", {**sound(DOCUMENT_IDS), "d5": [0.0] * 4}, sound(QUERY_IDS))
    bench_refuses(process, made, "ids d5")
