"""Vectors made elsewhere: shapes, types and ids; both forms, every offender."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tiepoint.errors import InputError
from tiepoint.formats.vectors import read_vectors


def refused(path, **options):
    with pytest.raises(InputError) as error:
        read_vectors(path, **options)
    assert error.value.exit_code == 2
    return str(error.value)


def npy(folder, array, ids="a\nb\n"):
    np.save(folder / "v.npy", array)
    if ids is not None:
        (folder / "v.ids.txt").write_bytes(ids.encode())
    return folder / "v.npy"


def parquet(folder, ids, vectors):
    pq.write_table(pa.table({"id": ids, "vector": vectors}), folder / "v.parquet")
    return folder / "v.parquet"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
def test_npy(tmp_path, dtype):
    read = read_vectors(npy(tmp_path, np.array([[1, 2, 3], [4, 5, 6]], dtype=dtype), "\ufeffa\r\nb"))
    assert read.ids == ("a", "b")
    assert read.array.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert read.array.dtype.isnative
    assert "2 x 3" in read.form


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_ids_of_every_type_of_text(tmp_path, kind):
    path = parquet(tmp_path, pa.array(["a", "b"], kind), pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32())))
    assert read_vectors(path).ids == ("a", "b")


def test_npy_is_mapped_not_read(tmp_path):
    assert isinstance(read_vectors(npy(tmp_path, np.ones((2, 3), dtype=np.float32))).array, np.memmap)


def test_npy_ids_beside_or_named(tmp_path):
    path = npy(tmp_path, np.ones((2, 3), dtype=np.float32), ids=None)
    assert "v.ids.txt or v.ids" in refused(path)
    (tmp_path / "names").write_text("x\ny\n")
    assert read_vectors(path, ids=tmp_path / "names").ids == ("x", "y")
    assert "no such file of ids" in refused(path, ids=tmp_path / "nowhere")
    (tmp_path / "v.ids").write_text("a\nb\n")
    assert read_vectors(path).ids == ("a", "b")
    (tmp_path / "v.ids.txt").write_text("a\nb\n")
    assert "two files of ids" in refused(path)


@pytest.mark.parametrize(
    ("array", "ids", "said"),
    [
        (np.ones((2, 3), dtype=np.int32), "a\nb\n", "holds int32"),
        (np.ones(2, dtype=np.float32), "a\nb\n", "has the shape (2,)"),
        (np.ones((0, 3), dtype=np.float32), "", "has the shape (0, 3)"),
        (np.ones((2, 0), dtype=np.float32), "a\nb\n", "has the shape (2, 0)"),
        (np.ones((2, 3), dtype=np.float32), "a\n", "has 2 vectors, v.ids.txt has 1 ids"),
        (np.ones((2, 3), dtype=np.float32), "a\n\nb\n", "1 empty ids"),
        (np.ones((2, 3), dtype=np.float32), "a\na\n", "ids are repeated"),
        (np.ones((2, 3), dtype=np.float32), "a \nb\n", "padded"),
        (np.array([[{}]]), "a\n", "no plain .npy array"),
    ],
)
def test_npy_refuses(tmp_path, array, ids, said):
    assert said in refused(npy(tmp_path, array, ids))


def test_files_that_are_something_else(tmp_path):
    for name, content in (("a.npy", b"junk"), ("b.npy", b""), ("c.parquet", b"junk"), ("d.csv", b"a")):
        (tmp_path / name).write_bytes(content)
        assert name in refused(tmp_path / name)
    assert "no such file" in refused(tmp_path / "e.npy")
    np.savez(tmp_path / "f.npz", a=np.ones(2))
    (tmp_path / "f.npz").rename(tmp_path / "f.npy")
    assert "no plain .npy array" in refused(tmp_path / "f.npy")


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
@pytest.mark.parametrize("lists", ["list", "large", "fixed"])
def test_parquet(tmp_path, kind, lists):
    rows = [np.array(row, dtype=kind.to_pandas_dtype()) for row in ([1, 2], [3, 4], [5, 6])]
    types = {"list": pa.list_(kind), "large": pa.large_list(kind), "fixed": pa.list_(kind, 2)}
    read = read_vectors(parquet(tmp_path, ["a", "b", "c"], pa.array(rows, types[lists])))
    assert read.ids == ("a", "b", "c")
    assert read.array.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert read.array.dtype == kind.to_pandas_dtype()


def test_parquet_of_several_row_groups_and_integer_ids(tmp_path):
    table = pa.table({"id": list(range(10)), "vector": [[float(i), 1.0] for i in range(10)]})
    pq.write_table(table, tmp_path / "v.parquet", row_group_size=3)
    read = read_vectors(tmp_path / "v.parquet")
    assert read.ids == tuple(map(str, range(10)))
    assert read.array[:, 0].tolist() == list(range(10))
    assert "integer ids read as text" in read.form


@pytest.mark.parametrize("fixed", [True, False])
def test_parquet_names_null_and_holed_rows(tmp_path, fixed):
    kind = pa.list_(pa.float32(), 2) if fixed else pa.list_(pa.float32())
    vectors = pa.array([[1, 2], None, [1, None], [3, 4], None], kind)
    message = refused(parquet(tmp_path, ["a", "b", "c", "d", "e"], vectors))
    assert "2 of 5 rows have no vector" in message
    assert "ids b, e" in message
    assert "1 of 5 rows have null in the vector" in message
    assert "ids c\n" in message


def test_parquet_names_ragged_rows(tmp_path):
    vectors = pa.array([[1, 2], [1], [3, 4], []], pa.list_(pa.float32()))
    message = refused(parquet(tmp_path, ["a", "b", "c", "d"], vectors))
    assert "2 of 4 rows have another length than 2" in message
    assert "ids b, d" in message


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"ids": ["a"], "vector": [[1.0]]}, 'did you mean "ids"?'),
        ({"id": ["a"], "vectors": [[1.0]]}, 'did you mean "vectors"?'),
        ({"id": [1.5], "vector": [[1.0]]}, "holds double, not text"),
        ({"id": ["a"], "vector": [[1]]}, "not lists of float16"),
        ({"id": ["a"], "vector": ["x"]}, "not lists of float16"),
        ({"id": ["a", None], "vector": [[1.0], [2.0]]}, "rows 2"),
        ({"id": ["a", "a"], "vector": [[1.0], [2.0]]}, "ids are repeated"),
        ({"id": pa.array([], pa.string()), "vector": pa.array([], pa.list_(pa.float32()))}, "holds no vector"),
        ({"id": ["a"], "vector": pa.array([[]], pa.list_(pa.float32()))}, "every vector is empty"),
    ],
)
def test_parquet_refuses(tmp_path, columns, said):
    pq.write_table(pa.table(columns), tmp_path / "v.parquet")
    assert said in refused(tmp_path / "v.parquet")
