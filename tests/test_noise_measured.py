"""The noise of encoding is measured on at most 50 texts encoded again, in units of the score, and kept with the store (V048)."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from encoding_kit import HashEmbedder, contract, items
from tiepoint.embedders import installed_candidates, open_embedder
from tiepoint.encoding.encode import encode_space
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.made import Made, made_space


@pytest.mark.parametrize("name", ["minilm-int8", "wordllama"])
def test_V048_a_packaged_model_says_the_noise_that_its_batches_make(name: str) -> None:
    found = [c for c in installed_candidates() if c.id == name]
    if not found or find_spec("onnxruntime") is None:
        pytest.skip(f"not executed: the packages of {name} are not installed")
    embedder = open_embedder(found[0], folder=Path(), threads=1)
    texts = [f"Borehole {i} met gravel at {i} m" + " below the terrace of the river" * (i % 5) for i in range(12)]
    documents = Items([f"d{i:02}" for i in range(len(texts))], texts)
    assert encode_space(embedder, documents, Items(["q"], ["gravel"])).space.noise == 0.0


class Drifting(HashEmbedder):
    """Every call adds a little to the first value."""

    def encode(self, texts: list[str], role: str) -> np.ndarray:
        out = super().encode(texts, role)
        out[:, 0] += np.float32(1e-4 * len(self.calls))
        return out


def drifting(**more: object) -> Drifting:
    return Drifting(contract=contract(metric="euclidean", normalized=False), **more)  # type: ignore[arg-type]


def test_noise_is_in_units_of_the_score_and_no_seconds_of_it_are_counted(tmp_path: Path) -> None:
    """For euclidean, a vector against its own former self is the furthest that a distance can move."""
    embedder = drifting()
    encoded = encode_space(embedder, items(9), items(2, kind="q"), store_folder=tmp_path / "s")
    steps = [i for i, call in enumerate(embedder.calls, start=1) if call[0].startswith("dword")]
    assert 0 < encoded.space.noise <= 1e-4 * (steps[-1] - steps[0]) * 1.01
    assert encoded.space.floor == 2 * encoded.space.noise
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text())
    assert [one["documents"] for one in manifest["encodings"]] == [9]


def test_at_most_50_texts_are_encoded_again_and_the_same_ones_in_any_order_of_the_corpus() -> None:
    taken = []
    for order in (1, -1):
        embedder, documents = HashEmbedder(), items(70)
        encoded = encode_space(embedder, Items(documents.ids[::order], documents.texts[::order]), items(1, kind="q"))
        assert encoded.space.noise == 0.0
        again = [call for call in embedder.calls if call[0].startswith("dword")][-13:]
        taken.append([text for call in again for text in call])
    assert taken[0] == taken[1]
    assert len(set(taken[0])) == 50


def test_a_few_new_documents_keep_the_noise_and_fifty_measure_it_again(tmp_path: Path) -> None:
    def measured(count: int) -> list[float | None]:
        encode_space(HashEmbedder(), items(count), items(1, kind="q"), store_folder=tmp_path / "s")
        manifest = json.loads((tmp_path / "s" / "manifest.json").read_text())
        return [one["noise"] for one in manifest["encodings"]]

    assert measured(9) == [0.0]
    assert measured(12) == [0.0, None]
    assert measured(62) == [0.0, None, 0.0]


def test_vectors_made_elsewhere_and_stores_of_older_versions_have_no_noise(tmp_path: Path) -> None:
    def encode(count: int) -> float | None:
        return encode_space(drifting(), items(count), items(2, kind="q"), store_folder=tmp_path / "s").space.noise

    encode(5)
    path = tmp_path / "s" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["encodings"][0]["noise"]
    path.write_text(json.dumps(manifest))
    assert encode(5) is None, "nothing is encoded, so nothing can be measured"
    assert encode(6) is not None
    documents, queries = (Made([i], np.eye(1, 8, dtype=np.float32), "here") for i in "dq")
    space = made_space(contract(), documents, queries, document_ids=["d"], query_ids=["q"]).space
    assert (space.noise, space.floor) == (None, 0.0)


def test_a_model_that_will_not_encode_again_keeps_what_it_encoded() -> None:
    class Once(HashEmbedder):
        def encode(self, texts: list[str], role: str) -> np.ndarray:
            if len(texts) > 1 and len(self.calls) > 6:
                return np.zeros((1, 3), dtype=np.float32)
            return super().encode(texts, role)

    encoded = encode_space(Once(), items(8), Items(["q"], ["ask"]))
    assert encoded.space.noise is None
    assert not encoded.failed_documents
