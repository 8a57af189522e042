"""The source filter: everything but the one document that a question was made from."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.corpus import Corpus


@dataclass(frozen=True, slots=True)
class Without:
    """Every document but this one (where parents are declared: but the passages of this parent)."""

    document: str

    def mask(self, corpus: Corpus) -> NDArray[np.bool_]:
        """(documents,) False for the document, or for its passages; True everywhere where the corpus lacks it."""
        at = bisect_left(corpus.units.ids, self.document)
        if at == len(corpus.units.ids) or corpus.units.ids[at] != self.document:
            return np.ones(len(corpus), dtype=bool)
        kept: NDArray[np.bool_] = corpus.units.of_row != at
        return kept

    def sentence(self) -> str:
        """The filter in words."""
        return f"without {self.document}"
