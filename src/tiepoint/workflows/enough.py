"""Whether the queries that decide, of a whole slice or of a group in it, are enough for the rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.study import Rule, Study
from tiepoint.measures import parse
from tiepoint.stats.enough import fewest
from tiepoint.stats.population import Mix
from tiepoint.workflows.evidence import deciding, largest_cluster
from tiepoint.workflows.slices import Slice, scored


@dataclass(frozen=True, slots=True, eq=False)
class Enough:
    """What decides, against what the rule takes.

    queries   positions of those that the rule's measure scores and that decide: of the test split where splits are named
    cluster   (those queries,) int64: which cluster each is of
    largest   queries of the slice's largest cluster, of whatever split
    """

    rule: Rule
    queries: NDArray[np.int64]
    cluster: NDArray[np.int64]
    largest: int

    @classmethod
    def of(cls, study: Study, part: Slice) -> Enough:
        """The queries of a whole slice."""
        chosen = deciding(study, part)
        chosen = chosen[scored(study, part.view, parse(study.rule.measure))[chosen]]
        return cls(study.rule, chosen, study.queries.clusters(chosen), largest_cluster(study, part))

    def among(self, member: NDArray[np.bool_]) -> Enough:
        """Those of one group. member: (queries of the study,)."""
        inside = member[self.queries]
        return replace(self, queries=self.queries[inside], cluster=self.cluster[inside])

    @property
    def sizes(self) -> NDArray[np.float64]:
        """(clusters,) how many of these queries each cluster has."""
        return np.unique(self.cluster, return_counts=True)[1].astype(np.float64)

    @property
    def mix(self) -> Mix:
        """The sizes as those of a population to draw from."""
        return Mix.of(self.sizes, float(self.largest))

    @property
    def least(self) -> int | None:
        """Below so many clusters, as uneven as these, nothing is decided; None: no number would do."""
        return fewest(self.rule.gap, self.rule.confidence, self.sizes, float(self.largest))
