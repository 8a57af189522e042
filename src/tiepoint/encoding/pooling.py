"""Pooling: the hidden states of a text's tokens to the one vector of the text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

POOLINGS = frozenset({"mean", "cls", "last"})


def pooled(hidden: NDArray[np.floating], mask: NDArray[np.int64], pooling: str | None) -> NDArray[np.floating]:
    """(texts, dimension) from hidden states (texts, tokens, dimension).

    mask      (texts, tokens) 1 for a token, 0 for padding, which stands on the right
    pooling   mean over the tokens; cls: the first token; last: the last one
    """
    if pooling == "cls":
        first: NDArray[np.floating] = hidden[:, 0]
        return first
    lengths = mask.sum(axis=1)
    if pooling == "last":
        last: NDArray[np.floating] = hidden[np.arange(len(hidden)), lengths - 1]
        return last
    weights = mask[:, :, None].astype(hidden.dtype)
    mean: NDArray[np.floating] = (hidden * weights).sum(axis=1) / np.maximum(lengths, 1)[:, None].astype(hidden.dtype)
    return mean
