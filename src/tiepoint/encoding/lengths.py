"""Token lengths against a model's real limit: how much of the texts the model never sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """Token lengths of one role, special tokens included.

    limit        the model's real limit; None: it has none or states none
    cut_texts    share of texts over the limit, 0..1; None without a limit: not executed, never 0
    cut_tokens   share of all tokens that lie beyond the limit, 0..1; None without a limit
    over         positions of the texts over the limit, the longest first, then in item order
    """

    p50: float
    p95: float
    max: float
    limit: int | None
    cut_texts: float | None
    cut_tokens: float | None
    over: NDArray[np.int64]


def token_lengths(counts: NDArray[np.int64] | None, limit: int | None) -> Lengths | None:
    """Percentiles of token counts, and what the limit cuts.

    counts    (texts,) tokens before any cut; None: they cannot be counted
    limit     at least 1; None: the model has none or states none
    returns   None where there is nothing to count
    """
    if counts is None or not len(counts):
        return None
    p50, p95, longest = (float(v) for v in np.percentile(counts, [50, 95, 100]))
    if limit is None:
        return Lengths(p50, p95, longest, None, None, None, np.empty(0, dtype=np.int64))
    beyond = np.maximum(counts - limit, 0)
    over = np.flatnonzero(beyond)
    return Lengths(
        p50,
        p95,
        longest,
        limit,
        cut_texts=len(over) / len(counts),
        cut_tokens=float(beyond.sum() / max(1, counts.sum())),
        over=over[np.argsort(-counts[over], kind="stable")],
    )
