"""WordLlama l2_supercat: a static model of 256 numbers, the fastest here; the weights lie in the package `wordllama`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
NEEDS = ("wordllama",)
INSTALL = "'tiepoint[wordllama]'"
TOKENIZER = Path("tokenizers") / "l2_supercat_tokenizer_config.json"


@dataclass(slots=True)
class WordLlamaEmbedder:
    """A mean over token vectors: no limit on length, nothing is ever cut.

    A text's vector depends neither on its neighbours nor on threads: 400 scifact texts, alone and in batches of 32 sorted
    or shuffled, with 1 and 2 threads, were bit-identical (wordllama 0.4.0.post1). The token limit bounds memory only:
    the package gathers (texts, longest, 256) float32 at once.
    """

    contract: Contract
    folder: Path
    batch: BatchLimit = BatchLimit(texts=64, tokens=16_384)
    _model: Any = field(default=None, repr=False)
    _counter: Any = field(default=None, repr=False)

    def load(self) -> None:
        """From the package's own folder; a download is forbidden."""
        with untouched_logging():
            from wordllama import WordLlama  # heavy: only here
        self._model = WordLlama.load(cache_dir=self.folder, disable_download=True)
        self.load_tokenizer()

    def load_tokenizer(self) -> None:
        """The tokenizer alone, so that tokens can be counted without the model; its own copy, neither padding nor cutting."""
        from tokenizers import Tokenizer

        self._counter = Tokenizer.from_file(str(self.folder / TOKENIZER))
        self._counter.no_padding()
        self._counter.no_truncation()

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(texts,) tokens of each text, without special tokens, which this model does not use."""
        encoded = self._counter.encode_batch(list(texts), add_special_tokens=False)
        return np.array([len(one.ids) for one in encoded], dtype=np.int64)

    def encode(self, texts: Sequence[str], role: Role) -> NDArray[np.floating]:  # noqa: ARG002 one model for both roles
        """(texts, 256) float32, normalised; a text without any token becomes NaN, which the caller lists as failed."""
        with np.errstate(invalid="ignore", divide="ignore"):
            vectors: NDArray[np.floating] = self._model.embed(list(texts), norm=True, batch_size=len(texts))
        return vectors


def embedder(candidate: Candidate, *, folder: Path, threads: int) -> WordLlamaEmbedder:  # noqa: ARG001 one protocol
    """Open the packaged model. Raises NotInstalled, or InputError where the study contradicts its contract."""
    package = package_folder("wordllama", install=INSTALL)
    contract = Contract(
        space_id=candidate.id,
        provider="wordllama",
        model="l2_supercat",
        revision=sha256_of(package / "weights" / "l2_supercat_256.safetensors"),
        tokenizer_revision=sha256_of(package / TOKENIZER),
        dimension=256,
        metric="cosine",
        normalized=True,
        dtype="float32",
        query_role="query",
        document_role="document",
        pooling="mean",
        sdk=f"wordllama {version('wordllama')}",
    )
    return WordLlamaEmbedder(agreed(contract, candidate), package)


def installed() -> list[Candidate]:
    """The packaged model, where the package is."""
    try:
        package_folder("wordllama", install=INSTALL)
    except NotInstalled:
        return []
    return [Candidate("wordllama", "wordllama")]


@contextmanager
def untouched_logging() -> Iterator[None]:
    """The package configures the root logger when it is imported; a library we use must not speak for us."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
