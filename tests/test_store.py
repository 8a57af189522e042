"""The store: a killed run loses nothing that was finished, a changed contract shares nothing, a damaged file is never trusted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from encoding_kit import HashEmbedder, contract, items, vector
from tiepoint.encoding.encode import encode_space
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.store import recover

KILLED = """
import os, sys
import tiepoint.encoding.encode as encode
from pathlib import Path
from encoding_kit import HashEmbedder, items
encode.SHARD_TEXTS = 4
class Killed(HashEmbedder):
    def encode(self, texts, role):
        if len(self.calls) == 2 + 1 + 2:      # two probes, the warm-up, two batches: inside the third
            os._exit(9)
        return super().encode(texts, role)
encode.encode_space(Killed(), items(20), items(3, kind="q"), store_folder=Path(sys.argv[1]))
"""


def run(folder, documents, embedder=None, **more):
    embedder = embedder or HashEmbedder()
    return encode_space(embedder, documents, items(3, kind="q"), store_folder=folder, **more), embedder


def right(encoded, documents):
    vectors = encoded.space.documents
    return all(np.array_equal(vectors.array[vectors.row[i]], vector(t)) for i, t in enumerate(documents.texts))


def test_V057_a_killed_run_is_taken_up_where_its_last_shard_ended(tmp_path):
    folder = tmp_path / "hash-1"
    python = [sys.executable, *(["-O"] if sys.flags.optimize else []), "-c", KILLED, str(folder)]
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    killed = subprocess.run(
        python, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert killed.returncode == 9, killed.stderr
    assert not folder.exists()
    assert len(list((tmp_path / "hash-1.parts").glob("part-*.json"))) == 2

    documents = items(20)
    encoded, embedder = run(folder, documents)
    assert right(encoded, documents)
    assert encoded.timing.documents_cached == 8
    # probes, warm-up, the rest, queries, their latency, all documents again for the noise
    assert sum(len(c) for c in embedder.calls) == 2 + 4 + 12 + 3 + 3 + 20
    assert not (tmp_path / "hash-1.parts").exists()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert [e["documents"] for e in manifest["encodings"]] == [20]  # killed and taken up again: one encoding


def test_a_second_run_does_not_even_load_the_model(tmp_path):
    first, _ = run(tmp_path / "s", items(9), threads=2)
    again, embedder = run(tmp_path / "s", items(9))
    assert embedder.loads == 0
    assert (again.timing.documents_cached, again.timing.queries_cached) == (9, 3)
    assert replace(again.timing, documents_cached=0, queries_cached=0) == first.timing
    assert np.array_equal(again.document_lengths, first.document_lengths)
    assert again.notes == ()


def test_one_changed_document_encodes_exactly_one_and_keeps_the_figures_of_the_first(tmp_path):
    first, _ = run(tmp_path / "s", items(9))
    before = items(9)
    changed = Items(before.ids, [*before.texts[:4], "a new text", *before.texts[5:]])
    encoded, embedder = run(tmp_path / "s", changed)
    assert right(encoded, changed)
    assert embedder.encoded.count("a new text") == 2  # the warm-up and the encoding; the noise is known
    assert not set(before.texts) & set(embedder.encoded)
    assert encoded.timing.documents_cached == 8
    assert encoded.timing.documents_per_s == first.timing.documents_per_s
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text())
    assert [e["documents"] for e in manifest["encodings"]] == [9, 1]
    table = pq.read_table(tmp_path / "s" / "items.parquet")
    assert table.column("item").to_pylist().count("d004") == 2
    assert set(table.column("role").to_pylist()) == {"query", "document"}


def test_a_text_of_the_other_role_is_not_taken_for_this_one(tmp_path):
    both = Items(["x"], ["one text"])
    embedder = HashEmbedder()
    encoded = encode_space(embedder, both, both, store_folder=tmp_path / "s")
    assert not np.array_equal(
        encoded.space.documents.array[encoded.space.documents.row[0]],
        encoded.space.queries.array[encoded.space.queries.row[0]],
    )


def test_fresh_encodes_everything_anew_and_replaces_the_store(tmp_path):
    run(tmp_path / "s", items(9))
    encoded, embedder = run(tmp_path / "s", items(5), fresh=True)
    assert embedder.loads == 1
    assert encoded.timing.documents_cached == 0
    assert pq.read_table(tmp_path / "s" / "items.parquet").num_rows == 5 + 3


def test_without_token_counts_lengths_are_unknown_also_from_the_store(tmp_path):
    for _ in range(2):
        encoded, _ = run(tmp_path / "s", items(4), HashEmbedder(countable=False))
        assert encoded.document_lengths is None
        assert encoded.timing.tokens_per_s is None


def test_V043_a_store_of_another_contract_is_refused_with_a_line(tmp_path):
    run(tmp_path / "s", items(4))
    encoded, embedder = run(tmp_path / "s", items(4), HashEmbedder(contract(revision="2")))
    assert embedder.loads == 1
    assert "built anew" in encoded.notes[0]
    assert "another contract" in encoded.notes[0]
    assert json.loads((tmp_path / "s" / "manifest.json").read_text())["contract"]["revision"] == "2"


@pytest.mark.parametrize("name", ["manifest.json", "items.parquet", "vectors.npy"])
@pytest.mark.parametrize("harm", ["cut", "gone", "noise"])
def test_V045_a_damaged_store_is_built_anew_with_a_line(tmp_path, name, harm):
    documents = items(6)
    run(tmp_path / "s", documents)
    path = tmp_path / "s" / name
    raw = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(raw[: len(raw) // 2] if harm == "cut" else b"noise" * 40)
    encoded, embedder = run(tmp_path / "s", documents)
    assert right(encoded, documents)
    assert embedder.loads == 1
    assert "built anew" in encoded.notes[0]
    assert run(tmp_path / "s", documents)[0].notes == ()


def test_V045_a_broken_vector_in_the_store_is_encoded_again_and_said(tmp_path):
    documents = items(6)
    run(tmp_path / "s", documents)
    stored = np.load(tmp_path / "s" / "vectors.npy", mmap_mode="r+")
    stored[2, 0] = np.nan
    stored[3] *= 1.5
    stored.flush()
    encoded, embedder = run(tmp_path / "s", documents)
    assert right(encoded, documents)
    assert "2 of 9 stored vectors were broken" in encoded.notes[0]
    assert len(set(embedder.encoded) & set(documents.texts)) == 2
    assert run(tmp_path / "s", documents)[0].notes == ()


def test_a_broken_shard_of_an_interrupted_run_is_encoded_again(tmp_path, monkeypatch):
    monkeypatch.setattr("tiepoint.encoding.encode.SHARD_TEXTS", 4)
    documents = items(12)

    class Stops(HashEmbedder):
        def encode(self, texts, role):
            if len(self.calls) == 5:
                raise KeyboardInterrupt
            return super().encode(texts, role)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "s", documents, Stops())
    shard = tmp_path / "s.parts" / "part-00002.npy"
    raw = bytearray(shard.read_bytes())
    raw[-3] ^= 1
    shard.write_bytes(raw)
    encoded, _ = run(tmp_path / "s", documents)
    assert right(encoded, documents)
    assert "1 shards of an interrupted run were broken" in encoded.notes[0]
    assert encoded.timing.documents_cached == 4


@pytest.mark.parametrize("moment", ["before new is whole", "between the renames", "after both"])
def test_a_kill_around_the_renames_leaves_a_whole_store(tmp_path, moment):
    documents = items(6)
    folder, new, old = tmp_path / "s", tmp_path / ".s.new", tmp_path / ".s.old"
    run(folder, documents)
    if moment == "before new is whole":
        new.mkdir()
        (new / "vectors.npy").write_bytes(b"half")
    elif moment == "between the renames":
        folder.rename(new)
        old.mkdir()
    else:
        old.mkdir()
    encoded, embedder = run(folder, documents)
    assert right(encoded, documents)
    assert embedder.loads == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [".s.lock", "s"]


def test_a_half_written_new_store_never_replaces_the_former_one(tmp_path):
    run(tmp_path / "s", items(6))
    (tmp_path / "s").rename(tmp_path / ".s.old")
    (tmp_path / ".s.new").mkdir()
    recover(tmp_path / "s")
    assert run(tmp_path / "s", items(6))[1].loads == 0


def test_a_document_that_failed_is_tried_again_and_the_store_stays_as_it_is(tmp_path):
    documents = Items(["a", "b"], ["fine", "BAD"])
    run(tmp_path / "s", documents)
    stamp = (tmp_path / "s" / "manifest.json").read_bytes()
    encoded, embedder = run(tmp_path / "s", documents)
    assert list(encoded.failed_documents) == ["b"]
    assert "fine" not in embedder.encoded
    assert (tmp_path / "s" / "manifest.json").read_bytes() == stamp
    assert right(run(tmp_path / "s", Items(["a"], ["fine"]))[0], Items(["a"], ["fine"]))
