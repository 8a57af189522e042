"""Masks made once for each distinct filter and shared by every arm and view."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.corpus import Corpus
from tiepoint.filters import Filter
from tiepoint.filters.columns import Columns

KEPT_BYTES = 256 * 2**20
"""Masks are kept, a bit a document, until they fill so much; beyond it a mask is made again when it is asked for."""


@dataclass(slots=True, eq=False)
class Masks:
    """What each filter admits of one corpus.

    columns     the corpus with its columns turned around
    """

    columns: Columns
    _kept: dict[Filter, NDArray[np.uint8]] = field(default_factory=dict)
    _bytes: int = 0

    @classmethod
    def of(cls, corpus: Corpus) -> Masks:
        """No mask made yet."""
        return cls(Columns(corpus))

    @property
    def corpus(self) -> Corpus:
        """Whose documents are admitted."""
        return self.columns.corpus

    def mask(self, condition: Filter) -> NDArray[np.bool_]:
        """(documents,) True where the filter admits the document. The caller may change what it gets."""
        kept = self._kept.get(condition)
        if kept is not None:
            return np.unpackbits(kept, count=len(self.corpus)).view(np.bool_)
        mask = condition.mask(self.columns)
        packed = np.packbits(mask)
        if self._bytes + packed.nbytes <= KEPT_BYTES:
            self._kept[condition] = packed
            self._bytes += packed.nbytes
        return mask

    def every(self, conditions: Iterable[Filter]) -> NDArray[np.bool_]:
        """(documents,) True where all of the filters admit the document; everywhere where there is none."""
        mask = np.ones(len(self.corpus), dtype=bool)
        for condition in conditions:
            mask &= self.mask(condition)
        return mask
