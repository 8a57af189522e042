"""The region filter: documents in any of a set of regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.filters.columns import Columns


@dataclass(frozen=True, slots=True)
class InRegion:
    """Documents of any of these regions; the names are resolved (Regions.under). A document without region is out."""

    regions: frozenset[str]

    def mask(self, columns: Columns) -> NDArray[np.bool_]:
        """(documents,) True where one of the document's regions is among these."""
        return columns.carrying("regions", self.regions)

    def sentence(self) -> str:
        """The filter in words."""
        return f"in {', '.join(sorted(self.regions))}"
