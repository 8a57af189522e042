"""How alike two spaces rank: agreement per query, what entered and left, how much of it was judged, what that could hide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.audit import Agreement
from tiepoint.measures.agreement import PERSISTENCE, entered, jaccard, rank_biased_overlap
from tiepoint.measures.measure import Column
from tiepoint.workflows.audit.pair import Pair, Part
from tiepoint.workflows.evidence import unjudged_in_question
from tiepoint.workflows.figures import Measured
from tiepoint.workflows.slices import Slice

AGREEMENT = pa.schema(
    [
        ("slice", pa.string()),
        ("query", pa.string()),
        ("jaccard", pa.float64()),
        ("overlap", pa.float64()),
        ("entered", pa.int64()),
        ("left", pa.int64()),
        ("entered_judged", pa.int64()),
        ("left_judged", pa.int64()),
    ]
)
DEFINITION = (
    "the first k hits of both sides, query by query: Jaccard, and rank-biased overlap with persistence "
    f"{PERSISTENCE:g}, extrapolated (Webber, Moffat and Zobel 2010, equation 32), tied documents in ascending id on both sides; "
    "two empty rankings are undefined and in no mean, one empty ranking is 0; over every query of the slice, judged or not"
)


@dataclass(frozen=True, slots=True, eq=False)
class AgreementFound:
    """One summary for each slice, and the owner's table agreement of core.audit.Audit."""

    slices: tuple[Agreement, ...]
    table: pa.Table


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Every query of the study under one view.

    came, gone     (queries, k) True where the target's hit is new, the source's left
    """

    jaccard: Column
    overlap: Column
    came: NDArray[np.bool_]
    gone: NDArray[np.bool_]


def audit_agreement(pair: Pair) -> AgreementFound:
    """Agreement on every slice. Where the study names splits, means are of the test split alone; the table has every query.

    What entered and left is counted of documents that the readers may see; under an acl without readers it is None.
    """
    k = pair.study.k
    by_view = {}
    for name in pair.by_view:
        source, target = (side.arm.views[name].run for side in pair.sides)
        by_view[name] = _View(
            jaccard=jaccard(source, target, k=k),
            overlap=rank_biased_overlap(source, target, k=k),
            came=entered(source, target, k=k),
            gone=entered(target, source, k=k),
        )
    return AgreementFound(
        tuple(_summary(pair, pair.whole(part), by_view[part.view.name]) for part in pair.parts),
        pa.concat_tables([_rows(pair, part, by_view[part.view.name]) for part in pair.parts]).combine_chunks(),
    )


def _summary(pair: Pair, group: Part, found: _View) -> Agreement:
    source, target = (side.measured(group.slice) for side in pair.sides)
    chosen = group.queries
    counted = pair.study.corpus.public or pair.study.readers is not None
    shown = pair.study.shown_units
    overlap = found.overlap.take(chosen)
    name = pair.study.rule.measure
    scored = chosen[(source.columns[name].defined & target.columns[name].defined)[chosen]]
    return Agreement(
        slice=group.slice.name,
        k=pair.study.k,
        queries=len(chosen),
        undefined=int((~overlap.defined).sum()),
        jaccard=found.jaccard.take(chosen).mean,
        overlap=overlap.mean,
        persistence=PERSISTENCE,
        entered=_total(found.came, target, chosen, shown) if counted else None,
        left=_total(found.gone, source, chosen, shown) if counted else None,
        entered_judged=_total(found.came & _judged(target, pair.study.k), target, chosen, shown) if counted else None,
        left_judged=_total(found.gone & _judged(source, pair.study.k), source, chosen, shown) if counted else None,
        source_judged=source.judged.take(chosen).mean,
        target_judged=target.judged.take(chosen).mean,
        measure=name,
        difference_worst=_difference(source.unjudged[name].largest, target.columns[name], scored),
        difference_best=_difference(source.columns[name], target.unjudged[name].largest, scored),
        judged_k=pair.measure.cutoff,
        questioned=unjudged_in_question(pair.study, [source, target], chosen),
        split=pair.split,
    )


def _difference(source: Column, target: Column, chosen: NDArray[np.int64]) -> float | None:
    """The mean difference over these queries; None without one."""
    away = target.take(chosen).values - source.take(chosen).values
    return float(away.mean()) if len(away) else None


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
            "jaccard": pa.array(found.jaccard.take(chosen).values, pa.float64(), from_pandas=True),
            "overlap": pa.array(found.overlap.take(chosen).values, pa.float64(), from_pandas=True),
            **{name: pa.array(moved[chosen].sum(axis=1), pa.int64()) for name, moved in counts.items()},
        },
        schema=AGREEMENT,
    )
