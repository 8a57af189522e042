"""A recorded result read again: the figures of one part of it, or one query's rankings side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from tiepoint.core.figure import Group, Groups, Slices
from tiepoint.core.result import BaselineResult, CandidateResult, Result, Summary
from tiepoint.core.shown import Found, Gold, Hit, Kind, Part, PartFigures, SideBySide
from tiepoint.errors import CannotRun, InputError, did_you_mean, some
from tiepoint.workflows.slices import UNFILTERED

NO_READERS = (
    "the study has an acl and names no readers under [report], so only aggregates of at least 5 queries are shown; the owner "
    "of rows/ can ask with --owner"
)


HIDDEN_ANSWER = "not for these readers: it has an answer that they may not see"
"""Why a query's values are withheld: over an answer at an exact rank a value would tell what its placeholder hides."""


def show_part(
    result: Result, *, subgroup: str | None = None, region: str | None = None, slice_name: str | None = None
) -> Part:
    """The figures of a subgroup, a region or a slice of a result, with intervals and n.

    subgroup, region   at most one of them
    slice_name         alone: the whole slice; beside a subgroup or region: that slice of it only
    returns            a group that exists and may not be shown has no figures, and says so
    raises             InputError for a name that the result does not know, with the nearest one
    """
    summary = result.summary
    if subgroup is not None and region is not None:
        raise InputError("a subgroup and a region cannot be shown together", fix="name one of them")
    if slice_name is not None:
        _known(slice_name, summary.denominators, "slice")
    if subgroup is None and region is None:
        if slice_name is None:
            raise InputError("no part is named", fix="name a subgroup, a region or a slice")
        whole = PartFigures(
            slice=slice_name,
            size=None,
            arms={a: of[slice_name] for a, of in _whole(summary).items() if slice_name in of},
        )
        return _part(summary, "slice", slice_name, [whole])
    kind: Kind = "region" if subgroup is None else "subgroup"
    column = "regions" if subgroup is None else "subgroups"
    name = region if region is not None else subgroup or ""
    sizes: Groups = getattr(summary, column)
    in_rows = {n for names in result.queries.column(column).to_pylist() for n in names}
    if name not in sizes and name in in_rows:
        return _part(summary, kind, name, [], hidden="too few queries to be shown to these readers")
    _known(name, sizes, kind)
    wanted = [slice_name] if slice_name is not None else list(summary.denominators)
    return _part(
        summary,
        kind,
        name,
        [_group(summary, column, name, w, sizes[name][w]) for w in wanted if w in sizes[name]],
        hidden=f"no figures in {slice_name}" if slice_name is not None and slice_name not in sizes[name] else None,
    )


def show_query(result: Result, query: str, *, slice_name: str | None = None, owner: bool = False) -> SideBySide:
    """The rankings of one query by every arm, side by side, and what became of its relevant documents.

    slice_name   None: the rule's slice where the query stands in it, else unfiltered
    owner        True: also what the readers of the report may not see
    returns      what readers may not see is left blank (hits) or left out (relevant documents); nothing at all where an
                 acl has no readers named
    raises       CannotRun for a result without rows/; InputError for a query or slice that the result does not know
    """
    summary = result.summary
    need_rows(result, "rankings")
    _known(query, result.queries.column("query").to_pylist(), "query")
    if slice_name is not None:
        _known(slice_name, summary.denominators, "slice")
    mine = result.rankings.filter(pc.field("query") == query)
    gold = result.gold.filter(pc.field("query") == query)
    inside = {*mine.column("slice").to_pylist(), *gold.column("slice").to_pylist(), UNFILTERED}
    inside |= set(pc.unique(result.per_query.filter(pc.field("query") == query).column("slice")).to_pylist())
    if slice_name is None:
        slice_name = summary.decision.slice if summary.decision.slice in inside else UNFILTERED
    if slice_name not in inside:
        raise InputError(
            f"query {query!r} does not stand in the slice {slice_name}", fix=f"it stands in {some(inside)}"
        )
    hidden = NO_READERS if summary.counts.documents is None and not owner else None
    ranked = mine.filter(pc.field("slice") == slice_name)
    arms = [a.id for a in _arms(summary) if a.status == "measured"]
    if hidden is not None:
        arms = []
    return SideBySide(
        study=summary.study,
        query=query,
        slice=slice_name,
        k=summary.k,
        arms={arm: _hits(ranked.filter(pc.field("candidate") == arm), owner=owner) for arm in arms},
        gold=()
        if hidden
        else _gold(gold.filter(pc.field("slice") == slice_name), ranked, arms, summary.k, owner=owner),
        hidden=hidden,
    )


def need_rows(result: Result, what: str) -> None:
    """Raise CannotRun where a result was read without the owner's rows/."""
    if result.queries.num_rows == 0:
        raise CannotRun(
            f"the result has no rows/queries.parquet, so its {what} cannot be shown or compared",
            where=f"the result of {result.summary.study} made {result.conditions.created}",
            fix="rows/ is the owner's and names every id: ask for it, or run the benchmark again",
        )


def _arms(summary: Summary) -> tuple[CandidateResult | BaselineResult, ...]:
    return (*summary.candidates, *summary.baselines)


def _whole(summary: Summary) -> Mapping[str, Slices]:
    return {arm.id: arm.measures for arm in _arms(summary) if arm.measures}


def _group(summary: Summary, column: str, name: str, wanted: str, size: Group) -> PartFigures:
    arms = {
        arm.id: getattr(arm, column)[name][wanted]
        for arm in _arms(summary)
        if wanted in getattr(arm, column).get(name, {})
    }
    return PartFigures(slice=wanted, size=size, arms=arms)


def _part(summary: Summary, kind: Kind, name: str, slices: Iterable[PartFigures], *, hidden: str | None = None) -> Part:
    return Part(
        study=summary.study,
        kind=kind,
        name=name,
        measures=summary.measures,
        slices=tuple(slices),
        least=summary.decision.least_queries,
        hidden=hidden,
    )


def _hits(rows: pa.Table, *, owner: bool) -> tuple[Hit, ...]:
    hits = []
    for row in rows.sort_by("rank").to_pylist():
        shown = owner or row["shown"]
        hits.append(
            Hit(
                rank=row["rank"],
                shown=shown,
                document=row["document"] if shown else None,
                score=row["score"] if shown else None,
                grade=row["grade"] if shown else None,
            )
        )
    return tuple(hits)


def _gold(rows: pa.Table, ranked: pa.Table, arms: Iterable[str], k: int, *, owner: bool) -> tuple[Gold, ...]:
    first = ranked.filter(pc.field("rank") <= k)
    found = set(zip(first.column("candidate").to_pylist(), first.column("document").to_pylist(), strict=True))

    def state(row: Mapping[str, str], arm: str) -> Found:
        if row["state"] == "filtered":
            return "filtered"
        if row["state"] == "absent":
            return "absent"
        return "found" if (arm, row["document"]) in found else "missed"

    listed = sorted((r for r in rows.to_pylist() if owner or r["shown"]), key=lambda r: (-r["grade"], r["document"]))
    return tuple(
        Gold(document=r["document"], grade=r["grade"], state={arm: state(r, arm) for arm in arms}) for r in listed
    )


def _known(name: str, names: Iterable[str], what: str) -> None:
    """Raise InputError where the result has no such name."""
    known = list(names)
    if name not in known:
        raise InputError(
            f"the result has no {what} {name!r}",
            fix=did_you_mean(name, known) or f"known: {some(known) or 'none'}",
        )
