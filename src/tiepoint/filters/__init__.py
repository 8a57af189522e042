"""One file per filter: a frozen value, a mask over the corpus, a sentence."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tiepoint.filters.columns import Columns


class Filter(Protocol):
    """What every filter offers. Two filters that admit the same documents for the same reason are equal."""

    def mask(self, columns: Columns) -> NDArray[np.bool_]:
        """(documents,) True where the filter admits the document."""

    def sentence(self) -> str:
        """The filter in words, for reports."""
