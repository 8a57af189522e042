"""The certificate on every pair: no bound is ever broken, by the machine's product or by any other order of summation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel_kit import METRICS, World, near, public_world, worlds
from tiepoint.search.exact import search
from tiepoint.search.first_pass import Asked, Float32Pass, Scratch
from tiepoint.search.pool import Pairs, Pool
from tiepoint.search.prepared import Prepared, norms_of
from tiepoint.search.score import score


@settings(max_examples=80, deadline=None)
@given(world=worlds())
def test_every_pair_lies_within_its_bounds(world: World) -> None:
    seen = 0

    def watch(query: np.ndarray, row: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        nonlocal seen
        asked, documents = world.space.queries, world.space.documents
        with np.errstate(all="ignore"):
            exact = score(asked.array, documents.array, world.space.contract.metric)
        found = exact[asked.row[query], documents.row[row]]
        assert ((low <= found) & (found <= high) | np.isnan(found)).all()
        seen += len(query)

    run = search(world.space, world.eligibility, depth=3, watch=watch)
    findable = sum(len(hits[hits >= 0]) for hits in run.document)
    assert seen >= findable


def summed_otherwise(left: np.ndarray, right: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same products in float32, columns in another order, one after the other, what is tiny set to zero."""
    order = rng.permutation(left.shape[1])
    total = np.zeros((len(left), right.shape[1]), np.float32)
    for j in order:
        total += left[:, j, None] * right[None, j]
        total[np.abs(total) < np.finfo(np.float32).tiny] = 0
    return total


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dimension", [1, 3, 64, 1000])
def test_any_order_of_summation_stays_within_the_bounds(
    metric: str, dtype: type, dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(dimension)
    rows, queries = near(rng, (60, dimension), dtype), near(rng, (8, dimension), dtype)
    if metric == "cosine":
        rows[~rows.any(axis=1), 0] = 1
    world = public_world(rows, queries, metric)
    first = Float32Pass(rows, metric, Prepared.of(world.space))
    block = first.block(np.arange(60))
    asked = Asked.of(queries, metric)
    exact = score(queries, rows, metric)
    query, row = (a.ravel() for a in np.indices((8, 60)))
    monkeypatch.setattr(np, "matmul", lambda a, b, out: np.copyto(out, summed_otherwise(a, b, rng)))
    keys = np.empty((8, 128), np.float32)
    first.keys(asked, block, keys, Scratch(dimension))
    low, high = first.bounds(keys[query, row], asked, block, query, row)
    assert ((low <= exact.ravel()) & (exact.ravel() <= high)).all()
    for least in np.quantile(exact, [0.1, 0.5, 0.9, 1.0]):
        for goal in (least, np.nextafter(least, np.inf), np.nextafter(least, -np.inf)):
            bar = first.bar(np.full(8, goal), asked, block)
            reach = exact >= goal
            assert not (reach & (keys[:, :60] < bar[:, None])).any()
    assert (first.bar(np.full(8, -np.inf), asked, block) == -np.inf).all()


@pytest.mark.parametrize("metric", METRICS)
def test_the_bound_is_near_the_theory_and_no_wider(metric: str) -> None:
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((50, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    world = public_world(rows, rows[:4], metric)
    first = Float32Pass(rows, metric, Prepared.of(world.space))
    epsilon = first.certificate.epsilon(np.ones(1), np.ones(1))[0]
    gamma = 384 * 2.0**-24 / (1 - 384 * 2.0**-24)
    assert gamma < epsilon < 1.1 * gamma


def test_unit_rows_are_multiplied_where_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((500, 384))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    first = Float32Pass(rows, "cosine", Prepared.of(public_world(rows, rows[:1], "cosine").space))
    asked = Asked.of(rows[:1], "cosine")
    seen: list[np.ndarray] = []
    monkeypatch.setattr(np, "matmul", lambda a, b, out: seen.append(a))
    for vectors in (np.arange(100, 200), np.array([3, 3, 5])):
        first.keys(asked, first.block(vectors), np.empty((1, 128), np.float32), Scratch(384))
    assert np.shares_memory(seen[0], rows)
    assert np.array_equal(seen[1], rows[[3, 3, 5]])


@settings(max_examples=100, deadline=None)
@given(
    low=st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.just(-np.inf), min_size=1, max_size=40),
    depth=st.integers(1, 5),
    seed=st.integers(0, 99),
    nested=st.booleans(),
)
def test_what_is_sure_is_never_above_the_depth_best_bound(
    low: list[float], depth: int, seed: int, nested: bool
) -> None:
    rng = np.random.default_rng(seed)
    query, row = rng.integers(0, 3, len(low)), np.arange(len(low))
    unit = rng.integers(0, 9, len(low)) if nested else row
    pool = Pool(3, depth=depth, tolerance=0.0, of_row=unit if nested else None, room=99)
    bounds = np.array(low, dtype=np.float64)
    reached = pool.reached(Pairs(query, row, bounds, bounds))
    for q in range(3):
        best: dict[int, float] = {}
        for u, value in zip(unit[query == q], bounds[query == q], strict=True):
            best[u] = max(value, best.get(u, -np.inf))
        ordered = sorted(best.values(), reverse=True)
        kth = ordered[depth - 1] if len(ordered) >= depth else -np.inf
        assert reached[q] <= kth
        if abs(kth) < 1e300 and kth != 0:
            assert reached[q] >= kth - abs(kth) * 2.0**-40 - 1e-310


def test_norms_that_vanish_by_underflow_are_bounded_by_nothing_and_zero_vectors_by_their_zeros() -> None:
    vectors = np.array([[2.0**-539] * 4, [2.0**-506, 0, 0, 0], [0.0] * 4, [1.0, 0, 0, 0]])
    for metric, wild in (("dot", [True, True, False, False]), ("cosine", [True, True, True, False])):
        norm, found = norms_of(vectors, metric)
        assert found.tolist() == wild
        assert norm[found].tolist() == [0.0] * sum(wild)
