"""Runs that are killed, and runs at the same time: nothing half, nothing lost, no store harmed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from command import Command, process
from studies import PUBLIC, write_study
from tiepoint.encoding.encode import SHARD_TEXTS
from tiepoint.encoding.lock import alone_in
from tiepoint.encoding.noise import SAMPLE
from tiepoint.errors import CannotRun

MODULE = """
import os
import time
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def encode(texts):
    held = HERE / "hold"
    with open(HERE / f"calls-{os.getpid()}.txt", "a") as calls:
        calls.writelines(f"{text.split()[-1]}\\n" for text in texts)
        seen = len(Path(calls.name).read_text().splitlines())
    while held.exists() and seen > int(held.read_text()):
        time.sleep(0.02)
    vectors = np.zeros((len(texts), 8), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            vectors[row, zlib.crc32(word.encode()) % 8] += 1
    return vectors
"""
CONTRACT = {
    "provider": "test",
    "model": "words",
    "revision": "1",
    "dimension": 8,
    "metric": "cosine",
    "normalized": False,
    "dtype": "float32",
    "query_role": "query",
    "document_role": "document",
}
BENCH = [sys.executable, "-m", "tiepoint", "bench"]
POSIX = pytest.mark.skipif(os.name == "nt", reason="not executed: there is no SIGKILL")


def slow_study(folder: Path, documents: int) -> Path:
    """One callable whose vectors are kept; it stops after so many texts as the file `hold` says, while that is there."""
    own = {
        "id": "own",
        "embedder": "callable",
        "contract": CONTRACT,
        "options": {"function": "slow:encode"},
        "cache": True,
    }
    written = write_study(
        folder,
        documents=[{"_id": f"d{i:04d}", "title": "a", "text": f"word{i % 97} d{i:04d}"} for i in range(documents)],
        questions=[{"_id": f"q{i}", "text": f"word{i} q{i}"} for i in range(5)],
        judgements="".join(f"q{i}\td{i:04d}\t1\n" for i in range(5)),
        candidates=[own],
        **{**PUBLIC, "corpus": {"acl": None, "region": None}},
        decision={"slice": "unfiltered"},
    )
    text = (written / "study.toml").read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if line.split(" ")[0] not in {"region", "subgroups", "rare", "cluster"}]
    (written / "study.toml").write_text("\n".join(kept) + "\n", encoding="utf-8")
    (written / "slow.py").write_text(MODULE, encoding="utf-8")
    return written


def encoded(folder: Path, pid: int) -> Sequence[str]:
    path = folder / f"calls-{pid}.txt"
    return path.read_text(encoding="utf-8").split() if path.is_file() else []


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it did not come to pass"
        time.sleep(0.02)


def figures(folder: Path) -> list[object]:
    found = []
    for path in sorted((folder / "results").glob("*/result.json")):
        (candidate,) = json.loads(path.read_text(encoding="utf-8"))["candidates"]
        found.append((candidate["status"], candidate["measures"]))
    return found


@POSIX
def test_a_killed_run_leaves_nothing_half_and_the_next_uses_what_was_finished(tmp_path: Path) -> None:
    """SIGKILL while the second shard is made: the first is not encoded again but for the sample that tells the noise."""
    folder = slow_study(tmp_path / "killed", SHARD_TEXTS + 400)
    (folder / "hold").write_text(str(SHARD_TEXTS + 200), encoding="utf-8")
    first = subprocess.Popen([*BENCH, str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: len(encoded(folder, first.pid)) > SHARD_TEXTS + 200)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not (folder / "results").exists()
    (store,) = [path for path in (folder / "spaces").iterdir() if path.is_dir()]
    assert store.name.endswith(".parts")
    assert [path.name for path in store.glob("*.npy")] == ["part-00001.npy"]
    finished = set(json.loads((store / "part-00001.json").read_text(encoding="utf-8"))["item"])

    (folder / "hold").unlink()
    (folder / f"calls-{first.pid}.txt").unlink()
    answer = process("bench", folder)
    assert answer.code == 0, answer.err
    (calls,) = folder.glob("calls-*.txt")
    again = finished & set(calls.read_text(encoding="utf-8").split())
    assert len(finished) >= SHARD_TEXTS
    assert len(again) <= SAMPLE
    assert not store.exists()

    clean = slow_study(tmp_path / "clean", SHARD_TEXTS + 400)
    assert process("bench", clean).code == 0
    assert figures(folder) == figures(clean)


def test_two_runs_at_once_encode_once_and_agree(tmp_path: Path) -> None:
    folder = slow_study(tmp_path / "study", 300)
    (folder / "hold").write_text("100", encoding="utf-8")
    runs = [
        subprocess.Popen([*BENCH, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    until(lambda: any(len(encoded(folder, run.pid)) > 100 for run in runs))
    time.sleep(1.0)  # the other one gets as far as the store
    (folder / "hold").unlink()
    said = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    one, other = figures(folder)
    assert one == other
    documents = [[name for name in encoded(folder, run.pid) if name.startswith("d")] for run in runs]
    assert sorted(len(set(names)) for names in documents) == [0, 300]


def test_a_run_that_would_wait_long_is_told_who_is_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tiepoint.encoding.encode.alone_in", partial(alone_in, wait_s=0.2))
    folder = slow_study(tmp_path / "study", 20)
    command = Command(monkeypatch, capsys)
    assert command("bench", folder).code == 0
    (store,) = [path for path in (folder / "spaces").iterdir() if path.is_dir()]
    with alone_in(store):
        answer = command("bench", folder)
    assert answer.code == 3
    assert answer.err.startswith(f"error: another run is at work in the store {store.name}\n")
    assert "run again" in answer.err
    assert len(figures(folder)) == 1
    assert command("bench", folder).code == 0


def test_a_lock_is_free_once_its_holder_has_ended(tmp_path: Path) -> None:
    store = tmp_path / "spaces" / "a-00000000"
    with alone_in(store), pytest.raises(CannotRun), alone_in(store, wait_s=0):
        pass
    with alone_in(store, wait_s=0):
        assert [path.name for path in store.parent.iterdir()] == [".a-00000000.lock"]
