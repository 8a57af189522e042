"""Results of many candidates and queries, made up: their figures say nothing, and their rows are as a benchmark's."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

import tiepoint as tp
from sample import hashing, write_sample
from tiepoint.workflows.tables import GOLD, PER_QUERY, QUERIES, RANKINGS

K = 10
VIEWS = ("unfiltered", "filtered")


@cache
def _small() -> tp.Result:
    with tempfile.TemporaryDirectory() as folder:
        study = tp.load_study(write_sample(Path(folder) / "s", public=True))
        return tp.bench(study, candidates=[hashing(16), hashing(64)])


def wide(queries: int, *, candidates: int = 10) -> tp.Result:
    """A result with so many candidates, beside BM25 and random, and so many queries, in two slices."""
    small, rng = _small(), np.random.default_rng(1)
    arms = [
        replace(small.summary.candidates[0], id=f"candidate-{i}", dimension=64 * (i + 1)) for i in range(candidates)
    ]
    decision = replace(small.summary.decision, measure="nDCG@10", choice=None, point_choice="candidate-0")
    summary = replace(small.summary, candidates=tuple(arms), k=K, measures=("recall@10", "nDCG@10"), decision=decision)
    ids = [arm.id for arm in arms] + ["bm25", "random"]
    names = np.array([f"q{i:05d}" for i in range(queries)], dtype=object)
    per_query, rankings, gold = [], [], []
    for view in VIEWS:
        for arm in ids:
            for measure in summary.measures:
                value = rng.random(queries)
                columns = {
                    "candidate": pa.repeat(arm, queries), "slice": pa.repeat(view, queries), "query": names,
                    "measure": pa.repeat(measure, queries), "value": value, "weight": np.ones(queries),
                    "low": value, "high": value, "unjudged": np.zeros(queries, dtype=bool),
                }  # fmt: skip
                per_query.append(pa.table(columns, schema=PER_QUERY))
            rankings.append(_rankings(arm, view, names, rng))
        gold.append(_gold(view, names, rng))
    rows = {
        "query": names, "cluster": names, "split": pa.nulls(queries, pa.string()), "subgroups": [["a"]] * queries,
        "regions": [["b"]] * queries, "rare": [False] * queries, "no_answer": [False] * queries,
    }  # fmt: skip
    return replace(
        small,
        summary=summary,
        per_query=pa.concat_tables(per_query),
        rankings=pa.concat_tables(rankings),
        gold=pa.concat_tables(gold),
        queries=pa.table(rows, schema=QUERIES),
    )


def _rankings(arm: str, view: str, names: np.ndarray, rng: np.random.Generator) -> pa.Table:
    size = len(names) * K
    columns = {
        "candidate": pa.repeat(arm, size),
        "slice": pa.repeat(view, size),
        "query": np.repeat(names, K),
        "rank": pa.array(np.tile(np.arange(1, K + 1), len(names)), pa.int32()),
        "document": [f"doc-{d:06d}" for d in rng.integers(0, 50_000, size)],
        "score": np.sort(rng.random((len(names), K)))[:, ::-1].ravel(),
        "grade": pa.array(rng.integers(0, 4, size), pa.int8()),
        "shown": pa.repeat(True, size),
    }
    return pa.table(columns, schema=RANKINGS)


def _gold(view: str, names: np.ndarray, rng: np.random.Generator) -> pa.Table:
    size = len(names) * 5
    columns = {
        "slice": pa.repeat(view, size),
        "query": np.repeat(names, 5),
        "document": [f"doc-{d:06d}" for d in rng.integers(0, 50_000, size)],
        "grade": pa.array(rng.integers(1, 4, size), pa.int8()),
        "state": pa.repeat("missed", size),
        "found_by": pa.array([[]] * size, pa.list_(pa.string())),
        "shown": pa.repeat(True, size),
    }
    return pa.table(columns, schema=GOLD)
