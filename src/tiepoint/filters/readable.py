"""The permission filter: what a principal may read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.filters.columns import Columns


@dataclass(frozen=True, slots=True)
class ReadableBy:
    """Documents that a principal with any of these groups may read. No groups: nothing, unless the corpus is public."""

    groups: frozenset[str]

    def mask(self, columns: Columns) -> NDArray[np.bool_]:
        """(documents,) True where the principal may read."""
        if columns.corpus.public:
            return np.ones(len(columns.corpus), dtype=bool)
        return columns.carrying("acl", self.groups)

    def sentence(self) -> str:
        """The filter in words."""
        return f"readable by {', '.join(sorted(self.groups)) or 'nobody'}"
