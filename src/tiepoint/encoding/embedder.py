"""What an embedder is: the one narrow seam between tiepoint and a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Contract, Role


@dataclass(frozen=True, slots=True)
class BatchLimit:
    """How much goes to the model at once: at most this many texts, and this many tokens after padding."""

    texts: int = 32
    tokens: int | None = None


class Embedder(Protocol):
    """A model on trial. Built without loading anything; prompts are put on by the caller, from the contract.

    contract   complete before load(); its max_input_tokens is the real limit, None where there is none
    batch      what one call of encode may hold
    """

    contract: Contract
    batch: BatchLimit

    def load(self) -> None:
        """Bring the model into memory. Raises whatever the library raises; the caller makes it a reason."""

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64] | None:
        """(texts,) tokens of each text before any cut, special tokens included; None where they cannot be counted."""

    def encode(self, texts: Sequence[str], role: Role) -> NDArray[np.floating]:
        """(texts, dimension) in the contract's dtype, one row a text, in their order."""


@runtime_checkable
class KnowsTokens(Protocol):
    """What an embedder also is where its tokenizer can tell unknown tokens apart."""

    def known_tokens(self, texts: Sequence[str]) -> NDArray[np.int64] | None:
        """(texts,) tokens that the model knows, special tokens left out; None where this tokenizer cannot tell."""
