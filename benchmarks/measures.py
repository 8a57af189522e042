"""Measures of 10,000 rankings of 100 hits under 1M judgements, against pytrec_eval with its dictionaries.

`python -m benchmarks.measures` prints each step of both, the ratio, and the largest difference of any value of any query.
Ours starts from the columns that a run and its judgements are held in, pytrec_eval's from the dictionaries it asks for, made
here from arrays of ids. Processor time in one thread, the median of a few calls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytrec_eval
from numpy.typing import NDArray

from benchmarks.timing import seconds
from tiepoint.core.qrels import Qrels
from tiepoint.core.run import Run
from tiepoint.measures import parse
from tiepoint.measures.graded import GradedRun
from tiepoint.measures.measure import Column
from tiepoint.measures.ties import TiedRun, TieGroups

QUERIES, DOCUMENTS, DEPTH, JUDGED = 10_000, 100_000, 100, 100
MEASURES = {
    "nDCG(gain=linear)@10": "ndcg_cut_10",
    "recall@100": "recall_100",
    "P@10": "P_10",
    "AP@100": "map_cut_100",
    "RR@100": "recip_rank",
    "Success@10": "success_10",
}


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Judgements and a ranking of each query: (queries, depth) documents, best first, with falling scores."""

    ranked: NDArray[np.int32]
    score: NDArray[np.float64]
    judged: NDArray[np.int64]
    grade: NDArray[np.int8]

    @classmethod
    def of(cls, *, distinct: bool) -> Workload:
        """Half of what is judged is ranked, mixed among the rest. distinct: False rounds scores, so that most tie."""
        rng = np.random.default_rng(2)
        drawn = np.stack([rng.choice(DOCUMENTS, DEPTH + JUDGED // 2, replace=False) for _ in range(QUERIES)])
        judged = np.sort(drawn[:, -JUDGED:], axis=1)
        ranked = rng.permuted(drawn[:, :DEPTH], axis=1).astype(np.int32)
        # Apart in float32, which is what pytrec_eval keeps.
        score = np.sort(
            rng.permuted(np.tile(np.arange(1, 4 * DEPTH + 1) / (4 * DEPTH), (QUERIES, 1)), axis=1)[:, :DEPTH]
        )
        score = np.ascontiguousarray(score[:, ::-1]) if distinct else np.round(score[:, ::-1], 2)
        if not distinct:
            ranked = np.take_along_axis(ranked, np.lexsort((ranked, -score), axis=1), axis=1)
        return cls(ranked, score, judged, rng.integers(0, 4, size=judged.shape).astype(np.int8))

    @property
    def run(self) -> Run:
        empty = np.zeros(QUERIES + 1, dtype=np.int64)
        return Run(self.ranked, self.score, np.full(QUERIES, DOCUMENTS), empty, np.empty(0, dtype=np.int32), 0.0, {})

    @property
    def qrels(self) -> Qrels:
        return Qrels(np.arange(QUERIES + 1) * JUDGED, self.judged.ravel(), (), self.grade.ravel())


def ours(workload: Workload) -> dict[str, Column]:
    """Every measure of every query, from the columns."""
    graded = GradedRun.of(workload.run, workload.qrels, np.ones(workload.grade.size, dtype=bool))
    return {name: parse(name)(graded) for name in MEASURES}


def ranges(workload: Workload) -> None:
    """Every measure with its range over ties and over what unjudged hits could be."""
    run, qrels = workload.run, workload.qrels
    graded = GradedRun.of(run, qrels, np.ones(workload.grade.size, dtype=bool))
    tied = TiedRun.of(graded, TieGroups.of(run), run, qrels)
    for name in MEASURES:
        measure = parse(name)
        measure.over_ties(measure(graded), tied)
        measure.over_unjudged(graded)


def dictionaries(workload: Workload, names: list[str]) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """What pytrec_eval asks for. names: the documents' ids, made beforehand."""
    judged, grade = workload.judged.tolist(), workload.grade.tolist()
    ranked, score = workload.ranked.tolist(), workload.score.tolist()
    qrels = {str(q): {names[d]: g for d, g in zip(judged[q], grade[q], strict=True)} for q in range(QUERIES)}
    run = {str(q): {names[d]: s for d, s in zip(ranked[q], score[q], strict=True)} for q in range(QUERIES)}
    return qrels, run


def evaluated(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """pytrec_eval's values."""
    asked = {name.replace("_1", ".1") if name[-1] == "0" else name for name in MEASURES.values()}
    return pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)


def difference(workload: Workload, names: list[str]) -> float:
    """The largest difference of any value of any query."""
    columns, peer = ours(workload), evaluated(*dictionaries(workload, names))
    return max(
        float(np.abs(column.values - [peer[str(q)][MEASURES[name]] for q in range(QUERIES)]).max())
        for name, column in columns.items()
    )


def main() -> None:
    """Print the table."""
    distinct, tied = Workload.of(distinct=True), Workload.of(distinct=False)
    names = [f"d{d}" for d in range(DOCUMENTS)]
    made = dictionaries(distinct, names)
    building, evaluating = seconds(lambda: dictionaries(distinct, names)), seconds(lambda: evaluated(*made))
    mine = seconds(lambda: ours(distinct))
    apart = difference(distinct, names)
    print(f"{QUERIES:,} queries x {DEPTH} hits, {distinct.grade.size:,} judgements, {len(MEASURES)} measures; seconds")
    print("| work | seconds |\n|---|---:|")
    print(f"| pytrec_eval, building its dictionaries | {building:.3f} |")
    print(f"| pytrec_eval, evaluating | {evaluating:.3f} |")
    print(f"| tiepoint, from columns | {mine:.3f} |")
    print(f"| tiepoint, with every range, hardly any tie | {seconds(lambda: ranges(distinct)):.3f} |")
    print(f"| tiepoint, with every range, nearly every query with ties | {seconds(lambda: ranges(tied)):.3f} |")
    print(
        f"pytrec_eval / tiepoint: {(building + evaluating) / mine:.1f} end to end, {evaluating / mine:.1f} evaluating alone"
    )
    print(f"largest difference of a value: {apart:.1e}")
    if apart > 1e-12:
        raise SystemExit("the two do not agree")


if __name__ == "__main__":
    main()
