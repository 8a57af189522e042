"""How large each subgroup and region is in each slice, and whether it can decide anything alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiepoint.core.result import Group, Groups
from tiepoint.core.study import Study
from tiepoint.workflows.enough import Enough
from tiepoint.workflows.figures import hidden
from tiepoint.workflows.slices import Slice, scored


def group_sizes(study: Study, names: Sequence[Sequence[str]], parts: Sequence[Slice]) -> Groups:
    """The size of every group that may be shown.

    names   for each query the groups that it belongs to: its subgroups, or its regions
    """
    found: dict[str, dict[str, Group]] = {}
    members = {name: np.array([name in of for of in names]) for name in sorted({n for of in names for n in of})}
    for part in parts:
        counts, whole = scored(study, part.view), Enough.of(study, part)
        for name, member in members.items():
            chosen = part.queries[member[part.queries]]
            if len(chosen) == 0 or hidden(study, len(chosen)):
                continue
            deciding = whole.among(member)
            clusters, least = len(deciding.sizes), deciding.least
            found.setdefault(name, {})[part.name] = Group(
                queries=len(chosen),
                scored=int(counts[chosen].sum()),
                clusters=clusters,
                enough=least is not None and clusters >= least,
                least=least,
            )
    return found
