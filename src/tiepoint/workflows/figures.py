"""Arms to figures: every measure of every arm, by slice, subgroup, region and split, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.result import ArmFigures, Bounds, Figure, Ties
from tiepoint.core.run import Run
from tiepoint.core.study import Study
from tiepoint.measures import parse
from tiepoint.measures.graded import UNJUDGED, GradedRun, ties_at
from tiepoint.measures.measure import Column, Measure
from tiepoint.stats.interval import bca, exact_binomial
from tiepoint.stats.resample import by_cluster, stream
from tiepoint.workflows.slices import FILTERED, Slice, View, scored

SMALL_CELL = 5
"""Under an acl without readers, groups of fewer queries are hidden."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One arm under one view: its run and every measure of every query.

    columns          measure name to Column, as ranked
    worst, best      over all orders of tied documents
    unjudged_best    the most that unjudged hits could make of it, of the measures that can decide
    over_readable    the recall measures over all readable gold, what the filter removed included: also of queries that
                     the filter leaves without any, where recall is then 0
    judged           how much of each ranking was judged, at the cut-off of the rule's measure
    grade            (queries, depth) the grade of each hit, see GradedRun
    """

    run: Run
    columns: Mapping[str, Column]
    worst: Mapping[str, Column]
    best: Mapping[str, Column]
    unjudged_best: Mapping[str, Column]
    over_readable: Mapping[str, Column]
    judged: Column
    grade: NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class ArmRun:
    """A candidate or baseline with what was measured of it, by view name."""

    id: str
    views: Mapping[str, Measured] = field(default_factory=dict)


def measure_run(study: Study, view: View, run: Run, measures: Sequence[Measure]) -> Measured:
    """Every measure of one run, for every query; queries that are not scored are undefined."""
    graded = GradedRun.of(run, study.qrels, view.counted)
    worst, best = graded.tie_extremes(run, study.qrels)
    readable = GradedRun.of(run, study.qrels, view.readable)
    keep, answerable = scored(study, view), ~study.queries.no_answer

    def column(measure: Measure, of: GradedRun, among: NDArray[np.bool_] = keep) -> Column:
        found = measure(of)
        return Column(found.top, found.bottom, found.defined & among)

    return Measured(
        run=run,
        columns={str(m): column(m, graded) for m in measures},
        worst={str(m): column(m, worst) for m in measures},
        best={str(m): column(m, best) for m in measures},
        unjudged_best={str(m): _unjudged_best(m, graded, keep) for m in measures if m.kind.decides},
        over_readable={str(m): column(m, readable, answerable) for m in measures if m.name == "recall"}
        if view.name == FILTERED
        else {},
        judged=column(parse(f"Judged@{parse(study.rule.measure).cutoff}"), graded),
        grade=graded.grade,
    )


def _unjudged_best(measure: Measure, graded: GradedRun, among: NDArray[np.bool_]) -> Column:
    """The largest value of each query that any of its unjudged hits could make by being relevant.

    Each that is raises the ideal too, whichever it is, so the best choice of any number of them is the highest ranked.
    """
    best = measure(graded)
    most = int((graded.grade[:, : measure.cutoff] == UNJUDGED).sum(axis=1).max(initial=0))
    for first in range(1, most + 1):
        other = measure(graded.unjudged_as_best(measure.cutoff, first=first))
        better = other.defined & ~(best.values >= other.values)
        best = Column(
            np.where(better, other.top, best.top),
            np.where(better, other.bottom, best.bottom),
            best.defined | other.defined,
        )
    return Column(best.top, best.bottom, best.defined & among)


def figures(study: Study, arms: Sequence[ArmRun], parts: Sequence[Slice]) -> dict[str, ArmFigures]:
    """All figures of all arms, by arm id. Arms of one group of queries share their resamples, so that they compare."""
    measures = [parse(name) for name in study.measures]
    maker = _Maker(study, arms, measures)
    shown = {"subgroups": _names(study.queries.subgroups), "regions": _names(study.queries.regions)}
    members = {
        "subgroups": lambda name: np.array([name in names for names in study.queries.subgroups]),
        "regions": lambda name: np.array([name in names for names in study.queries.regions]),
        "splits": study.queries.in_split,
    }
    shown["splits"] = sorted({split for split in study.queries.split if split})
    whole = {part.name: maker.of(part, part.queries, part.name) for part in parts}
    grouped: dict[str, dict[str, dict[str, dict[str, dict[str, Figure]]]]] = {}
    for kind, names in shown.items():
        for name in names:
            mask = members[kind](name)
            for part in parts:
                chosen = part.queries[mask[part.queries]]
                if len(chosen) == 0 or hidden(study, len(chosen)):
                    continue
                for arm, found in maker.of(part, chosen, part.name, kind, name).items():
                    grouped.setdefault(arm, {}).setdefault(kind, {}).setdefault(name, {})[part.name] = found
    return {
        arm.id: ArmFigures(
            measures={part.name: whole[part.name][arm.id] for part in parts},
            bounds={part.name: _bounds(arm, part, measures) for part in parts},
            over_readable_gold=maker.over_readable(arm, parts),
            ties={part.name: _ties(arm, part, study.k) for part in parts},
            failed_queries={part.name: _failed(arm, part) for part in parts},
            **grouped.get(arm.id, {}),
        )
        for arm in arms
    }


def hidden(study: Study, queries: int) -> bool:
    """True where a group is too small to be shown to readers who were not named."""
    return not study.corpus.public and study.readers is None and queries < SMALL_CELL


class _Maker:
    """Makes the figures of one group of queries for all arms at once, with one set of resamples."""

    def __init__(self, study: Study, arms: Sequence[ArmRun], measures: Sequence[Measure]) -> None:
        self.study, self.arms, self.measures = study, arms, measures

    def of(self, part: Slice, chosen: NDArray[np.int64], *purpose: str) -> dict[str, dict[str, Figure]]:
        columns = [
            arm.views[part.view.name].columns[str(measure)].take(chosen)
            for arm in self.arms
            for measure in self.measures
        ]
        made = self._figures(columns, [m.kind.binary for _ in self.arms for m in self.measures], chosen, purpose)
        names = [str(m) for m in self.measures]
        return {
            arm.id: dict(zip(names, made[i * len(names) : (i + 1) * len(names)], strict=True))
            for i, arm in enumerate(self.arms)
        }

    def over_readable(self, arm: ArmRun, parts: Sequence[Slice]) -> dict[str, dict[str, Figure]]:
        result: dict[str, dict[str, Figure]] = {}
        for part in parts:
            columns = arm.views[part.view.name].over_readable
            if columns and len(part.queries):
                taken = [column.take(part.queries) for column in columns.values()]
                made = self._figures(taken, [False] * len(taken), part.queries, (part.name, "over readable gold"))
                result[part.name] = dict(zip(columns, made, strict=True))
        return result

    def _figures(
        self, columns: list[Column], binary: list[bool], chosen: NDArray[np.int64], purpose: tuple[str, ...]
    ) -> list[Figure]:
        if not columns or not len(chosen):
            return [Figure(None, None, None, 0) for _ in columns]
        any_defined = np.any([column.defined for column in columns], axis=0)
        kept = np.flatnonzero(any_defined)
        if not len(kept):
            return [Figure(None, None, None, 0) for _ in columns]
        level = self.study.rule.level
        cluster = self.study.queries.clusters(chosen[kept])
        top = by_cluster(np.stack([np.where(c.defined, c.top, 0.0)[kept] for c in columns], axis=1), cluster)
        bottom = by_cluster(np.stack([np.where(c.defined, c.bottom, 0.0)[kept] for c in columns], axis=1), cluster)
        low, high = bca(top, bottom, level=level, rng=stream(self.study.seed, "interval", *purpose))
        single = len(top) == len(kept)
        return [
            _figure(column, float(low[i]), float(high[i]), level if binary[i] and single else None)
            for i, column in enumerate(columns)
        ]


def _figure(column: Column, low: float, high: float, exact: float | None) -> Figure:
    """One figure. exact: the level of the binomial interval that replaces the bootstrap's, None: keep it."""
    n = int(column.defined.sum())
    if exact is not None and n:
        low, high = exact_binomial(int(column.top[column.defined].sum()), n, level=exact)
    known = np.isfinite(low) and np.isfinite(high)
    return Figure(column.mean, low if known else None, high if known else None, n)


def _bounds(arm: ArmRun, part: Slice, measures: Sequence[Measure]) -> dict[str, Bounds]:
    measured, chosen = arm.views[part.view.name], part.queries
    return {
        str(m): Bounds(
            tie_low=measured.worst[str(m)].take(chosen).mean,
            tie_high=measured.best[str(m)].take(chosen).mean,
            unjudged_best=measured.unjudged_best[str(m)].take(chosen).mean,
        )
        for m in measures
        if m.kind.decides
    }


def _ties(arm: ArmRun, part: Slice, k: int) -> Ties:
    crossing, pairs = ties_at(arm.views[part.view.name].run, k)
    return Ties(queries=int(crossing[part.queries].sum()), pairs=int(pairs[part.queries].sum()))


def _failed(arm: ArmRun, part: Slice) -> int:
    failed = arm.views[part.view.name].run.failed
    return sum(int(q) in failed for q in part.queries)


def _names(columns: Sequence[Sequence[str]]) -> list[str]:
    return sorted({name for names in columns for name in names})
