"""How large each subgroup and region is in each slice, and whether it can decide anything alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiepoint.core.figure import Group, Groups
from tiepoint.core.study import Study
from tiepoint.measures import parse
from tiepoint.workflows.cells import Kind, cells, shown
from tiepoint.workflows.enough import Enough
from tiepoint.workflows.slices import Slice, scored


def group_sizes(study: Study, kind: Kind, parts: Sequence[Slice]) -> Groups:
    """The size of every group of a kind that may be shown, as far as a result shows its figures of the rule's measure."""
    found: dict[str, dict[str, Group]] = {}
    every = tuple(cells(study, parts))
    for view in dict.fromkeys(part.view for part in parts):
        counts, by_rule = scored(study, view), scored(study, view, parse(study.rule.measure))
        beside = [cell for cell in every if cell.slice.view is view]
        members = [cell.queries for cell in beside]
        may = np.logical_and(shown(study, members, counts), shown(study, members, by_rule))
        enough = {part.name: Enough.of(study, part) for part in parts if part.view is view}
        for cell in (cell for cell, one in zip(beside, may, strict=True) if one and cell.kind == kind):
            member = np.zeros(len(study.queries), dtype=bool)
            member[cell.queries] = True
            deciding = enough[cell.slice.name].among(member)
            clusters, least = len(deciding.sizes), deciding.least
            found.setdefault(cell.name, {})[cell.slice.name] = Group(
                queries=len(cell.queries),
                scored=int(counts[cell.queries].sum()),
                clusters=clusters,
                enough=least is not None and clusters >= least,
                least=least,
            )
    return found
