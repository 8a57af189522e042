"""How alike two spaces rank: agreement per query, what entered and left, how much of it was judged, what that could hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.audit_quality import Agreement
from tiepoint.measures import parse_agreement
from tiepoint.measures.agreement import entered
from tiepoint.measures.jaccard import AGREEMENT as JACCARD
from tiepoint.measures.measure import Column, TieRange
from tiepoint.measures.rbo import AGREEMENT as RBO
from tiepoint.measures.rbo import PERSISTENCE
from tiepoint.measures.ties import TiedRuns
from tiepoint.workflows.audit.pair import Pair, Part
from tiepoint.workflows.evidence import unjudged_in_question, value_range
from tiepoint.workflows.figures import Measured, any_value
from tiepoint.workflows.slices import Slice

AGREEMENT = pa.schema(
    [
        ("slice", pa.string()),
        ("query", pa.string()),
        ("jaccard", pa.float64()),
        ("jaccard_low", pa.float64()),
        ("jaccard_high", pa.float64()),
        ("overlap", pa.float64()),
        ("overlap_low", pa.float64()),
        ("overlap_high", pa.float64()),
        ("entered", pa.int64()),
        ("left", pa.int64()),
        ("entered_judged", pa.int64()),
        ("left_judged", pa.int64()),
    ]
)
DEFINITION = (
    f"the first k hits of both sides, query by query. Jaccard: {JACCARD.definition}. RBO: {RBO.definition}. Two empty rankings "
    "are undefined and in no mean. Low and high: over all orders of documents that tie within tie_tolerance, or that noise of "
    "encoding alone tells apart (see changed). What entered and left: as ranked, equal scores in ascending id"
)


@dataclass(frozen=True, slots=True, eq=False)
class AgreementFound:
    """One summary for each slice, and the owner's table agreement of core.audit.Audit."""

    slices: tuple[Agreement, ...]
    table: pa.Table


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Every query of the study under one view.

    jaccard, overlap   over all orders of tied documents; expected is the value
    came, gone     (queries, k) True where the target's hit is new, the source's left
    """

    jaccard: TieRange
    overlap: TieRange
    came: NDArray[np.bool_]
    gone: NDArray[np.bool_]

    @property
    def columns(self) -> dict[str, Column]:
        """Both measures of agreement with their range over orders of tied documents, by the names of AGREEMENT."""
        found: dict[str, Column | None] = {}
        for name, over in (("jaccard", self.jaccard), ("overlap", self.overlap)):
            found |= {name: over.expected, f"{name}_low": over.smallest, f"{name}_high": over.largest}
        return {name: column for name, column in found.items() if column is not None}


def audit_agreement(pair: Pair) -> AgreementFound:
    """Agreement on every slice. Where the study names splits, means are of the test split alone; the table has every query.

    What entered and left is counted of documents that the readers may see; under an acl without readers it is None.
    """
    k = pair.study.k
    by_view = {}
    for name in pair.by_view:
        source, target = (side.arm.views[name].run for side in pair.sides)
        by_view[name] = _View(
            jaccard=_over(pair, name, parse_agreement(f"Jaccard@{k}")(source, target)),
            overlap=_over(pair, name, parse_agreement(f"RBO@{k}")(source, target)),
            came=entered(source, target, k=k),
            gone=entered(target, source, k=k),
        )
    return AgreementFound(
        tuple(_summary(pair, pair.whole(part), by_view[part.view.name]) for part in pair.parts),
        pa.concat_tables([_rows(pair, part, by_view[part.view.name]) for part in pair.parts]).combine_chunks(),
    )


def _over(pair: Pair, view: str, found: TieRange) -> TieRange:
    """What was found, from 0 to 1 where noise orders the whole space of a side: either ranking could be any."""
    if not any(side.arm.views[view].drowned for side in pair.sides):
        return found
    whole = any_value(found.largest)
    return TieRange(whole.smallest, found.expected, whole.largest)


def _summary(pair: Pair, group: Part, found: _View) -> Agreement:
    source, target = (side.measured(group.slice) for side in pair.sides)
    chosen = group.queries
    counted = pair.study.corpus.public or pair.study.readers is not None
    shown = pair.study.shown_units
    means = {name: column.take(chosen).mean for name, column in found.columns.items()}
    name = pair.study.rule.measure
    scored = chosen[(source.columns[name].defined & target.columns[name].defined)[chosen]]
    over = _over_unjudged(pair, [source, target], scored) if len(scored) else None
    return Agreement(
        slice=group.slice.name,
        k=pair.study.k,
        queries=len(chosen),
        undefined=int((~found.overlap.largest.defined[chosen]).sum()),
        jaccard=means["jaccard"],
        jaccard_low=means["jaccard_low"],
        jaccard_high=means["jaccard_high"],
        overlap=means["overlap"],
        overlap_low=means["overlap_low"],
        overlap_high=means["overlap_high"],
        persistence=PERSISTENCE,
        entered=_total(found.came, target, chosen, shown) if counted else None,
        left=_total(found.gone, source, chosen, shown) if counted else None,
        entered_judged=_total(found.came & _judged(target, pair.study.k), target, chosen, shown) if counted else None,
        left_judged=_total(found.gone & _judged(source, pair.study.k), source, chosen, shown) if counted else None,
        source_judged=source.judged.take(chosen).mean,
        target_judged=target.judged.take(chosen).mean,
        measure=name,
        difference_worst=None if over is None else over.worst,
        difference_best=None if over is None else over.best,
        judged_k=pair.measure.cutoff,
        questioned=unjudged_in_question(pair.study, [source, target], chosen),
        split=pair.split,
    )


@dataclass(frozen=True, slots=True)
class _Between:
    """The least and the largest mean difference."""

    worst: float
    best: float


def _over_unjudged(pair: Pair, sides: Sequence[Measured], chosen: NDArray[np.int64]) -> _Between:
    """Between what the mean difference of the gates' measure lies, over all grades of the unjudged hits of both sides and all
    orders of tied documents: the range that the gates take where unjudged hits are in question.

    chosen   at least one query that both sides score
    """
    name, qrels = pair.study.rule.measure, pair.study.qrels
    asked = [
        replace(side, tied=TiedRuns(side.graded, side.run, qrels))
        if side.tied is None  # where the judgements are not pooled, nothing else asks for them
        else side
        for side in sides
    ]
    source, target = (value_range(side, name, chosen, questioned=asked) for side in asked)
    return _Between(float((target.low - source.high).mean()), float((target.high - source.low).mean()))


def _judged(measured: Measured, k: int) -> NDArray[np.bool_]:
    judged: NDArray[np.bool_] = measured.grade[:, :k] >= 0
    return judged


def _total(moved: NDArray[np.bool_], measured: Measured, chosen: NDArray[np.int64], shown: NDArray[np.bool_]) -> int:
    """How many of these hits are of documents that the readers may see."""
    documents = measured.run.document[:, : moved.shape[1]]
    return int((moved & shown[documents])[chosen].sum())


def _rows(pair: Pair, part: Slice, found: _View) -> pa.Table:
    source, target = (side.measured(part) for side in pair.sides)
    chosen, k = part.queries, pair.study.k
    counts = {
        "entered": found.came,
        "left": found.gone,
        "entered_judged": found.came & _judged(target, k),
        "left_judged": found.gone & _judged(source, k),
    }
    return pa.table(
        {
            "slice": [part.name] * len(chosen),
            "query": [pair.study.queries.ids[i] for i in chosen],
            **{
                name: pa.array(column.take(chosen).values, pa.float64(), from_pandas=True)
                for name, column in found.columns.items()
            },
            **{name: pa.array(moved[chosen].sum(axis=1), pa.int64()) for name, moved in counts.items()},
        },
        schema=AGREEMENT,
    )
