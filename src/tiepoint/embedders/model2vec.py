"""A static model of model2vec: a mean over token vectors, read from a local folder."""

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
from tiepoint.encoding.model_files import folder_sha256, read_table, tensor_shape
from tiepoint.encoding.packaged import agreed, option_folder, package_folder, sha256_of
from tiepoint.errors import InputError

OPTIONS = frozenset({"model"})
NEEDS = ("model2vec",)
INSTALL = "'tiepoint[model2vec]'"
FILES = ("config.json", "model.safetensors", "tokenizer.json")


@dataclass(slots=True)
class Model2VecEmbedder:
    """The library's own cut is off (`max_length=None`): it cuts by characters first and then by tokens, and tells neither.

    A mean has no limit, so whoever serves this model passes `max_length=None` as well; the contract says so.
    """

    contract: Contract
    folder: Path
    batch: BatchLimit = BatchLimit(texts=256)
    _model: Any = field(default=None, repr=False)

    def load(self) -> None:
        """From the folder; there is no download, since the folder is there."""
        from model2vec import StaticModel  # heavy: only here

        self._model = StaticModel.from_pretrained(self.folder, force_download=False)

    def load_tokenizer(self) -> None:
        """The whole model, which is a table: what counts is what it has a row for."""
        self.load()

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(texts,) tokens of each text that the model has a vector for: it drops unknown ones."""
        self._model.tokenizer.no_truncation()  # every call of the library's encode() puts it back
        return np.array([len(ids) for ids in self._model.tokenize(list(texts))], dtype=np.int64)

    def known_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(texts,) the same count."""
        return self.count_tokens(texts)

    def encode(self, texts: Sequence[str], role: Role) -> NDArray[np.floating]:  # noqa: ARG002 one model for both roles
        """(texts, dimension) in the contract's dtype; a text without a known token becomes zero, which the caller lists."""
        made = self._model.encode(list(texts), max_length=None, batch_size=len(texts), use_multiprocessing=False)
        return np.asarray(made, dtype=self.contract.dtype)


def embedder(candidate: Candidate, *, folder: Path, threads: int) -> Model2VecEmbedder:  # noqa: ARG001 one protocol
    """Open a folder that model2vec saved; its files make the contract.

    raises   InputError where the folder is none, lacks a file, or the study contradicts it; NotInstalled
    """
    package_folder("model2vec", install=INSTALL)
    place = option_folder(candidate, "model", folder)
    where = f"candidate {candidate.id!r}, {place}"
    if missing := [name for name in FILES if not (place / name).is_file()]:
        raise InputError(
            f"the folder lacks {', '.join(missing)}", where=where, fix="name a folder that model2vec saved"
        )
    shape = tensor_shape(place / "model.safetensors", "embeddings")
    if shape is None or len(shape) != 2:
        raise InputError(
            "model.safetensors has no table called embeddings", where=where, fix="name a folder that model2vec saved"
        )
    config = read_table(place / "config.json")
    contract = Contract(
        space_id=candidate.id,
        provider="model2vec",
        model=place.name,
        revision=folder_sha256(place),
        tokenizer_revision=sha256_of(place / "tokenizer.json"),
        dimension=shape[1],
        metric="cosine",
        normalized=config.get("normalize") is True,
        dtype="float16" if config.get("embedding_dtype") == "float16" else "float32",
        query_role="query",
        document_role="document",
        pooling="mean",
        truncation="none",
        preprocessing="max_length=None: the library's own cut is off",
        sdk=f"model2vec {version('model2vec')}",
    )
    return Model2VecEmbedder(agreed(contract, candidate), place)


def installed() -> list[Candidate]:
    """None: nobody's folder is guessed."""
    return []
