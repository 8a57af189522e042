"""Run every benchmark and print one table: how much longer (or shorter) than its peer, and what the two disagree on."""

from __future__ import annotations

import numpy as np
import pytrec_eval
from scipy import stats

from benchmarks.timing import seconds
from tiepoint.core.qrels import Qrels
from tiepoint.core.run import Run
from tiepoint.measures import parse
from tiepoint.measures.graded import GradedRun
from tiepoint.search.score import score
from tiepoint.stats.interval import bca
from tiepoint.stats.resample import RESAMPLES, Draws, stream


def exact_scores() -> tuple[str, str, float, str]:
    """Scores in the fixed order against numpy's matrix product in float64."""
    rng = np.random.default_rng(1)
    documents = rng.standard_normal((20_000, 384)).astype(np.float32)
    queries = rng.standard_normal((50, 384)).astype(np.float32)
    ours = seconds(lambda: score(queries, documents, "dot"))
    theirs = seconds(lambda: queries.astype(np.float64) @ documents.T.astype(np.float64))
    moved = np.abs(score(queries, documents, "dot") - queries.astype(np.float64) @ documents.T.astype(np.float64)).max()
    return (
        "fixed-order scores, 50 x 20,000 x 384",
        "numpy float64 matrix product",
        ours / theirs,
        f"largest difference {moved:.1e}",
    )


def measures() -> tuple[str, str, float, str]:
    """nDCG@10 and recall@10 of 2,000 rankings of 100 against pytrec_eval, dictionaries included."""
    rng = np.random.default_rng(2)
    queries, documents, depth, judged = 2_000, 5_000, 100, 50
    ranked = np.stack([rng.choice(documents, depth, replace=False) for _ in range(queries)]).astype(np.int32)
    chosen = np.stack([rng.choice(documents, judged, replace=False) for _ in range(queries)])
    grades = rng.integers(0, 2, size=chosen.shape).astype(np.int8)
    score_of = np.broadcast_to(np.arange(depth, 0, -1.0), ranked.shape)
    start = np.arange(queries + 1) * judged
    order = np.argsort(chosen, axis=1)
    qrels = Qrels(start, np.take_along_axis(chosen, order, 1).ravel(), (), np.take_along_axis(grades, order, 1).ravel())
    empty = np.zeros(queries + 1, dtype=np.int64)
    run = Run(ranked, score_of, np.full(queries, documents), empty, np.empty(0, dtype=np.int32), 0.0, {})

    def ours() -> list[np.ndarray]:
        graded = GradedRun.of(run, qrels, np.ones(len(qrels.grade), dtype=bool))
        return [parse(name)(graded).values for name in ("nDCG@10", "recall@10")]

    def theirs() -> dict[str, dict[str, float]]:
        judgements = {str(q): dict(zip(map(str, chosen[q]), map(int, grades[q]), strict=True)) for q in range(queries)}
        rankings = {str(q): dict(zip(map(str, ranked[q]), score_of[q].tolist(), strict=True)) for q in range(queries)}
        return pytrec_eval.RelevanceEvaluator(judgements, {"ndcg_cut.10", "recall.10"}).evaluate(rankings)

    found, peer = ours(), theirs()
    gap = max(abs(found[0][q] - peer[str(q)]["ndcg_cut_10"]) for q in range(queries) if not np.isnan(found[0][q]))
    ratio = seconds(ours) / seconds(theirs)
    return (
        "nDCG@10 and recall@10, 2,000 queries",
        "pytrec_eval with its dictionaries",
        ratio,
        f"largest difference {gap:.1e}",
    )


def intervals() -> tuple[str, str, float, str]:
    """BCa intervals of 20 columns over 300 queries against scipy, column by column."""
    values = np.random.default_rng(3).random((300, 20))
    ones = np.ones_like(values)
    ours = seconds(lambda: bca(values, ones, level=0.95, draws=Draws(stream(1))))

    def theirs() -> list[object]:
        options = {"n_resamples": RESAMPLES, "method": "BCa", "rng": np.random.default_rng(1)}
        return [
            stats.bootstrap((values[:, c],), np.mean, **options).confidence_interval for c in range(values.shape[1])
        ]

    low, _ = bca(values, ones, level=0.95, draws=Draws(stream(1)))
    gap = max(abs(low[c] - found.low) for c, found in enumerate(theirs()))
    return (
        "BCa intervals, 20 columns of 300",
        "scipy.stats.bootstrap",
        ours / seconds(theirs),
        f"largest difference {gap:.1e}",
    )


def main() -> None:
    """Print the table."""
    print("| work | peer | processor time, ours / peer | agreement |\n|---|---|---:|---|")
    for benchmark in (exact_scores, measures, intervals):
        work, peer, ratio, agreement = benchmark()
        print(f"| {work} | {peer} | {ratio:.2f} | {agreement} |")


if __name__ == "__main__":
    main()
