"""How large each subgroup and region is in each slice, and whether it can decide anything alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.result import Group, Groups
from tiepoint.core.study import Rule, Study
from tiepoint.stats.paired import least_units
from tiepoint.workflows.figures import hidden
from tiepoint.workflows.slices import Slice, scored

FEWEST = 20
"""Below so many independent queries the rule's error rate was not shown to hold (DESIGN.md, section 5, Decision)."""


def fewest(rule: Rule, sizes: NDArray[np.float64]) -> int | None:
    """The least number of independent queries with which a group could decide by this rule; None: no number would do.

    sizes   queries of each of its clusters
    """
    if rule.confidence == "point":
        return FEWEST
    least = least_units(rule.gap, rule.level, sizes)
    return None if least is None else max(least, FEWEST)


def group_sizes(study: Study, names: Sequence[Sequence[str]], parts: Sequence[Slice]) -> Groups:
    """The size of every group that may be shown.

    names   for each query the groups that it belongs to: its subgroups, or its regions
    """
    found: dict[str, dict[str, Group]] = {}
    for name in sorted({n for of in names for n in of}):
        member = np.array([name in of for of in names])
        for part in parts:
            chosen = part.queries[member[part.queries]]
            if len(chosen) == 0 or hidden(study, len(chosen)):
                continue
            counted = chosen[scored(study, part.view)[chosen]]
            sizes = np.bincount(study.queries.clusters(counted)).astype(np.float64)
            least = fewest(study.rule, sizes)
            enough = least is not None and len(sizes) >= least
            found.setdefault(name, {})[part.name] = Group(len(chosen), len(counted), len(sizes), enough, least)
    return found
