"""The source filter: everything but the one document that a question was made from."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.corpus import Units
from tiepoint.filters.columns import Columns


@dataclass(frozen=True, slots=True)
class Without:
    """Every document but this one (where parents are declared: but the passages of this parent)."""

    document: str

    def unit(self, units: Units) -> int:
        """What is left out, as a unit of the corpus; -1 where the corpus lacks it."""
        at = bisect_left(units.ids, self.document)
        return at if at < len(units.ids) and units.ids[at] == self.document else -1

    def mask(self, columns: Columns) -> NDArray[np.bool_]:
        """(documents,) False for the document, or for its passages; True everywhere where the corpus lacks it."""
        units = columns.corpus.units
        kept: NDArray[np.bool_] = units.of_row != self.unit(units)
        return kept

    def sentence(self) -> str:
        """The filter in words."""
        return f"without {self.document}"
