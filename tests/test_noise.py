"""The noise of encoding: measured, said, the floor for what counts as changed, and no part of the decision (field case V048)."""

from __future__ import annotations

import json
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiepoint as tp
from command import Command
from encoding_kit import HashEmbedder, contract, items
from measured import NAMES, everything, qrels_of, run_of
from recorded import change
from tiepoint.core.gates import Gates
from tiepoint.core.run import Run
from tiepoint.core.space import Space, Vectors
from tiepoint.core.study import Study
from tiepoint.embedders import installed_candidates, open_embedder
from tiepoint.encoding import noise
from tiepoint.encoding.encode import encode_space
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.made import Made, made_space
from tiepoint.formats.study_toml.write import toml_value
from tiepoint.measures import parse
from tiepoint.measures.graded import GradedRun
from tiepoint.measures.jaccard import jaccard
from tiepoint.measures.measure import Column
from tiepoint.measures.rbo import rank_biased_overlap
from tiepoint.measures.ties import TiedRun, TiedRuns, TieGroups, cut_at
from tiepoint.search.rank import assemble, tie_groups, without_noise
from tiepoint.workflows.audit.agreement import audit_agreement
from tiepoint.workflows.audit.pair import rank_both
from tiepoint.workflows.audit.quality import audit_quality
from tiepoint.workflows.bench.noise import enough, with_noise
from tiepoint.workflows.evidence import value_range
from tiepoint.workflows.figures import drowned, measure_run

DOCUMENTS = 58
OWN = """import numpy as np

NOISE = {noise}

def _encode(texts, better):
    vectors = np.full((len(texts), 64), 1e-3, dtype=np.float32)
    for row, text in enumerate(texts):
        at = 60 if text[:4] == "twin" else int(text) if text.isdigit() else 62
        size = 1.0 if at != 60 or text == better else 1.0 - 1e-4
        vectors[row, at] = size + NOISE * (row % 7)
    return vectors

def one(texts): return _encode(texts, "twin a")
def two(texts): return _encode(texts, "twin b")
"""
CANDIDATE = """
[[candidate]]
id = "{id}"
embedder = "callable"
cache = true
options = {{ function = "{module}:{id}" }}
contract = {{ provider = "test", model = "{id}", revision = "1", dimension = 64, metric = "dot", normalized = false, \
dtype = "float32", query_role = "query", document_role = "document" }}
"""


def twins(folder: Path, *, noise: float, k: int = 1) -> Path:
    """58 documents far apart, each with its question, and two within 1e-4 of each other, of which the first is relevant.

    Each vector depends on its place in the batch by the noise; the second candidate prefers the other twin.
    """
    tables = {
        "study": {"name": "twins", "k": k, "measures": [f"recall@{k}"], "seed": 7},
        "corpus": {"path": "corpus.jsonl", "id": "_id", "text": "{text}"},
        "queries": {"path": "queries.jsonl", "id": "_id", "text": "text"},
        "qrels": {"path": "qrels.tsv"},
        "access": {"public": True},
        "decision": {"measure": f"recall@{k}", "slice": "unfiltered", "gap": 0.05, "prefer": ["dimension"]},
        "gates": {"critical": ["q-twin"], "loss": 0.9},
    }
    folder.mkdir(parents=True)
    texts = {f"d{i:02}": str(i) for i in range(DOCUMENTS)} | {"twin-a": "twin a", "twin-b": "twin b"}
    asked = {f"q{i:02}": str(i) for i in range(DOCUMENTS)} | {"q-twin": "twin"}
    for name, rows in (("corpus", texts), ("queries", asked)):
        lines = "".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in rows.items())
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    gold = "".join(f"q{i:02}\td{i:02}\t1\n" for i in range(DOCUMENTS)) + "q-twin\ttwin-a\t1\n"
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + gold, encoding="utf-8")
    module = f"own_{folder.name}"
    (folder / f"{module}.py").write_text(OWN.format(noise=noise), encoding="utf-8")
    text = "".join(
        f"[{table}]\n" + "".join(f"{key} = {toml_value(value)}\n" for key, value in keys.items())
        for table, keys in tables.items()
    )
    text += "".join(CANDIDATE.format(id=name, module=module) for name in ("one", "two"))
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def benched(command: Command, folder: Path, *options: str) -> tuple[dict, str]:
    """result.json and report.md of a new run."""
    results = folder / "results"
    before = set(results.iterdir()) if results.exists() else set()
    assert command("bench", folder, "--quiet", *options).code in (0, 4)
    (new,) = set(results.iterdir()) - before
    return json.loads((new / "result.json").read_text("utf-8")), (new / "report.md").read_text("utf-8")


def audited(command: Command, folder: Path, source: str = "one", target: str = "two") -> dict:
    told = command("audit", folder, "--source", source, "--target", target, "--json", "--quiet")
    return json.loads(told.out)


def test_V048_what_moves_within_the_noise_of_encoding_is_told_and_has_not_changed(
    tmp_path: Path, command: Command
) -> None:
    """At most 50 texts repeated measure the noise; two documents within 1e-4 of each other stand in an order that it made."""
    folder = twins(tmp_path / "noisy", noise=1e-5)
    result, report = benched(command, folder)
    for candidate in result["candidates"]:
        assert 5e-5 <= candidate["noise"] < 6.1e-5, "six places in a batch, at most"
        assert candidate["ties"]["unfiltered"] == {"queries": 0, "pairs": 0, "by_noise": 1, "at": {}}
    words = " ".join(report.split())
    assert "scores of the same text differ by up to 6e-05 when one encodes it again" in words
    assert "across the cut 1 the order is noise in so many queries: 1 (unfiltered)" in words
    (warning,) = (line for line in result["decision"]["warnings"] if "noise of encoding" in line)
    assert "1 of one's, 1 of two's rankings (unfiltered)" in warning
    assert "tie_tolerance = 0.00012 under [study] would hold the verdict over this noise" in warning
    assert "tied or unjudged" not in " ".join(result["decision"]["warnings"]), (
        "the verdict takes ties as the study says"
    )

    audit = audited(command, folder)
    assert [audit[side]["noise"] for side in ("source", "target")] == [c["noise"] for c in result["candidates"]]
    assert "noise of encoding: source 6e-05, target 6e-05" in audit["definitions"]["changed"]
    gates = {gate["name"]: gate["outcome"] for gate in audit["gates"]}
    assert gates["critical queries"] == "undecided", "as ranked it falls, and only noise says so"
    (delta,) = audit["quality"]["deltas"][:1]
    assert (delta["difference"] < 0, delta["wins"], delta["losses"], delta["ties"]) == (True, 0, 0, DOCUMENTS + 1)
    assert audit["quality"]["lost"] == []

    held, _ = benched(command, change(folder, ("seed = 7", "seed = 7\ntie_tolerance = 0.00012")))
    assert all(
        c["ties"]["unfiltered"] == {"queries": 1, "pairs": 1, "by_noise": 0, "at": {}} for c in held["candidates"]
    )
    assert not any("noise of encoding" in line for line in held["decision"]["warnings"])
    assert any("tied" in line for line in held["decision"]["warnings"])


def test_V048_without_noise_the_same_change_is_one_and_nothing_is_warned_of(tmp_path: Path, command: Command) -> None:
    folder = twins(tmp_path / "still", noise=0.0)
    result, report = benched(command, folder)
    for candidate in result["candidates"]:
        assert candidate["noise"] == 0.0
        assert candidate["ties"]["unfiltered"] == {"queries": 0, "pairs": 0, "by_noise": 0, "at": {}}
    assert "noise" not in " ".join(result["decision"]["warnings"])
    assert "scores of the same text are equal when encoded again" in report
    audit = audited(command, folder)
    gates = {gate["name"]: gate["outcome"] for gate in audit["gates"]}
    assert gates["critical queries"] == "fail"
    (delta,) = audit["quality"]["deltas"][:1]
    assert (delta["wins"], delta["losses"]) == (0, 1)
    assert [one["query"] for one in audit["quality"]["lost"]] == ["q-twin"]


@pytest.mark.parametrize("name", ["minilm-int8", "wordllama"])
def test_V048_a_packaged_model_says_the_noise_that_its_batches_make(name: str) -> None:
    found = [c for c in installed_candidates() if c.id == name]
    if not found or find_spec("onnxruntime") is None:
        pytest.skip(f"not executed: the packages of {name} are not installed")
    embedder = open_embedder(found[0], folder=Path(), threads=1)
    texts = [f"Borehole {i} met gravel at {i} m" + " below the terrace of the river" * (i % 5) for i in range(12)]
    documents = Items([f"d{i:02}" for i in range(len(texts))], texts)
    assert encode_space(embedder, documents, Items(["q"], ["gravel"])).space.noise == 0.0


def test_the_noise_is_kept_with_the_vectors_and_a_cached_run_says_the_same(tmp_path: Path, command: Command) -> None:
    folder = twins(tmp_path / "kept", noise=1e-5)
    first, _ = benched(command, folder)
    module = folder / "own_kept.py"
    module.write_text("raise SystemExit('not needed')\n", encoding="utf-8")
    again, _ = benched(command, folder)
    assert first == again
    stores = sorted((folder / "spaces").glob("one-*/manifest.json"))
    (encoding,) = json.loads(stores[0].read_text("utf-8"))["encodings"]
    assert encoding["noise"] == first["candidates"][0]["noise"]
    audit = audited(command, folder, source=str(stores[0].parent), target="two")
    assert audit["source"]["noise"] == encoding["noise"]


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


@pytest.mark.parametrize("size", [1e-5, 3.0])
def test_noise_that_orders_the_whole_space_is_said_and_ties_no_corpus_in_memory(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, size: float
) -> None:
    monkeypatch.setattr(noise, "MOST", 20)
    result, _ = benched(command, twins(tmp_path / f"whole{len(str(size))}", noise=size))
    struck = size > 1
    assert all((c["ties"]["unfiltered"]["by_noise"] is None) == struck for c in result["candidates"])
    assert any("orders the whole space of one, two" in w for w in result["decision"]["warnings"]) == struck


@pytest.mark.parametrize("most", [20, 10_000])
def test_where_noise_orders_the_whole_space_an_audit_passes_nothing_and_says_so(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """The larger the noise, the less is sure: whether its own orders are searched or would fill the memory."""
    monkeypatch.setattr(noise, "MOST", most)
    audit = audited(command, twins(tmp_path / f"drowned{most}", noise=3.0))
    gates = {gate["name"]: gate["outcome"] for gate in audit["gates"]}
    assert [gates[name] for name in ("mean quality", "critical queries")] == ["undecided"] * 2
    (delta,) = audit["quality"]["deltas"][:1]
    assert (delta["worst"], delta["best"], delta["ties"]) == (-1.0, 1.0, DOCUMENTS + 1)
    assert audit["quality"]["lost"] == []
    said = [note for note in audit["notes"] if "orders the whole space of source and target" in note]
    assert len(said) == (most == 20)
    assert ("it orders the whole space" in audit["definitions"]["changed"]) == (most == 20)
    (agreement,) = audit["agreement"][:1]
    if most == 20:
        assert [agreement[f"{name}_{end}"] for name in ("jaccard", "overlap") for end in ("low", "high")] == [0, 1] * 2


def test_where_noise_orders_the_whole_space_a_comparison_shows_no_direction(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noise, "MOST", 20)
    folder = twins(tmp_path / "adrift", noise=3.0)
    found = []
    for _ in range(2):
        results = tp.bench(tp.load_study(folder))
        rows = results.per_query.to_pylist()
        assert {(r["low"], r["high"]) for r in rows if r["candidate"] in ("one", "two")} == {(0.0, 1.0)}
        found.append(results)
    for movement in tp.compare(*found).movements:
        if movement.candidate in ("one", "two") and movement.n:
            assert movement.direction in ("not shown", "too few")


def vectors_of(values: np.ndarray) -> Vectors:
    return Vectors(values, np.arange(len(values)))


def chained(tmp_path: Path, *measures: str, pooled: bool = False) -> tuple[Study, Space]:
    """40 documents, each 0.9 floors below the one before, of which the first ten are relevant; one question, k = 10."""
    folder = tmp_path / f"chain{len(measures)}{pooled}"
    folder.mkdir()
    ids = [f"d{i:02}" for i in range(40)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps({"_id": d, "text": d}) + "\n" for d in ids), "utf-8")
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "ask"}) + "\n", "utf-8")
    gold = "".join(f"q\t{d}\t1\n" for d in ids[:10])
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + gold, "utf-8")
    tables = {
        "study": {"name": "chain", "k": 10, "measures": list(measures), "seed": 7},
        "corpus": {"path": "corpus.jsonl", "id": "_id", "text": "{text}"},
        "queries": {"path": "queries.jsonl", "id": "_id", "text": "text"},
        "qrels": {"path": "qrels.tsv", "pooled": pooled},
        "access": {"public": True},
        "decision": {"measure": "recall@10", "slice": "unfiltered", "gap": 0.05, "prefer": ["dimension"]},
    }
    (folder / "study.toml").write_text(
        "".join(
            f"[{table}]\n" + "".join(f"{key} = {toml_value(value)}\n" for key, value in keys.items())
            for table, keys in tables.items()
        ),
        "utf-8",
    )
    documents = np.zeros((40, 2), dtype=np.float32)
    documents[:, 0] = 40 - 0.9 * np.arange(40)
    space = Space(
        contract(metric="dot", normalized=False, dimension=2),
        vectors_of(documents),
        vectors_of(np.array([[1.0, 0.0]], dtype=np.float32)),
        noise=0.5,
    )
    return tp.load_study(folder), space


@pytest.mark.parametrize("pooled", [False, True])
def test_a_deeper_measure_moves_no_bound_of_another_one(tmp_path: Path, pooled: bool) -> None:
    """What lies further than the floor below the tenth hit cannot be among the first ten, however deep one looks."""
    told = []
    for more in ((), ("recall@20",), ("recall@20", "recall@40")):
        study, space = chained(tmp_path, "recall@10", "nDCG@10", *more, pooled=pooled)
        pair = rank_both(study, space, space, Gates(measure="recall@10", slice="unfiltered"))
        (part,) = (part for part in pair.parts if part.name == "unfiltered")
        measured, at = pair.source.measured(part), np.array([0])
        assert measured.ties["recall@10"].smallest.values.tolist() == [0.9]
        view = pair.by_view[part.view.name]
        run, plain = measured.run, measure_run(study, view, without_noise(measured.run), [parse("recall@10")])
        benched_ = with_noise(study, view, plain, run, space, [parse("recall@10")])
        assert benched_.over_noise is not None
        assert benched_.over_noise["recall@10"].smallest.values.tolist() == [0.9]
        agreement = audit_agreement(pair)
        (summary,) = (one for one in agreement.slices if one.slice == "unfiltered")
        values = value_range(measured, "recall@10", at, questioned=[measured, measured])
        row = [r for r in audit_quality(pair).per_query.to_pylist() if r["measure"] == "recall@10"]
        told.append(
            (
                summary,
                [(r["worst"], r["best"]) for r in row],
                [of.tolist() for of in (values.low, values.mid, values.high)],
                [measured.ties["nDCG@10"].smallest.values[0], measured.unjudged["nDCG@10"].smallest.values[0]],
                measured.judged_ties.smallest.values[0],
                measured.tied_pairs.tolist(),
                benched_.by_noise is not None and benched_.by_noise.tolist(),
            )
        )
    assert told[0] == told[1] == told[2]
    assert told[0][0].jaccard_low == pytest.approx(9 / 11)
    assert told[0][0].jaccard > 0.8
    assert told[0][5] == [10]


def test_beside_a_side_whose_order_is_all_noise_unjudged_documents_may_be_missed(tmp_path: Path) -> None:
    """Such a side may hold any of them: where they are in question, the other's least value is 0."""
    study, space = chained(tmp_path, "recall@10", pooled=True)
    pair = rank_both(study, space, space, Gates(measure="recall@10", slice="unfiltered"))
    measured = next(pair.source.measured(part) for part in pair.parts if part.name == "unfiltered")
    # The eleventh is unjudged: where it is relevant and ranks within the first ten or not, nine of eleven at least are found.
    for other, least in ((measured, 9 / 11), (drowned(measured), 0.0)):
        values = value_range(measured, "recall@10", np.array([0]), questioned=[measured, other])
        assert values.low[0] == pytest.approx(least)
    assert value_range(measured, "recall@10", np.array([0]), questioned=()).low[0] == 0.9


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_sample_that_tells_whether_noise_orders_a_space_is_the_same_in_any_order_of_its_rows(
    monkeypatch: pytest.MonkeyPatch, dtype: type[np.floating]
) -> None:
    """Every third of 3,000 documents is near the best: of those evenly spaced by position all are, or none."""
    rng = np.random.default_rng(3)
    near = np.arange(3000) % 3 == 0
    documents = np.column_stack([np.where(near, 1.0, 0.0), rng.random(3000) / 100]).astype(dtype)
    documents[:90:3] = documents[0]  # equal vectors are told apart by how many stood before
    questions = np.tile(np.array([[1.0, 0.0]], dtype=dtype), (30, 1))
    seen = set()
    for order in (np.arange(3000), rng.permutation(3000), np.argsort(~near, kind="stable")):
        space = Space(
            contract(metric="dot", normalized=False, dimension=2),
            vectors_of(documents[order]),
            vectors_of(questions),
            noise=0.1,
        )
        drawn = space.documents.array[noise._drawn(space.documents.array, space.documents.row, 1000)]
        assert len(drawn) == 1000
        seen.add(drawn.tobytes())
        for most, floor in ((700, 0.0), (1300, space.floor)):
            monkeypatch.setattr(noise, "MOST", most)
            assert noise.searchable_floor(space) == floor
    assert len(seen) == 1


def loose(scores: list[float], tolerance: float, noise: float) -> list[int]:
    """The tie group of each hit, in a plain loop: groups of the tolerance, joined where noise links one to the next."""
    groups, head = [0], scores[0]
    for above, score in pairwise(scores):
        begins = head - score > tolerance
        groups.append(groups[-1] + (begins and above - score > noise))
        head = score if begins else head
    return groups


def test_what_ties_without_noise_ties_with_it() -> None:
    """Noise links the first group to the hit at 0.58, which is the head of the next one by tolerance."""
    scores = np.array([0.90, 0.62, 0.58, 0.30])
    assert tie_groups(scores, 0.3).tolist() == [0, 0, 1, 1]
    assert tie_groups(scores, 0.3, 0.1).tolist() == [0, 0, 0, 0]
    plain, noisy = (ranked(scores, depth=3, tolerance=0.3, noise=noise) for noise in (0.0, 0.1))
    assert plain.tied.tolist() == noisy.tied.tolist() == without_noise(noisy).tied.tolist() == [3]


@pytest.mark.parametrize(("tolerance", "noise"), [(0.0, 0.0), (0.0, 0.11), (0.15, 0.0), (0.15, 0.11), (0.3, 0.11)])
def test_noise_ties_neighbour_by_neighbour_and_without_it_nothing_is_changed(tolerance: float, noise: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        scores = np.sort(rng.integers(0, 30, 12) / 10)[::-1]
        assert tie_groups(scores, tolerance, noise).tolist() == loose(scores.tolist(), tolerance, noise)
        run = run_of([list(enumerate(scores.tolist()))], 12, 12, tolerance=tolerance)
        object.__setattr__(run, "noise", noise)
        groups = TieGroups.of(run)
        of_run = groups.start[0].tolist() if len(groups.rows) else list(range(12))
        expected = loose(scores.tolist(), tolerance, noise)
        assert of_run == [expected.index(group) for group in expected]
        assert without_noise(run).noise == 0.0


def ranked(scores: np.ndarray, *, depth: int, tolerance: float, noise: float = 0.0) -> Run:
    """One query's run over every document, as the search puts it together."""
    return assemble(
        np.zeros(len(scores), dtype=np.int64),
        np.arange(len(scores)),
        scores,
        eligible=np.array([len(scores)]),
        depth=depth,
        tolerance=tolerance,
        noise=noise,
        failed={},
    )


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=3, max_size=14),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.sampled_from([0.02, 0.1, 0.25]),
    st.randoms(use_true_random=False),
)
def test_whatever_noise_makes_of_the_scores_stays_within_the_range_that_is_told(
    tenths: list[int], tolerance: float, noise: float, chance: Random
) -> None:
    """Each score moved by the noise at most, so two of them by twice that: every value lies within the range over both."""
    scores = np.array(tenths) / 10 + np.array([chance.random() for _ in tenths]) * 0.3
    depth = chance.randint(1, len(scores))
    qrels = qrels_of([{i: chance.randint(0, 3) for i in range(len(scores))}], len(scores))
    run = ranked(scores, depth=depth, tolerance=tolerance, noise=2 * noise)
    graded = GradedRun.of(run, qrels, everything(qrels))
    tied = TiedRuns(graded, run, qrels)
    moved = scores + np.array([chance.uniform(-noise, noise) for _ in scores]) * 0.999999
    other = GradedRun.of(ranked(moved, depth=depth, tolerance=0.0), qrels, everything(qrels))
    k = chance.randint(1, depth)
    for name in NAMES:
        measure = parse(f"{name}@{k}")
        told, value = measure.over_ties(measure(graded), tied.at(k)), measure(other).values[0]
        if measure(graded).defined[0]:
            assert told.smallest.values[0] - 1e-9 <= value <= told.largest.values[0] + 1e-9
    again = ranked(scores + np.array([chance.uniform(-noise, noise) for _ in scores]), depth=depth, tolerance=0.0)
    for kind in (jaccard, rank_biased_overlap):
        agreed, value = kind(run, run, k), kind(ranked(moved, depth=depth, tolerance=0.0), again, k).smallest.values[0]
        assert agreed.smallest.values[0] - 1e-9 <= value <= agreed.largest.values[0] + 1e-9
    plain, without = ranked(scores, depth=depth, tolerance=tolerance), without_noise(run)
    for column in ("document", "score", "tied_start", "tied"):
        assert getattr(plain, column).tobytes() == getattr(without, column).tobytes()


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 40), min_size=0, max_size=14), min_size=1, max_size=3),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.sampled_from([0.0, 0.04, 0.2, 0.5]),
    st.randoms(use_true_random=False),
)
def test_every_measure_at_k_is_the_same_however_deep_one_searched(
    tenths: list[list[int]], tolerance: float, noise: float, chance: Random
) -> None:
    """A run cut at k is, to the bit, the run of a search of depth k."""
    sizes = [len(of) for of in tenths]
    query, unit = np.repeat(np.arange(len(tenths)), sizes), np.concatenate([np.arange(n) for n in sizes])
    scores = np.array([s for of in tenths for s in of], dtype=np.float64) / 10
    scores += np.array([chance.choice([0.0, 0.03, 0.15]) for _ in scores])
    asked = [{i: chance.randint(0, 3) for i in range(n) if chance.random() < 0.6} for n in sizes]
    qrels = qrels_of(asked, 14)

    def searched(depth: int) -> Run:
        return assemble(
            query, unit, scores, eligible=np.array(sizes), depth=depth, tolerance=tolerance, noise=noise, failed={}
        )

    deep = searched(8)
    graded = GradedRun.of(deep, qrels, everything(qrels))
    tied = TiedRuns(graded, deep, qrels)
    for k in (chance.randint(1, 8), chance.randint(1, 4)):
        shallow, cut = searched(k), cut_at(deep, k)
        if noise and k < 8:
            for column in ("document", "score", "tied_start", "tied", "tied_score"):
                assert getattr(cut, column).tobytes() == getattr(shallow, column).tobytes()
        else:
            assert cut is deep
        own = GradedRun.of(shallow, qrels, everything(qrels))
        own_tied = TiedRun.of(own, TieGroups.of(shallow), shallow, qrels)
        for measure in (parse(f"{name}@{k}") for name in NAMES):
            one, other = measure.over_ties(measure(graded), tied.at(k)), measure.over_ties(measure(own), own_tied)
            assert equal(one.smallest, other.smallest)
            assert equal(one.largest, other.largest)
            assert (one.expected is None) == (other.expected is None)
            assert one.expected is None or other.expected is None or equal(one.expected, other.expected)
            far = measure.over_ties_and_unjudged(measure(graded), graded, tied.at(k))
            near = measure.over_ties_and_unjudged(measure(own), own, own_tied)
            assert equal(far.smallest, near.smallest)
            assert equal(far.largest, near.largest)
        for kind in (jaccard, rank_biased_overlap):
            one, other = kind(deep, deep, k), kind(shallow, shallow, k)
            assert equal(one.smallest, other.smallest)
            assert one.expected is not None
            assert other.expected is not None
            assert equal(one.expected, other.expected)
            assert equal(one.largest, other.largest)


def equal(one: Column, other: Column) -> bool:
    return np.allclose(one.values, other.values, rtol=0, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize(
    ("floor", "told"), [(6e-5, 6e-5), (1.2e-4, 1.2e-4), (1.21e-4, 1.3e-4), (9.96e-8, 1e-7), (0.5, 0.5)]
)
def test_the_tolerance_that_is_suggested_has_two_digits_and_is_no_smaller(floor: float, told: float) -> None:
    assert enough(floor) == pytest.approx(told, rel=1e-12)
    assert enough(floor) >= floor * (1 - 1e-12)
