"""The exact search equals the definition bit for bit, whatever the eligibility, the metric, the way and the block size."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel_kit import METRICS, World, by_definition, check, near, public_world, same, worlds
from test_search import contract, queries_of
from tiepoint.core.corpus import Corpus
from tiepoint.core.space import Space, Vectors
from tiepoint.search import exact, plan
from tiepoint.search.exact import search
from tiepoint.search.first_pass import NAME
from tiepoint.search.prepared import Prepared

WAYS = ["each permission", "each group", "one product"]


@settings(max_examples=120, deadline=None)
@given(world=worlds(), depth=st.integers(1, 12), tolerance=st.sampled_from([0.0, 0.0, 1e-7, 0.3]))
def test_the_ranking_is_the_one_of_the_definition(world: World, depth: int, tolerance: float) -> None:
    check(
        search(world.space, world.eligibility, depth=depth, tolerance=tolerance), by_definition(world, depth, tolerance)
    )


@pytest.mark.parametrize("way", WAYS)
def test_every_way_that_the_cost_model_could_choose_gives_the_same(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "cheapest", lambda costs: way)

    @settings(max_examples=40, deadline=None, database=None)
    @given(world=worlds(), depth=st.integers(1, 5))
    def holds(world: World, depth: int) -> None:
        check(search(world.space, world.eligibility, depth=depth), by_definition(world, depth, 0.0))

    holds()


@settings(max_examples=30, deadline=None)
@given(world=worlds(), depth=st.integers(1, 5), threads=st.integers(1, 3), memory=st.sampled_from([1, 2**16, 2**28]))
def test_threads_memory_and_preparation_change_no_bit(world: World, depth: int, threads: int, memory: int) -> None:
    plain = search(world.space, world.eligibility, depth=depth)
    other = search(
        world.space,
        world.eligibility,
        depth=depth,
        threads=threads,
        memory_bytes=memory,
        prepared=Prepared.of(world.space),
    )
    assert same(plain, other)


def some_world(metric: str, dtype: type = np.float32, *, n: int = 3000, d: int = 24) -> World:
    """Several blocks of rows, 30 queries, three groups, near ties."""
    rng = np.random.default_rng(11)
    vectors = near(rng, (n + 30, d), dtype)
    corpus = Corpus.from_columns(
        [f"d{i:05d}" for i in range(n)], ["t"] * n, acl=[[f"g{i % 3}", f"g{i % 7}"] for i in range(n)]
    )
    queries = queries_of([frozenset({f"g{i % 5}", f"g{i % 2}"}) for i in range(30)], [()] * 30)
    space = Space(contract(metric, d), Vectors(vectors[:n], np.arange(n)), Vectors(vectors[n:], np.arange(30)))
    return World(corpus, queries, space, filtered=False)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_many_blocks_equal_the_definition(metric: str, dtype: type) -> None:
    world = some_world(metric, dtype, n=1300)
    run = search(world.space, world.eligibility, depth=10, memory_bytes=2**15)
    check(run, by_definition(world, 10, 0.0))


def test_the_order_of_the_vectors_in_their_array_changes_no_bit() -> None:
    world = some_world("cosine")
    order = np.random.default_rng(1).permutation(3000)
    back = np.argsort(order)
    moved = Space(world.space.contract, Vectors(world.space.documents.array[order], back), world.space.queries)
    assert same(search(world.space, world.eligibility, depth=7), search(moved, world.eligibility, depth=7))


def test_few_are_scored_again_and_the_proof_says_so() -> None:
    rng = np.random.default_rng(3)
    world = public_world(rng.standard_normal((20_000, 32)).astype(np.float32), rng.standard_normal((40, 32)), "cosine")
    run = search(world.space, world.eligibility, depth=10)
    assert run.proof is not None
    assert run.proof.first_pass == NAME
    assert run.proof.scored == 20_000 * 40
    assert 400 <= run.proof.rescored < 450
    assert 0 < run.proof.epsilon < 1e-5
    assert run.proof.explained == ("each permission: 40 queries under 1 filters, 1 products, 800,000 scores",)


def test_the_cost_model_says_what_the_other_ways_would_cost() -> None:
    world = some_world("cosine")
    (line,) = search(world.space, world.eligibility, depth=10).proof.explained
    assert "estimated cost of the other ways, this one being 1" in line
    assert [way for way in WAYS if way in line] == WAYS


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dimension", [1, 4096])
def test_the_least_and_a_great_dimension(metric: str, dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    world = public_world(near(rng, (300, dimension), np.float32), near(rng, (4, dimension), np.float32), metric)
    check(search(world.space, world.eligibility, depth=5), by_definition(world, 5, 0.0))


@pytest.mark.parametrize("metric", METRICS)
def test_all_scores_equal_are_all_tied_in_id_order(metric: str) -> None:
    world = public_world(np.full((2000, 5), 0.3, np.float32), np.ones((3, 5), np.float32), metric)
    run = search(world.space, world.eligibility, depth=4, memory_bytes=2**12)
    assert run.document.tolist() == [[0, 1, 2, 3]] * 3
    assert run.tied.tolist() == list(range(4, 2000)) * 3


def test_depth_above_the_eligible_count_and_nobody_eligible() -> None:
    world = some_world("dot", n=50)
    run = search(world.space, world.eligibility, depth=200)
    check(run, by_definition(world, 200, 0.0))
    nobody = World(world.corpus, queries_of([frozenset()] * 30, [()] * 30), world.space, filtered=False)
    empty = search(nobody.space, nobody.eligibility, depth=3)
    assert (empty.document == -1).all()
    assert not empty.eligible.any()
    assert not len(empty.tied)


def test_no_documents_with_vectors_and_no_queries() -> None:
    world = some_world("cosine", n=20)
    bare = Space(world.space.contract, Vectors(world.space.documents.array, np.full(20, -1)), world.space.queries)
    run = search(bare, world.eligibility, depth=3)
    assert (run.document == -1).all()
    assert run.eligible.any(), "without a vector a document stays eligible"
    silent = Space(world.space.contract, world.space.documents, Vectors(world.space.queries.array, np.full(30, -1)))
    missed = search(silent, world.eligibility, depth=3)
    assert missed.failed == dict.fromkeys(range(30), "the query has no vector")


@pytest.mark.parametrize("metric", METRICS)
def test_denormals_are_bounded_and_ranked(metric: str) -> None:
    rng = np.random.default_rng(9)
    tiny = (rng.integers(1, 50, (400, 12)) * np.float32(1e-45)).astype(np.float32)
    world = public_world(tiny, tiny[:5] * np.float32(3), metric)
    check(search(world.space, world.eligibility, depth=6), by_definition(world, 6, 0.0))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("power", [-250, 250])
def test_float64_vectors_that_no_bound_reaches_are_scored_exactly(metric: str, power: int) -> None:
    rng = np.random.default_rng(9)
    vectors = near(rng, (200, 6), np.float64)
    vectors[::3] *= 10.0**power
    world = public_world(vectors, near(rng, (3, 6), np.float64), metric)
    check(search(world.space, world.eligibility, depth=6), by_definition(world, 6, 0.0))


def poisoned(value: float, way: str, monkeypatch: pytest.MonkeyPatch, metric: str) -> tuple[object, object]:
    """One run as it is and one with every vector that no query may read replaced."""
    monkeypatch.setattr(plan, "cheapest", lambda costs: way)
    world = some_world(metric, n=1500)
    forbidden = np.array([not set(acl) & {f"g{i}" for i in range(5)} for acl in world.corpus.table["acl"].to_pylist()])
    closed = queries_of([frozenset({"g1"})] * 30, [()] * 30)
    mine = World(world.corpus, closed, world.space, filtered=False)
    forbidden = np.array(["g1" not in acl for acl in world.corpus.table["acl"].to_pylist()])
    changed = world.space.documents.array.copy()
    changed[forbidden] = value if np.isscalar(value) else world.space.queries.array[0]
    other = Space(world.space.contract, Vectors(changed, world.space.documents.row), world.space.queries)
    return search(world.space, mine.eligibility, depth=8), search(other, mine.eligibility, depth=8)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", [np.nan, np.inf, 3e38, 0.0, None])
def test_a_forbidden_row_changes_no_bit_whatever_it_holds(
    value: float | None, way: str, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, other = poisoned(value, way, monkeypatch, metric)
    assert same(plain, other)
    assert plain.proof.epsilon == other.proof.epsilon
    assert plain.proof.rescored == other.proof.rescored


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", [np.nan, 3e38, None])
def test_a_row_that_one_principal_may_read_changes_no_bit_for_another(
    value: float | None, way: str, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "cheapest", lambda costs: way)
    world = some_world(metric, n=1500)
    mixed = queries_of([frozenset({"g1"} if i % 2 else {"g1", "g2", "g6"}) for i in range(30)], [()] * 30)
    mine = World(world.corpus, mixed, world.space, filtered=False)
    changed = world.space.documents.array.copy()
    changed[["g1" not in acl for acl in world.corpus.table["acl"].to_pylist()]] = (
        world.space.queries.array[0] if value is None else value
    )
    other = Space(world.space.contract, Vectors(changed, world.space.documents.row), world.space.queries)
    plain, moved = search(world.space, mine.eligibility, depth=8), search(other, mine.eligibility, depth=8)
    assert plain.document[1::2].tobytes() == moved.document[1::2].tobytes()
    assert plain.score[1::2].tobytes() == moved.score[1::2].tobytes()


def test_a_document_that_two_groups_reach_is_one_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "cheapest", lambda costs: "each group")
    world = some_world("cosine", n=700)
    both = World(world.corpus, queries_of([frozenset({"g0", "g1", "g2"})] * 30, [()] * 30), world.space, filtered=False)
    run = search(both.space, both.eligibility, depth=50)
    assert all(len(set(hits)) == 50 for hits in run.document.tolist())
    check(run, by_definition(both, 50, 0.0))


def test_a_broken_matrix_product_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiepoint.errors import CannotRun
    from tiepoint.search.first_pass import Float32Pass

    world = some_world("cosine", n=300)
    right = Float32Pass.keys

    def wrong(self: Float32Pass, asked: object, block: object, out: np.ndarray, scratch: object) -> None:
        right(self, asked, block, out, scratch)
        out[:, 0] += 0.25

    monkeypatch.setattr(Float32Pass, "keys", wrong)
    with pytest.raises(CannotRun, match="error bound"):
        search(world.space, world.eligibility, depth=200)


def test_ranges_of_queries_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    world = some_world("dot")
    plain = search(world.space, world.eligibility, depth=9)
    monkeypatch.setattr(exact, "MOST_QUERIES", 7)
    assert same(plain, search(world.space, world.eligibility, depth=9, threads=2))


@pytest.mark.parametrize("memory", [2**22, 2**25])
def test_what_the_search_holds_stays_within_its_setting(memory: int) -> None:
    rng = np.random.default_rng(3)
    documents = rng.standard_normal((60_000, 16)).astype(np.float32)
    world = public_world(documents, rng.standard_normal((400, 16)).astype(np.float32), "cosine")
    eligibility, prepared = world.eligibility, Prepared.of(world.space)
    tracemalloc.start()
    search(world.space, eligibility, depth=20, memory_bytes=memory, prepared=prepared)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Besides: a few numbers for each document, and the result with what it is made from.
    assert peak <= memory + 48 * 60_000 + 150 * 400 * 20
