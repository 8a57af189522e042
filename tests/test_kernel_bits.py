"""The same bits with numba and without, and in processes of their own with any number of threads and any order of the files."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import tiepoint as tp
from kernel_kit import METRICS, World, same, worlds
from sample import hashing, write_sample
from tiepoint.search import exact, fast
from tiepoint.search.exact import search
from tiepoint.search.kernels import NumpyKernels
from tiepoint.search.score import score, score_pairs

needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="not executed: numba is not installed (the extra `fast`)"
)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_pair_gets_the_bits_that_the_score_gives_it(metric: str, dtype: type) -> None:
    rng = np.random.default_rng(2)
    for dimension in (1, 7, 8, 37, 384):
        rows, queries = (
            rng.standard_normal((50, dimension)).astype(dtype),
            rng.standard_normal((6, dimension)).astype(dtype),
        )
        whole = score(queries, rows, metric)
        query, row = rng.integers(0, 6, 700), rng.integers(0, 50, 700)
        assert score_pairs(queries, rows, query, row, metric).tobytes() == whole[query, row].tobytes()


@needs_numba
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numba_gives_the_bits_of_numpy(metric: str, dtype: type) -> None:
    kernels = fast.numba_kernels()
    assert kernels is not None
    assert kernels.name == "numba"
    rng = np.random.default_rng(4)
    for dimension in (1, 7, 8, 37, 384):
        rows, queries = (
            rng.standard_normal((90, dimension)).astype(dtype),
            rng.standard_normal((6, dimension)).astype(dtype),
        )
        if dtype is np.float64:
            rows[::2] *= 10.0 ** rng.integers(-160, 150, (45, 1))
        query, row = rng.integers(0, 6, 2000), rng.integers(0, 90, 2000)
        with np.errstate(all="ignore"):
            expected = NumpyKernels().pairs(queries, rows, query, row, metric)
        assert kernels.pairs(queries, rows, query, row, metric).tobytes() == expected.tobytes()


@needs_numba
def test_numba_scans_as_numpy_does() -> None:
    rng = np.random.default_rng(4)
    keys = rng.random((70, 1280), dtype=np.float32)
    keys[3, 5], keys[4, 7], keys[5, 900] = np.nan, np.inf, -np.inf
    kernels = fast.numba_kernels()
    for bar in (-np.inf, 0.0, 0.5, 0.999, np.inf):
        bars = np.full(70, bar, dtype=np.float32)
        for ours, theirs in zip(kernels.scan(keys, bars), NumpyKernels().scan(keys, bars), strict=True):
            assert np.array_equal(ours, theirs)


@needs_numba
def test_a_search_with_numba_is_the_search_without(monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(max_examples=25, deadline=None, database=None)
    @given(world=worlds())
    def holds(world: World) -> None:
        monkeypatch.setattr(exact, "kernels_for", lambda keys, pairs: NumpyKernels())
        plain = search(world.space, world.eligibility, depth=4)
        monkeypatch.setattr(exact, "kernels_for", lambda keys, pairs: fast.numba_kernels())
        quick = search(world.space, world.eligibility, depth=4)
        assert same(plain, quick)
        assert (plain.proof.kernels, quick.proof.kernels) == ("numpy", "numba")

    holds()


def test_without_numba_the_search_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    fast.numba_kernels.cache_clear()
    monkeypatch.setattr(fast, "find_spec", lambda name: None)
    assert fast.kernels_for(1e12, 0).name == "numpy"
    fast.numba_kernels.cache_clear()


@needs_numba
def test_numba_that_fuses_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    fast.numba_kernels.cache_clear()
    monkeypatch.setattr(fast, "_same_bits", lambda kernels: False)
    assert fast.kernels_for(1e12, 0).name == "numpy"
    fast.numba_kernels.cache_clear()


def searched(threads: int = 1, memory: int = 2**28, shuffled: bool = False) -> str:
    """The SHA-256 of a search's bits; the documents in another order where shuffled."""
    from test_kernel_search import some_world

    world = some_world("cosine", n=1200)
    if shuffled:
        order = np.random.default_rng(0).permutation(1200)
        documents = world.space.documents
        moved = type(documents)(documents.array[order], np.argsort(order))
        world.space = type(world.space)(world.space.contract, moved, world.space.queries)
    run = search(world.space, world.eligibility, depth=20, threads=threads, memory_bytes=memory)
    return hashlib.sha256(
        b"".join(a.tobytes() for a in (run.document, run.score, run.tied, run.tied_start))
    ).hexdigest()


def test_processes_with_other_threads_blocks_and_orders_agree_and_import_no_numba() -> None:
    calls = ["t.searched(), t.searched(2)", "t.searched(5, 2**16), t.searched(shuffled=True)"]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", f"import sys, test_kernel_bits as t; print({call}, 'numba' in sys.modules)"],
            cwd=Path(__file__).parent,
            stdout=subprocess.PIPE,
            text=True,
        )
        for call in calls
    ]
    found = [process.communicate()[0].split() for process in running]
    assert found == [[searched(), searched(), "False"]] * 2


def test_a_study_with_shuffled_files_and_other_threads_gives_the_same_rows(tmp_path: Path) -> None:
    plain = tp.bench(tp.load_study(write_sample(tmp_path / "plain")), candidates=[hashing(32)])
    folder = write_sample(tmp_path / "shuffled", shuffled=True)
    text = (folder / "study.toml").read_text(encoding="utf-8")
    (folder / "study.toml").write_text(f"{text}\n[run]\nthreads = 2\n", encoding="utf-8")
    other = tp.bench(tp.load_study(folder), candidates=[hashing(32)])
    assert plain.rankings.equals(other.rankings)
    assert plain.per_query.equals(other.per_query)
    (stood,) = {facts["threads"] for facts in other.conditions.search.values()}
    assert stood == 2
