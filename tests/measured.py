"""Rankings and judgements in columns, from plain lists; and every measure of one query in a plain loop over its definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import strategies as st

from tiepoint.core.qrels import Qrels
from tiepoint.core.run import Run
from tiepoint.measures import kinds
from tiepoint.measures.graded import GradedRun
from tiepoint.measures.ties import TiedRun, TieGroups

Hits = list[tuple[int, float]]
"""Of one query: (document, score)."""
NAMES = [
    f"{kind.name}({key}={value})" if value != values[0] else kind.name
    for kind in kinds().values()
    for key, values in (kind.options or {"": ("",)}).items()
    for value in values
]
"""Every measure with every value of its options, without cut-off."""


def groups_of(hits: Hits, tolerance: float = 0.0) -> Iterator[list[int]]:
    """Tied documents together, best first: what lies within the tolerance of the first of a group."""
    group: Hits = []
    for hit in sorted(hits, key=lambda hit: (-hit[1], hit[0])):
        if group and group[0][1] - hit[1] > tolerance:
            yield [d for d, _ in group]
            group = []
        group.append(hit)
    if group:
        yield [d for d, _ in group]


def run_of(rankings: Sequence[Hits], depth: int, documents: int, *, tolerance: float = 0.0) -> Run:
    """Rankings of (row, score) as the search gives them: by score descending, then row; ties beyond depth kept."""
    document = np.full((len(rankings), depth), -1, dtype=np.int32)
    score = np.full((len(rankings), depth), -np.inf)
    tied = []
    for i, hits in enumerate(rankings):
        ordered = sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        for place, (row, value) in enumerate(ordered[:depth]):
            document[i, place], score[i, place] = row, value
        inside = [d for d, _ in ordered[:depth]]
        last = next((g for g in groups_of(hits, tolerance) if inside and inside[-1] in g), [])
        tied.append([d for d in last if d not in inside])
    return Run(
        document=document,
        score=score,
        eligible=np.full(len(rankings), documents),
        tied_start=np.cumsum([0, *map(len, tied)]),
        tied=np.array(list(itertools.chain(*tied)), dtype=np.int32),
        tolerance=tolerance,
        failed={},
    )


def qrels_of(grades: Sequence[dict[int, int]], documents: int) -> Qrels:
    rows = [(f"q{i}", f"d{d:03d}", g) for i, judged in enumerate(grades) for d, g in judged.items()]
    return Qrels.from_rows(
        rows, query_ids=[f"q{i}" for i in range(len(grades))], document_ids=[f"d{d:03d}" for d in range(documents)]
    )


def everything(qrels: Qrels) -> np.ndarray:
    return np.ones(len(qrels), dtype=bool)


def graded_of(ranking: Sequence[int], judged: dict[int, int], depth: int | None = None) -> GradedRun:
    """One ranking of documents by falling score, with its judgements; everything counts."""
    documents = max([*ranking, *judged]) + 1
    hits = [(row, float(len(ranking) - place)) for place, row in enumerate(ranking)]
    qrels = qrels_of([judged], documents)
    return GradedRun.of(run_of([hits], depth or len(ranking), documents), qrels, everything(qrels))


def tied_of(run: Run, qrels: Qrels) -> tuple[GradedRun, TiedRun]:
    graded = GradedRun.of(run, qrels, everything(qrels))
    return graded, TiedRun.of(graded, TieGroups.of(run), run, qrels)


def plain(name: str, k: int, grades: Sequence[int | None], relevant: Sequence[int]) -> float | None:
    """A measure of one query from the grades of its hits (None: unjudged) and of all its judged documents."""
    kind, _, option = name.rstrip(")").partition("(")
    rel = int(option.partition("=")[2]) if option.startswith("rel") else 1
    top = list(grades[:k])
    hit = [g is not None and g >= rel for g in top]
    good = sum(g >= rel for g in relevant)
    if kind == "Judged":
        return sum(g is not None for g in top) / len(top) if top and any(g >= 1 for g in relevant) else None
    if kind == "nDCG":
        gain = (lambda g: g) if "linear" in option else (lambda g: 2**g - 1)
        ideal = sum(gain(g) / math.log2(i + 2) for i, g in enumerate(sorted(relevant, reverse=True)[:k]))
        return sum(gain(g or 0) / math.log2(i + 2) for i, g in enumerate(top)) / ideal if ideal else None
    if not good:
        return None
    if kind == "AP":
        return sum(sum(hit[: i + 1]) / (i + 1) for i, h in enumerate(hit) if h) / good
    if kind == "RR":
        return next((1 / (i + 1) for i, h in enumerate(hit) if h), 0.0)
    return {
        "P": sum(hit) / k,
        "recall": sum(hit) / good,
        "pooled_recall": sum(hit) / good,
        "Success": float(any(hit)),
    }[kind]


def orders(hits: Hits, tolerance: float = 0.0) -> Iterator[list[int]]:
    """Every ranking that an order of tied documents allows."""
    for row in itertools.product(*(itertools.permutations(group) for group in groups_of(hits, tolerance))):
        yield list(itertools.chain(*row))


def grades(ranking: Sequence[int], judged: dict[int, int]) -> list[int | None]:
    return [judged.get(d) for d in ranking]


@st.composite
def tied_studies(draw: st.DrawFn) -> tuple[list[Hits], list[dict[int, int]], int, int]:
    """Rankings with few distinct scores, judgements, the number of documents, the depth."""
    documents, queries = draw(st.integers(2, 7)), draw(st.integers(1, 3))
    depth = draw(st.integers(1, 6))
    chosen = st.sets(st.integers(0, documents - 1))
    rankings = [[(d, float(draw(st.integers(0, 3)))) for d in sorted(draw(chosen))] for _ in range(queries)]
    judged = [{d: draw(st.integers(0, 3)) for d in sorted(draw(chosen))} for _ in range(queries)]
    return rankings, judged, documents, depth
