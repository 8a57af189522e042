"""The exact search against a plain float64 loop, with many ties, three metrics, regions and groups."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiepoint.core.contract import Contract
from tiepoint.core.corpus import Corpus
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.core.space import Space, Vectors
from tiepoint.search import score as score_module
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.exact import search
from tiepoint.search.score import score

GROUPS = ("ecology", "heritage", "planning")
REGIONS = ("Allendale", "Alston Moor", "Weardale")


def contract(metric: str, dimension: int) -> Contract:
    return Contract(
        space_id="s",
        provider="test",
        model="m",
        revision="1",
        dimension=dimension,
        metric=metric,
        normalized=False,
        dtype="float32",
        query_role="query",
        document_role="document",
    )


def queries_of(groups: list[frozenset[str]], regions: list[tuple[str, ...]]) -> Queries:
    n = len(groups)
    return Queries(
        ids=tuple(f"q{i:03d}" for i in range(n)),
        texts=("?",) * n,
        groups=tuple(groups),
        regions=tuple(regions),
        subgroups=((),) * n,
        rare=np.zeros(n, dtype=bool),
        no_answer=np.zeros(n, dtype=bool),
        split=(None,) * n,
        cluster=tuple(f"q{i:03d}" for i in range(n)),
        provenance=("unknown",) * n,
    )


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Corpus, Queries, Space, bool]:
    """A small corpus of small whole-number vectors: every sum is exact, so ties are real and many."""
    dimension = draw(st.integers(1, 11))
    documents, queries = draw(st.integers(1, 14)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    metric = draw(st.sampled_from(["cosine", "dot", "euclidean"]))
    vectors = rng.integers(-2, 3, size=(documents + queries, dimension)).astype(np.float32)
    vectors[~vectors.any(axis=1), 0] = 1
    public = draw(st.booleans())

    def some(names: tuple[str, ...]) -> list[str]:
        return [name for name in names if rng.random() < 0.5]

    corpus = Corpus.from_columns(
        [f"d{i:02d}" for i in rng.permutation(documents)],
        ["text"] * documents,
        acl=None if public else [some(GROUPS) for _ in range(documents)],
        regions=[some(REGIONS) for _ in range(documents)],
    )
    asked = queries_of(
        [frozenset(some(GROUPS)) for _ in range(queries)], [tuple(some(REGIONS)) for _ in range(queries)]
    )
    row = rng.permutation(documents)
    row[rng.random(documents) < 0.1] = -1
    space = Space(
        contract(metric, dimension),
        Vectors(vectors[:documents], row.astype(np.int64)),
        Vectors(vectors[documents:], np.arange(queries)),
    )
    return corpus, asked, space, draw(st.booleans())


def plain_score(q: np.ndarray, d: np.ndarray, metric: str) -> float:
    if metric == "euclidean":
        return -math.sqrt(sum((float(a) - float(b)) ** 2 for a, b in zip(q, d, strict=True)))
    dot = sum(float(a) * float(b) for a, b in zip(q, d, strict=True))
    if metric == "dot":
        return dot
    return dot / (math.sqrt(sum(float(a) ** 2 for a in q)) * math.sqrt(sum(float(b) ** 2 for b in d)))


def plain_ranking(
    corpus: Corpus, queries: Queries, space: Space, i: int, *, filtered: bool
) -> tuple[list[tuple[str, float]], int]:
    """What the definition says, one document at a time."""
    hits, eligible = [], 0
    for n, document in enumerate(corpus.table.to_pylist()):
        if not corpus.public and not set(document["acl"]) & queries.groups[i]:
            continue
        if filtered and queries.regions[i] and not set(document["regions"]) & set(queries.regions[i]):
            continue
        eligible += 1
        if space.documents.row[n] >= 0:
            d = space.documents.array[space.documents.row[n]]
            hits.append((document["id"], plain_score(space.queries.array[i], d, space.contract.metric)))
    return sorted(hits, key=lambda hit: (-hit[1], hit[0].encode())), eligible


@settings(max_examples=150, deadline=None)
@given(world=worlds(), depth=st.integers(1, 16))
def test_search_equals_a_plain_loop_with_ties_regions_and_groups(
    world: tuple[Corpus, Queries, Space, bool], depth: int
) -> None:
    corpus, queries, space, filtered = world
    regions = Regions(names=frozenset(REGIONS))
    run = search(space, Eligibility.of(corpus, queries, regions, filtered=filtered), depth=depth)
    ids = corpus.ids
    for i in range(len(queries)):
        expected, eligible = plain_ranking(corpus, queries, space, i, filtered=filtered)
        hits = [(ids[d], s) for d, s in zip(run.document[i], run.score[i], strict=True) if d >= 0]
        assert hits == expected[:depth]
        assert run.eligible[i] == eligible
        beyond = [ids[d] for d in run.tied[run.tied_start[i] : run.tied_start[i + 1]]]
        last = expected[depth - 1][1] if len(expected) >= depth else None
        assert beyond == [d for d, s in expected[depth:] if s == last]


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_score_does_not_depend_on_block_size_order_or_neighbours(
    metric: str, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    documents = rng.standard_normal((300, 37)).astype(dtype)
    queries = rng.standard_normal((5, 37)).astype(dtype)
    whole = score(queries, documents, metric)
    order = rng.permutation(len(documents))
    assert np.array_equal(score(queries, documents[order], metric), whole[:, order])
    assert np.array_equal(score(queries[2:3], documents, metric), whole[2:3])
    monkeypatch.setattr(score_module, "BLOCK", 7)
    assert np.array_equal(score(queries, documents, metric), whole)
    exact = [[plain_score(q.astype(float), d.astype(float), metric) for d in documents] for q in queries]
    assert np.allclose(whole, exact, rtol=1e-12, atol=1e-12)


def test_equal_rows_get_equal_scores_wherever_they_stand() -> None:
    rng = np.random.default_rng(3)
    row = rng.standard_normal(384).astype(np.float32)
    documents = np.concatenate([rng.standard_normal((5000, 384)).astype(np.float32), row[None]])
    documents[[17, 2047, 2048, 4100]] = row
    scores = score(rng.standard_normal((1, 384)).astype(np.float32), documents, "cosine")
    assert len(set(scores[0, [17, 2047, 2048, 4100, 5000]])) == 1


def test_a_forbidden_document_changes_no_bit_of_a_ranking() -> None:
    rng = np.random.default_rng(5)
    documents = rng.standard_normal((40, 16)).astype(np.float32)
    acl = [["planning"] if i % 2 else ["heritage"] for i in range(40)]
    corpus = Corpus.from_columns([f"d{i:02d}" for i in range(40)], ["t"] * 40, acl=acl)
    queries = queries_of([frozenset({"planning"}), frozenset()], [(), ()])
    asked = Vectors(rng.standard_normal((2, 16)).astype(np.float32), np.arange(2))

    def run_with(forbidden: float) -> tuple[np.ndarray, np.ndarray]:
        changed = documents.copy()
        changed[::2] = forbidden
        space = Space(contract("cosine", 16), Vectors(changed, np.arange(40)), asked)
        run = search(space, Eligibility.of(corpus, queries, Regions(frozenset()), filtered=False), depth=10)
        return run.document, run.score

    document, scores = run_with(1.0)
    assert (document[0] % 2 == 1).all()
    assert (document[1] == -1).all(), "no groups means no results"
    for value in (np.nan, np.inf, 1e30):
        assert np.array_equal(run_with(value)[0], document)
        assert np.array_equal(run_with(value)[1], scores)


def test_regions_admit_what_lies_under_them() -> None:
    regions = Regions(
        names=frozenset({"Durham", "Teesdale", "Weardale", "Kent"}),
        parents={"Teesdale": "Durham", "Weardale": "Durham"},
        aliases={"Co. Durham": "Durham"},
    )
    assert regions.under([regions.canonical("Co. Durham")]) == {"Durham", "Teesdale", "Weardale"}
    assert regions.under(["Teesdale"]) == {"Teesdale"}
    assert regions.canonical("Cornwall") is None
    assert Regions(frozenset("ab"), parents={"a": "b", "b": "a"}).circle() == ["a", "b"]
