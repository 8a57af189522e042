"""What the decision rule is given: the measured candidates on the queries that decide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.result import CandidateResult
from tiepoint.core.study import Study
from tiepoint.decide import Arm, Evidence
from tiepoint.errors import InputError
from tiepoint.measures import parse
from tiepoint.measures.graded import UNJUDGED
from tiepoint.measures.measure import Column
from tiepoint.workflows.figures import ArmRun, Measured
from tiepoint.workflows.slices import Slice, scored

TEST = "test"


def evidence(
    study: Study,
    arms: Sequence[ArmRun],
    bm25: ArmRun,
    results: Sequence[CandidateResult],
    costs: Mapping[str, Mapping[str, float | None]],
    parts: Sequence[Slice],
) -> Evidence:
    """The rule's measure of every measured candidate, on the queries of the rule's slice that are scored.

    Rankings made elsewhere are no candidates of the rule: they have no costs, and stand beside like BM25.
    Where the study names splits, only the test split decides. On a pooled study whose arms differ in how much of their
    rankings was judged, an arm's values also range over all that its unjudged hits could be, and at its smallest the other
    arms' unjudged hits are relevant documents that it does not find.
    """
    part = next(p for p in parts if p.name == study.rule.slice)
    split, chosen = deciding_split(study), deciding(study, part)
    name = study.rule.measure
    measure = parse(name)
    if not measure.kind.decides or (measure.kind.pooled and study.rule.confidence != "point"):
        raise InputError(f"{name} cannot stand in [decision]", fix='pooled measures need confidence = "point"')
    columns = {arm.id: arm.views[part.view.name].columns[name].take(chosen) for arm in [*arms, bm25]}
    defined = np.flatnonzero(columns[bm25.id].defined)
    rivals = [arm for arm in arms if arm.id in costs]
    side_by_side = [arm.views[part.view.name] for arm in rivals]
    questioned = side_by_side if unjudged_in_question(study, side_by_side, chosen) else ()
    return Evidence(
        arms=[_arm(arm, costs[arm.id], part, name, chosen[defined], questioned) for arm in rivals],
        cluster=study.queries.clusters(chosen[defined]),
        largest=largest_cluster(study, part),
        split=split,
        excluded={r.id: f"{r.status}: {r.reason}" for r in results if r.status != "measured"},
        bm25=columns[bm25.id].mean,
        runs={arm.id: columns[arm.id].mean for arm in arms if arm.id not in costs},
    )


def _arm(
    arm: ArmRun,
    costs: Mapping[str, float | None],
    part: Slice,
    name: str,
    chosen: NDArray[np.int64],
    questioned: Sequence[Measured],
) -> Arm:
    values = value_range(arm.views[part.view.name], name, chosen, questioned=questioned)
    return Arm(id=arm.id, low=values.low, mid=values.mid, high=values.high, costs=costs)


def largest_cluster(study: Study, part: Slice) -> int:
    """Queries of the slice's largest cluster, of whatever split, that any measure may score; at least 1.

    The measures of a study share it: for one that scores fewer of these queries it errs on the safe side.
    """
    asked = part.queries[scored(study, part.view)[part.queries]]
    return int(np.bincount(study.queries.clusters(asked), minlength=1).max(initial=1))


def deciding_split(study: Study) -> str | None:
    """The split whose queries decide; None: the study names none, and all do."""
    return TEST if any(study.queries.split) else None


def deciding(study: Study, part: Slice) -> NDArray[np.int64]:
    """Positions of the queries of a slice that decide."""
    inside = np.ones(len(study.queries), dtype=bool)
    if deciding_split(study) is not None:
        inside = study.queries.in_split(TEST)
    return part.queries[inside[part.queries]]


def unjudged_in_question(study: Study, arms: Sequence[Measured], chosen: NDArray[np.int64]) -> bool:
    """True where the judgements are pooled and these arms differ, in some order of tied documents, in how much was judged."""
    ranges = [measured.judged_ties for measured in arms]
    shares = {_exact_mean(column.take(chosen)) for ties in ranges for column in (ties.smallest, ties.largest)}
    return study.qrels.pooled and len(shares) > 1


def _exact_mean(column: Column) -> tuple[float, float]:
    """The two sums of a mean, exact but for a last rounding: equal where the values are, in whatever order the queries stand."""
    return math.fsum(column.top[column.defined]), math.fsum(column.bottom[column.defined])


@dataclass(frozen=True, slots=True, eq=False)
class ValueRange:
    """(queries,) float64 values of one measure of one arm, see stats.units.ArmValues; NaN nowhere, 0 where undefined."""

    low: NDArray[np.float64]
    mid: NDArray[np.float64]
    high: NDArray[np.float64]


def value_range(
    measured: Measured, name: str, chosen: NDArray[np.int64], *, questioned: Sequence[Measured]
) -> ValueRange:
    """Each query's value over all orders of tied documents, and over all that unjudged hits could be.

    questioned   the arms, this one among them, whose unjudged hits are in question; empty: no unjudged hit is. At its
                 largest an arm's own are of the best grades for it, at its smallest of the worst, and those that only the
                 others may hold are relevant and missed by it
    """
    ties = measured.ties[name]
    low, high = _shares(ties.smallest.take(chosen)), _shares(ties.largest.take(chosen))
    if questioned and measured.tied is not None:
        measure = parse(name)
        missed = measured.graded.missing(_only_others(measured, questioned, measure.cutoff))
        least = measure.over_ties_and_unjudged(measure(missed), missed, measured.tied.at(measure.cutoff)).smallest
        most = measured.unjudged[name].largest
        low, high = np.minimum(low, _shares(least.take(chosen))), np.maximum(high, _shares(most.take(chosen)))
        if any(arm.drowned for arm in questioned):  # such an arm may hold any document that this one misses
            low = np.zeros(len(low))
    return ValueRange(low, _shares(measured.columns[name].take(chosen)), high)


def _only_others(measured: Measured, questioned: Sequence[Measured], k: int) -> NDArray[np.int64]:
    """(queries,) how many unjudged documents may stand in the first k of any of these arms but need not in this one's."""
    width = 1 + max(int(of.max(initial=0)) for arm in questioned for of in (arm.run.document, arm.run.tied))
    others = np.concatenate([_unjudged_keys(arm, k, width, surely=False) for arm in questioned])
    mine = _unjudged_keys(measured, k, width, surely=True)
    return np.bincount(np.setdiff1d(others, mine) // width, minlength=len(measured.run))


def _unjudged_keys(measured: Measured, k: int, width: int, *, surely: bool) -> NDArray[np.int64]:
    """A number for each query and unjudged document that stands in its first k: in every order of tied documents, or in some."""
    if measured.tied is None:
        return np.empty(0, dtype=np.int64)  # the judgements are not pooled: nothing is in question
    run, tied = measured.tied.run_at(k), measured.tied.at(k)
    groups = tied.groups
    stands = np.broadcast_to(np.arange(run.depth) < k, run.document.shape).copy()
    stands[groups.rows] = (groups.start + groups.size <= k) if surely else (groups.start < k)
    query, place = np.nonzero(stands & measured.graded.unjudged(run.depth))
    keys = query * width + run.document[query, place]
    if surely:
        return keys
    # What ties with the last hit may stand in the first k where that hit may.
    owner = np.repeat(np.arange(len(run)), np.diff(run.tied_start))
    reaches = np.zeros(len(run), dtype=bool)
    reaches[groups.rows] = groups.start[np.arange(len(groups.rows)), groups.last] < k
    beyond = (tied.beyond == UNJUDGED) & reaches[owner]
    return np.concatenate([keys, owner[beyond] * width + run.tied[beyond]])


def _shares(column: Column) -> NDArray[np.float64]:
    """Each query's part of the mean times the number of queries: the values themselves where every query weighs 1."""
    total = column.bottom.sum()
    return column.top * len(column.top) / total if total else column.top
