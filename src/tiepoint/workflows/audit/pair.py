"""Both spaces of an audit on one study: each query encoded by its own space, both exactly searched, both measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.gates import Gates
from tiepoint.core.space import Space
from tiepoint.core.study import SLICES, Study
from tiepoint.encoding.noise import searchable_floor
from tiepoint.encoding.progress import SILENT, Progress
from tiepoint.errors import InputError, did_you_mean
from tiepoint.measures import parse
from tiepoint.measures.measure import Measure
from tiepoint.search.exact import search
from tiepoint.search.prepared import Prepared
from tiepoint.stats.difference import Pairs, overlapping
from tiepoint.workflows import cells
from tiepoint.workflows.evidence import deciding, deciding_split, largest_cluster
from tiepoint.workflows.figures import ArmRun, Measured, drowned, measure_views
from tiepoint.workflows.slices import Slice, View, slices, views

Kind: TypeAlias = Literal["subgroup", "region"]
SOURCE: Literal["source"] = "source"
TARGET: Literal["target"] = "target"


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two spaces, ranked and measured.

    arm        under the name `source` or `target`
    prepared   the norms of its vectors, for every search of them
    """

    name: Literal["source", "target"]
    space: Space
    arm: ArmRun
    prepared: Prepared

    @property
    def drowned(self) -> bool:
        """Does noise of encoding order the whole space?"""
        return any(measured.drowned for measured in self.arm.views.values())

    def measured(self, part: Slice) -> Measured:
        """What was measured of this side under the view of a slice."""
        return self.arm.views[part.view.name]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The queries that a figure of the audit is over.

    slice        the slice that they are of
    queries      positions; where the study names splits, of the test split alone, as in the decision
    kind, name   of the group that they are; None: every query of the slice
    """

    slice: Slice
    queries: NDArray[np.int64]
    kind: Kind | None = None
    name: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The slice, and what the group is called: no two groups have the same."""
        return self.slice.name, f"{self.kind} {self.name}"

    @property
    def subgroup(self) -> str | None:
        """The subgroup's name; None: it is none."""
        return self.name if self.kind == "subgroup" else None

    @property
    def region(self) -> str | None:
        """The region's name; None: it is none."""
        return self.name if self.kind == "region" else None


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """What quality, agreement and access are made from.

    study      under the gates: its rule holds their measure, slice, loss (as gap) and confidence (see under_gates)
    gates      as written before the run
    parts      the slices, in the order of SLICES
    split      the split that summaries are over; None: the study names none
    """

    study: Study
    gates: Gates
    by_view: dict[str, View]
    parts: tuple[Slice, ...]
    source: Side
    target: Side
    split: str | None

    @property
    def sides(self) -> tuple[Side, Side]:
        """Source, target."""
        return self.source, self.target

    @property
    def measure(self) -> Measure:
        """The gates' measure."""
        return parse(self.study.rule.measure)

    def whole(self, part: Slice) -> Part:
        """The queries of a slice that summaries are over."""
        return Part(part, deciding(self.study, part))

    def told(self) -> NDArray[np.bool_]:
        """(queries,) False where a query has an answer that the readers may not see, so that no value of it may be told."""
        return cells.told(self.study)

    def pairs(self, group: Part, name: str) -> Pairs:
        """One measure of a group of queries, source first; weight 0 where either side does not score the query."""
        source, target = (side.measured(group.slice).columns[name].take(group.queries) for side in self.sides)
        both = source.defined & target.defined
        return Pairs(
            np.where(both, source.values, 0.0),
            np.where(both, target.values, 0.0),
            np.where(both, source.bottom, 0.0),
            self._unsure(group, name) if any(side.space.floor for side in self.sides) else None,
        )

    def _unsure(self, group: Part, name: str) -> NDArray[np.bool_]:
        """(queries,) True where both sides' values over all orders of what ties, or is told apart by noise alone, overlap."""
        ranges = [side.measured(group.slice).ties[name] for side in self.sides]
        ends = (column.take(group.queries).values for of in ranges for column in (of.smallest, of.largest))
        return overlapping(*ends)

    def groups(self, part: Slice) -> Iterator[Part]:
        """The subgroups of a slice by name, then its regions (of queries, by their own), that have queries."""
        queries = self.study.queries
        members: dict[Kind, Sequence[Sequence[str]]] = {"subgroup": queries.subgroups, "region": queries.regions}
        chosen = self.whole(part).queries
        for kind, names in members.items():
            for name in sorted({n for i in chosen for n in names[i]}):
                yield Part(part, np.array([i for i in chosen if name in names[i]], dtype=np.int64), kind, name)

    def shown(self, names: Sequence[str]) -> dict[str, frozenset[tuple[str, str]]]:
        """By measure, the slice and the title of every group whose figures may be shown to these readers, see cells.shown."""
        found: dict[str, frozenset[tuple[str, str]]] = dict.fromkeys(names, frozenset())
        for view in self.by_view:
            parts = [part for part in self.parts if part.view.name == view]
            groups = [group for part in parts for group in self.groups(part)]
            for name in names:
                source, target = (side.arm.views[view].columns[name].defined for side in self.sides)
                may = cells.shown(self.study, [group.queries for group in groups], source & target)
                found[name] |= frozenset(group.key for group, one in zip(groups, may, strict=True) if one)
        return found

    def largest(self, part: Slice) -> int:
        """Queries of the cluster that is imagined beside those of a slice: as many as its largest has, of whatever split."""
        return largest_cluster(self.study, part)


def rank_both(study: Study, source: Space, target: Space, gates: Gates, *, progress: Progress = SILENT) -> Pair:
    """Search and measure both spaces under every view of the study.

    source, target   aligned with the study's corpus and queries; a query without a vector is a miss
    raises           InputError where the gates' measure or slice cannot decide anything
    """
    ruled = under_gates(study, gates)
    measures = [parse(name) for name in ruled.measures]
    depth = max(ruled.k, *(m.cutoff for m in measures))
    by_view = views(ruled)
    parts = tuple(slices(ruled, by_view))
    if not any(len(p.queries) for p in parts if p.name == ruled.rule.slice):
        raise InputError(
            f"the slice {ruled.rule.slice} of the gates has no queries",
            where="[gates] slice (where it is absent: [decision] slice)",
            fix='name a slice that has some, as slice = "unfiltered"',
        )

    def side(name: Literal["source", "target"], space: Space) -> Side:
        progress.start(f"{name}: search", len(by_view))
        runs, prepared, floor = {}, Prepared.of(space), searchable_floor(space)
        for view_name, view in by_view.items():
            runs[view_name] = search(
                space,
                view.eligibility,
                depth=depth,
                tolerance=ruled.tie_tolerance,
                noise=floor,
                prepared=prepared,
            )
            progress.advance(1)
        progress.finish()
        measured = measure_views(ruled, by_view, runs, measures)
        if space.floor and not floor:
            measured = {view_name: drowned(found) for view_name, found in measured.items()}
        return Side(name, space, ArmRun(name, measured), prepared)

    return Pair(
        study=ruled,
        gates=gates,
        by_view=by_view,
        parts=parts,
        source=side(SOURCE, source),
        target=side(TARGET, target),
        split=deciding_split(ruled),
    )


def under_gates(study: Study, gates: Gates) -> Study:
    """The study with the gates' measure, slice, loss and confidence as its rule; a measure that it lacks is added.

    raises   InputError for a measure that cannot decide or is pooled, and for a slice that does not exist or has no queries
    """
    measure = parse(gates.measure or study.rule.measure)
    name, slice_name = str(measure), gates.slice or study.rule.slice
    if not measure.kind.decides or measure.kind.pooled:
        raise InputError(
            f"{name} cannot stand in a gate: "
            + ("one query may weigh any amount" if measure.kind.pooled else "no verdict"),
            where="[gates] measure (where it is absent: [decision] measure)",
            fix='name a mean over queries, as measure = "recall@10"',
        )
    if slice_name not in SLICES:
        raise InputError(
            f"there is no slice {slice_name!r}",
            where="[gates] slice",
            fix=did_you_mean(slice_name, SLICES) or f"one of {', '.join(SLICES)}",
        )
    rule = replace(
        study.rule,
        measure=name,
        slice=slice_name,
        gap=study.rule.gap if gates.loss is None else gates.loss,
        confidence=gates.confidence,
    )
    added = () if name in study.measures else (name,)
    return replace(study, rule=rule, measures=(*study.measures, *added))
