"""What the decision rule is given: the measured candidates on the queries that decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.result import CandidateResult
from tiepoint.core.study import Study
from tiepoint.decide import Arm, Evidence
from tiepoint.errors import InputError
from tiepoint.measures import parse
from tiepoint.measures.measure import Column
from tiepoint.workflows.figures import ArmRun, Measured
from tiepoint.workflows.slices import Slice

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
    rankings was judged, an arm's largest value takes every unjudged hit as relevant.
    """
    part = next(p for p in parts if p.name == study.rule.slice)
    split = TEST if any(study.queries.split) else None
    chosen = part.queries
    if split:
        chosen = chosen[study.queries.in_split(TEST)[chosen]]
    name = study.rule.measure
    measure = parse(name)
    if not measure.kind.decides or (measure.kind.pooled and study.rule.confidence != "point"):
        raise InputError(f"{name} cannot stand in [decision]", fix='pooled measures need confidence = "point"')
    columns = {arm.id: arm.views[part.view.name].columns[name].take(chosen) for arm in [*arms, bm25]}
    defined = np.flatnonzero(columns[bm25.id].defined)
    rivals = [arm for arm in arms if arm.id in costs]
    questioned = study.qrels.pooled and _judged_differ(rivals, part, chosen)
    return Evidence(
        arms=[_arm(arm, costs[arm.id], part, name, chosen[defined], questioned=questioned) for arm in rivals],
        cluster=study.queries.clusters(chosen[defined]),
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
    *,
    questioned: bool,
) -> Arm:
    measured: Measured = arm.views[part.view.name]
    high = _shares(measured.best[name].take(chosen))
    if questioned:
        high = np.maximum(high, _shares(measured.unjudged_best[name].take(chosen)))
    return Arm(
        id=arm.id,
        low=_shares(measured.worst[name].take(chosen)),
        mid=_shares(measured.columns[name].take(chosen)),
        high=high,
        costs=costs,
    )


def _shares(column: Column) -> NDArray[np.float64]:
    """Each query's part of the mean times the number of queries: the values themselves where every query weighs 1."""
    total = column.bottom.sum()
    return column.top * len(column.top) / total if total else column.top


def _judged_differ(arms: Sequence[ArmRun], part: Slice, chosen: NDArray[np.int64]) -> bool:
    return len({arm.views[part.view.name].judged.take(chosen).mean for arm in arms}) > 1
