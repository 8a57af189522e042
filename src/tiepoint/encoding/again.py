"""Texts encoded once more: for the noise of a space, and for whether vectors are in the space that their label names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Role
from tiepoint.encoding.live import Live
from tiepoint.encoding.progress import SILENT, Progress


def encode_again(
    live: Live,
    texts: Sequence[str],
    role: Role,
    batches: Iterable[NDArray[np.int64]],
    progress: Progress = SILENT,
) -> NDArray[np.floating]:
    """(texts, dimension) vectors made now, in the contract's dtype; NaN where a text gets none.

    live      loaded
    texts     with their prompts on
    batches   positions in texts that go to the model together
    raises    EncodingFailed, see Live.encode
    """
    contract = live.embedder.contract
    made = np.full((len(texts), contract.dimension), np.nan, dtype=contract.dtype)
    for batch in batches:
        vectors, failed = live.encode([texts[int(i)] for i in batch], role)
        good = [i for i in range(len(batch)) if i not in failed]
        made[batch[good]] = vectors[good]
        progress.advance(len(batch))
    return made
