"""Made spaces for the exact search, and what the definition says of them: every pair scored, one query at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from test_search import GROUPS, REGIONS, contract, queries_of
from tiepoint.core.corpus import Corpus
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.core.run import Run
from tiepoint.core.space import Space, Vectors
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.score import score

METRICS = ["cosine", "dot", "euclidean"]
KNOWN = Regions(frozenset(REGIONS))


@dataclass
class World:
    corpus: Corpus
    queries: Queries
    space: Space
    filtered: bool = True

    @property
    def eligibility(self) -> Eligibility:
        return Eligibility.of(self.corpus, self.queries, KNOWN, filtered=self.filtered)


def near(rng: np.random.Generator, shape: tuple[int, int], dtype: type) -> np.ndarray:
    """Rows around a few centres: copies, copies one unit in the last place off in one column, and others further off."""
    centres = rng.standard_normal((3, shape[1]))
    rows = centres[rng.integers(0, 3, shape[0])].astype(dtype)
    if dtype is not np.float16:
        one = rng.random(shape[0]) < 0.5
        column = rng.integers(0, shape[1], shape[0])
        moved = np.nextafter(rows[np.arange(shape[0]), column], dtype(rng.choice([-np.inf, np.inf])))
        rows[one, column[one]] = moved[one]
    far = rng.random(shape[0]) < 0.3
    rows[far] += rng.standard_normal((int(far.sum()), shape[1])).astype(dtype)
    return rows


@st.composite
def worlds(draw: st.DrawFn, *, parents: bool | None = None) -> World:
    """Any eligibility, metric, type and scale, with near ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m, d = draw(st.integers(1, 60)), draw(st.integers(1, 6)), draw(st.sampled_from([1, 2, 7, 8, 9, 33]))
    metric, dtype = draw(st.sampled_from(METRICS)), draw(st.sampled_from([np.float16, np.float32, np.float64]))
    vectors = near(rng, (n + m, d), dtype)
    scale = 0 if dtype is np.float16 else draw(st.sampled_from([0, 0, 0, -30, 30]))
    if scale and draw(st.booleans()):
        vectors = vectors * (10.0 ** (rng.choice([-30, 0, 30], (n + m, 1)))).astype(dtype)
    elif scale:
        vectors = vectors * dtype(10.0**scale)
    if metric == "cosine":
        vectors[~vectors.any(axis=1), 0] = 1
    public = draw(st.booleans())
    nested = draw(st.booleans()) if parents is None else parents
    skewed = draw(st.booleans())

    def some(names: tuple[str, ...], p: float = 0.5) -> list[str]:
        return [name for name in names if rng.random() < p]

    ids = [f"d{i:02d}" for i in range(n)]
    above = [f"d{rng.integers(max(1, n // 4)):02d}" if rng.random() < 0.5 else f"p{rng.integers(3)}" for _ in ids]
    everywhere = ["all"] if skewed else []
    corpus = Corpus.from_columns(
        ids,
        ["t"] * n,
        acl=None if public else [everywhere + some(GROUPS) for _ in ids],
        regions=[some(REGIONS) for _ in ids],
        parents=above if nested else None,
    )
    queries = queries_of(
        [frozenset(some(GROUPS) + (["all"] if skewed and rng.random() < 0.5 else [])) for _ in range(m)],
        [tuple(some(REGIONS, 0.4)) for _ in range(m)],
    )
    if draw(st.booleans()):
        queries = leaving_out(
            queries, [None if rng.random() < 0.5 else f"d{rng.integers(n + 1):02d}" for _ in range(m)]
        )
    row = rng.permutation(n)
    row[rng.random(n) < 0.1] = -1
    asked = np.where(rng.random(m) < 0.1, -1, np.arange(m))
    space = Space(contract(metric, d), Vectors(vectors[:n], row), Vectors(vectors[n:], asked))
    return World(corpus, queries, space, draw(st.booleans()))


def leaving_out(queries: Queries, exclude: list[str | None]) -> Queries:
    return Queries(**{**{f: getattr(queries, f) for f in queries.__slots__}, "exclude": tuple(exclude)})


def public_world(documents: np.ndarray, queries: np.ndarray, metric: str) -> World:
    """Everybody may read everything; documents and queries in the order of their vectors."""
    n, m = len(documents), len(queries)
    return World(
        Corpus.from_columns([f"d{i:06d}" for i in range(n)], ["t"] * n),
        queries_of([frozenset()] * m, [()] * m),
        Space(contract(metric, documents.shape[1]), Vectors(documents, np.arange(n)), Vectors(queries, np.arange(m))),
        filtered=False,
    )


def by_definition(world: World, depth: int, tolerance: float) -> list[tuple[list[tuple[int, float]], set[int], int]]:
    """For each query its hits (unit and score), the units beyond depth that tie with the last, and how many are eligible."""
    corpus, space = world.corpus, world.space
    rows, units = corpus.table.to_pylist(), corpus.units
    own = {row["id"]: n for n, row in enumerate(rows)}
    with np.errstate(all="ignore"):
        scores = score(space.queries.array, space.documents.array, space.contract.metric)
    result = []
    for q in range(len(world.queries)):
        may = [corpus.public or bool(set(row["acl"]) & world.queries.groups[q]) for row in rows]
        wanted = set(world.queries.regions[q]) if world.filtered else set()
        left_out = world.queries.exclude[q] if world.queries.exclude else None
        best: dict[int, float] = {}
        eligible = set()
        for n, row in enumerate(rows):
            unit = int(units.of_row[n])
            name = units.ids[unit]
            opened = (
                may[own[name]] if name in own else all(m for m, u in zip(may, units.of_row, strict=True) if u == unit)
            )
            if not (may[n] and opened and name != left_out and (not wanted or wanted & set(row["regions"]))):
                continue
            eligible.add(unit)
            vector = space.documents.row[n]
            found = scores[space.queries.row[q], vector] if vector >= 0 and space.queries.row[q] >= 0 else -np.inf
            if found > best.get(unit, -np.inf):
                best[unit] = float(found)
        ordered = sorted(best.items(), key=lambda hit: (-hit[1], units.ids[hit[0]].encode()))
        result.append((ordered[:depth], _ties(ordered, depth, tolerance), len(eligible)))
    return result


def _ties(ordered: list[tuple[int, float]], depth: int, tolerance: float) -> set[int]:
    if len(ordered) <= depth:
        return set()
    head = 0
    for i in range(1, depth):
        if ordered[head][1] - ordered[i][1] > tolerance:
            head = i
    beyond = set()
    for unit, found in ordered[depth:]:
        if ordered[head][1] - found > tolerance:
            break
        beyond.add(unit)
    return beyond


def check(run: Run, expected: list[tuple[list[tuple[int, float]], set[int], int]]) -> None:
    """The run is the definition's, to the last bit."""
    for q, (hits, beyond, eligible) in enumerate(expected):
        found = [(int(d), float(s)) for d, s in zip(run.document[q], run.score[q], strict=True) if d >= 0]
        assert found == hits
        assert set(run.tied[run.tied_start[q] : run.tied_start[q + 1]].tolist()) == beyond
        assert run.eligible[q] == eligible


def same(one: Run, other: Run) -> bool:
    """Bit for bit."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
        and getattr(one, name).tobytes() == getattr(other, name).tobytes()
        for name in ("document", "score", "eligible", "tied_start", "tied")
    )
