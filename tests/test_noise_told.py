"""The noise of encoding by the command line: told, the floor for what counts as changed, and no part of the decision (V048)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiepoint as tp
from command import Command
from recorded import CANDIDATE, benched, change
from studies import tables_text
from tiepoint.encoding import noise
from tiepoint.workflows.bench.noise import enough

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
    arms = (CANDIDATE.format(id=name, function=name, module=module, metric="dot") for name in ("one", "two"))
    (folder / "study.toml").write_text(tables_text(tables) + "".join(arms), encoding="utf-8")
    return folder


def measured(command: Command, folder: Path) -> tuple[dict, str]:
    """result.json and report.md of a new run."""
    new = benched(command, folder)
    return json.loads((new / "result.json").read_text("utf-8")), (new / "report.md").read_text("utf-8")


def audited(command: Command, folder: Path, source: str = "one", target: str = "two") -> dict:
    told = command("audit", folder, "--source", source, "--target", target, "--json", "--quiet")
    return json.loads(told.out)


def test_V048_what_moves_within_the_noise_of_encoding_is_told_and_has_not_changed(
    tmp_path: Path, command: Command
) -> None:
    """At most 50 texts repeated measure the noise; two documents within 1e-4 of each other stand in an order that it made."""
    folder = twins(tmp_path / "noisy", noise=1e-5)
    result, report = measured(command, folder)
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

    held, _ = measured(command, change(folder, ("seed = 7", "seed = 7\ntie_tolerance = 0.00012")))
    assert all(
        c["ties"]["unfiltered"] == {"queries": 1, "pairs": 1, "by_noise": 0, "at": {}} for c in held["candidates"]
    )
    assert not any("noise of encoding" in line for line in held["decision"]["warnings"])
    assert any("tied" in line for line in held["decision"]["warnings"])


def test_V048_without_noise_the_same_change_is_one_and_nothing_is_warned_of(tmp_path: Path, command: Command) -> None:
    folder = twins(tmp_path / "still", noise=0.0)
    result, report = measured(command, folder)
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


def test_the_noise_is_kept_with_the_vectors_and_a_cached_run_says_the_same(tmp_path: Path, command: Command) -> None:
    folder = twins(tmp_path / "kept", noise=1e-5)
    first, _ = measured(command, folder)
    module = folder / "own_kept.py"
    module.write_text("raise SystemExit('not needed')\n", encoding="utf-8")
    again, _ = measured(command, folder)
    assert first == again
    stores = sorted((folder / "spaces").glob("one-*/manifest.json"))
    (encoding,) = json.loads(stores[0].read_text("utf-8"))["encodings"]
    assert encoding["noise"] == first["candidates"][0]["noise"]
    audit = audited(command, folder, source=str(stores[0].parent), target="two")
    assert audit["source"]["noise"] == encoding["noise"]


@pytest.mark.parametrize("size", [1e-5, 3.0])
def test_noise_that_orders_the_whole_space_is_said_and_ties_no_corpus_in_memory(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, size: float
) -> None:
    monkeypatch.setattr(noise, "MOST", 20)
    result, _ = measured(command, twins(tmp_path / f"whole{len(str(size))}", noise=size))
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


@pytest.mark.parametrize(
    ("floor", "told"), [(6e-5, 6e-5), (1.2e-4, 1.2e-4), (1.21e-4, 1.3e-4), (9.96e-8, 1e-7), (0.5, 0.5)]
)
def test_the_tolerance_that_is_suggested_has_two_digits_and_is_no_smaller(floor: float, told: float) -> None:
    assert enough(floor) == pytest.approx(told, rel=1e-12)
    assert enough(floor) >= floor * (1 - 1e-12)
