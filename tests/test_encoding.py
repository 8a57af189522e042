"""Texts to a Space: order, batches, failures, made vectors, lengths. One test, one rule."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoding_kit import DIMENSION, HashEmbedder, contract, items, vector
from tiepoint.core.contract import Contract
from tiepoint.encoding.batches import Inputs, Pass, batches
from tiepoint.encoding.check import check_vectors
from tiepoint.encoding.embedder import BatchLimit
from tiepoint.encoding.encode import encode_space
from tiepoint.encoding.encoded import EncodingFailed, Items
from tiepoint.encoding.lengths import token_lengths
from tiepoint.encoding.made import Made, made_space
from tiepoint.encoding.pooling import pooled
from tiepoint.encoding.shelf import Memory
from tiepoint.errors import InputError


def found(encoded, role, position):
    vectors = getattr(encoded.space, role)
    return vectors.array[vectors.row[position]]


def test_every_item_gets_the_vector_of_its_own_text_and_role():
    documents, queries = items(11), items(3, kind="q")
    encoded = encode_space(HashEmbedder(), documents, queries)
    for i, text in enumerate(documents.texts):
        assert np.array_equal(found(encoded, "documents", i), vector(text))
    for i, text in enumerate(queries.texts):
        assert np.array_equal(found(encoded, "queries", i), vector(text, "query"))
    assert encoded.document_lengths.tolist() == [len(t.split()) for t in documents.texts]
    assert encoded.timing.documents_per_s > 0
    assert encoded.timing.query_p50_ms <= encoded.timing.query_p95_ms


def test_prompts_are_put_on_by_role():
    embedder = HashEmbedder(contract(query_prompt="ask: ", document_prompt="text: "))
    encoded = encode_space(embedder, Items(["d"], ["one"]), Items(["q"], ["two"]))
    assert np.array_equal(found(encoded, "documents", 0), vector("text: one"))
    assert np.array_equal(found(encoded, "queries", 0), vector("ask: two", "query"))


def test_equal_texts_are_encoded_once_and_share_a_vector():
    embedder = HashEmbedder()
    encoded = encode_space(embedder, Items(["a", "b", "c"], ["same", "other", "same"]), items(1, kind="q"))
    row = encoded.space.documents.row
    assert row[0] == row[2] != row[1]
    assert sum(t == "same" for t in embedder.encoded) == 3  # the warm-up, the encoding, and once more for the noise


@pytest.mark.parametrize(
    ("how", "reason"), [("nan", "not finite"), ("zero", "zero"), ("raise", "RuntimeError"), ("exit", "SystemExit")]
)
def test_V051_a_bad_text_stands_alone_and_the_rest_is_kept(how, reason):
    documents = Items(
        [f"d{i}" for i in range(9)], ["fine " * (i + 1) + ("BAD secret" if i == 5 else "") for i in range(9)]
    )
    encoded = encode_space(HashEmbedder(how=how), documents, items(2, kind="q"))
    assert list(encoded.failed_documents) == ["d5"]
    assert reason in encoded.failed_documents["d5"]
    assert "secret" not in str(encoded.failed_documents)
    assert encoded.space.documents.missing.tolist() == [5]
    assert np.array_equal(found(encoded, "documents", 6), vector(documents.texts[6]))


def test_a_model_that_fails_on_everything_fails_and_is_not_a_score_of_zero():
    bad = Items([f"d{i}" for i in range(50)], [f"BAD {i}" for i in range(50)])
    embedder = HashEmbedder(how="raise")
    with pytest.raises(EncodingFailed, match="32 texts in a row"):
        encode_space(embedder, bad, items(2, kind="q"))
    with pytest.raises(EncodingFailed, match="no query could be encoded"):
        encode_space(HashEmbedder(), items(3), Items(["q1", "q2"], ["BAD 1", "BAD 2"]))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"dimension": 9}, "shape"),
        ({"dtype": "float64"}, "dtype"),
        ({"dtype": "float32", "norm_tolerance": 1e-12}, "length"),
    ],
)
def test_V038_a_vector_off_its_contract_fails_the_candidate_at_the_probe(fields, words):
    class Steady(HashEmbedder):
        def encode(self, texts, role):
            return super().encode(texts, role).astype(np.float32)

    embedder = Steady(contract(**fields))
    with pytest.raises(EncodingFailed, match=words):
        encode_space(embedder, items(3), items(1, kind="q"))
    assert embedder.encoded == []


def test_V042_prompts_that_change_nothing_fail_the_candidate():
    class Deaf(HashEmbedder):
        def encode(self, texts, role):
            return np.array([vector("same")] * len(texts))

    with pytest.raises(EncodingFailed, match="same vector"):
        encode_space(Deaf(contract(query_prompt="ask: ")), items(3), items(1, kind="q"))
    with pytest.raises(EncodingFailed, match="cannot load \\(ImportError: no such"):
        encode_space(Broken(), items(3), items(1, kind="q"))


class Broken(HashEmbedder):
    def load(self):
        raise ImportError("no such library\nmore")


@given(st.lists(st.integers(1, 40), min_size=1, max_size=40), st.integers(1, 7), st.integers(20, 90))
def test_batches_hold_every_text_once_within_both_limits_the_longest_first(lengths, texts, tokens):
    embedder = HashEmbedder(batch=BatchLimit(texts, tokens))
    documents = Items([f"d{i:02}" for i in range(len(lengths))], [f"w{i} " * n for i, n in enumerate(lengths)])
    inputs = Inputs.of("document", documents, embedder.contract)
    one = Pass.of(inputs, Memory(embedder.contract, 0))
    one.tokens[:] = lengths
    made = [batch.tolist() for batch in batches(one, embedder)]
    flat = [i for batch in made for i in batch]
    assert sorted(flat) == list(range(len(lengths)))
    assert flat == sorted(flat, key=lambda i: (-lengths[i], documents.ids[i]))
    assert all(len(b) <= texts and (len(b) == 1 or len(b) * lengths[b[0]] <= tokens) for b in made)


def test_peak_memory_of_encoding_stays_near_vectors_plus_one_batch(tmp_path):
    class Wide(HashEmbedder):
        def encode(self, texts, role):
            return np.full((len(texts), 4096), 1 / 64, dtype=np.float32)

    embedder = Wide(contract(dimension=4096), batch=BatchLimit(64))
    documents = items(6000)
    vectors = 6000 * 4096 * 4
    tracemalloc.start()
    try:
        encode_space(embedder, documents, items(2, kind="q"), store_folder=tmp_path / "wide")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.75 * vectors  # shards of 1,024 go to disk, so not even all vectors are in memory


def test_token_lengths_without_a_limit_are_none_and_never_zero():
    counts = np.array([3, 10, 7, 12])
    assert token_lengths(None, 8) is None
    assert token_lengths(np.empty(0, dtype=np.int64), 8) is None
    free = token_lengths(counts, None)
    assert (free.cut_texts, free.cut_tokens, free.max) == (None, None, 12.0)
    cut = token_lengths(counts, 8)
    assert (cut.cut_texts, cut.cut_tokens, cut.over.tolist()) == (0.5, 6 / 32, [3, 1])


def test_pooling():
    hidden = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    mask = np.array([[1, 1, 1], [1, 1, 0]])
    assert np.array_equal(pooled(hidden, mask, "cls"), hidden[:, 0])
    assert np.array_equal(pooled(hidden, mask, "last"), [hidden[0, 2], hidden[1, 1]])
    assert np.array_equal(pooled(hidden, mask, "mean"), [hidden[0].mean(0), hidden[1, :2].mean(0)])


# vectors made elsewhere


def made(ids, dtype="float32", role="document"):
    return Made(ids, np.array([vector(i, role) for i in ids]).astype(dtype), f"{role}.npy")


def test_made_vectors_are_aligned_by_id_and_extra_ids_are_counted():
    encoded = made_space(contract(), made(["b", "a", "z"]), made(["q"]), document_ids=["a", "b"], query_ids=["q"])
    assert encoded.space.documents.row.tolist() == [1, 0]
    assert "1 vectors are of documents that the study lacks" in encoded.notes[0]
    assert encoded.timing.documents_per_s is None
    assert encoded.document_lengths is None


def test_V021_V051_V069_every_broken_vector_made_elsewhere_is_named_in_one_error():
    documents, queries = made(["a", "b", "c", "d", "a"]), made(["q", "r"])
    documents.array[1, 2] = np.nan
    documents.array[2] = 0
    documents.array[3] *= 1.1
    queries.array[0, 0] = np.inf
    with pytest.raises(InputError) as error:
        made_space(contract(), documents, queries, document_ids=["a", "b", "c", "d", "e"], query_ids=["q", "r", "s"])
    text = str(error.value)
    for part in (
        "1 of 5 documents have more than one vector",
        "document.npy, ids a",
        "1 of 5 documents have no vector",
        "ids e",
        "1 of 5 vectors of documents hold NaN or infinity",
        "ids b",
        "1 of 5 vectors of documents are zero",
        "ids c",
        "1 of 5 vectors of documents have a length off 1",
        "ids d",
        "1 of 3 queries have no vector",
        "ids s",
        "1 of 2 vectors of queries hold NaN or infinity",
        "ids q",
    ):
        assert part in text, part


def test_V021_70000_stored_as_float16_is_infinite():
    documents = made(["a", "b"], "float16")
    with np.errstate(over="ignore"):
        documents.array[1, 0] = np.float16(70000)
    with pytest.raises(InputError, match="1 of 2 vectors of documents hold NaN or infinity"):
        made_space(
            contract(dtype="float16"), documents, made(["q"], "float16"), document_ids=["a", "b"], query_ids=["q"]
        )


def test_made_vectors_of_another_dimension_or_dtype_are_refused():
    wide = contract(dimension=9)
    with pytest.raises(InputError) as error:
        made_space(wide, made(["a"]), made(["q"]), document_ids=["a"], query_ids=["q"])
    assert str(error.value).count("(1, 9)") == 2
    with pytest.raises(InputError, match="dtype float64 where the contract says float32"):
        made_space(contract(), made(["a"], "float64"), made(["q"]), document_ids=["a"], query_ids=["q"])


def test_V039_norms_are_free_where_the_contract_does_not_say_normalised():
    free: Contract = replace(contract(), normalized=False, metric="dot")
    array = np.array([vector("a"), vector("b") * 3, np.zeros(DIMENSION, np.float32)], dtype=np.float32)
    checked = check_vectors(array, free)
    assert (checked.off_norm.tolist(), checked.zero.tolist(), checked.broken.tolist()) == ([], [2], [2])
    np.testing.assert_allclose(checked.norms, [1, 3, 0], rtol=1e-6)


def test_a_single_bad_norm_far_down_a_large_array_is_found():
    array = np.tile(vector("a"), (600_000, 1))
    array[555_555] *= 1.001
    assert check_vectors(array, contract()).off_norm.tolist() == [555_555]
