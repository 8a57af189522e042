"""Any ONNX transformer with a tokenizer.json, local or inside an installed package."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract, Role
from tiepoint.encoding.embedder import BatchLimit
from tiepoint.encoding.onnx_models import ONNX_MODELS, OnnxModel
from tiepoint.encoding.packaged import option_files, package_folder, sha256_of, weights_beside
from tiepoint.encoding.pooling import POOLINGS, pooled
from tiepoint.errors import CannotRun, NotInstalled, Problems

FILES = ("model", "tokenizer")
OPTIONS = frozenset({*FILES, "output"})
NEEDS = ("onnxruntime", "tokenizers")
INSTALL = "'tiepoint[onnx]'"
NAMES = ("input_ids", "attention_mask", "token_type_ids")
"""What a tokenizer makes; a model is fed those that it has."""
BATCH = BatchLimit(texts=32, tokens=512)
"""Measured with MiniLM int8 on two cores: 100 texts of 130 tokens take 5.1 s in batches of 512 tokens, 6.0 s of 1,024, 14.4 s
of 4,096 and 5.3 s alone; short texts are half again as fast together as alone."""
ALONE = BatchLimit(texts=1)
"""For graphs that quantise activations as they run: the scale is taken over the whole batch, so a text's vector would depend on
its neighbours. (MiniLM int8 quantises its weights only: alone, in any batch, and on 1 or 2 threads it is bit-identical.)"""


@dataclass(slots=True)
class OnnxEmbedder:
    """A transformer run by onnxruntime on the processor; cut at the contract's limit, padded to the batch, pooled here.

    The tokenizer's own truncation and padding are overridden: the MiniLM files cut and pad at 128 unseen.
    output   the hidden states to pool; None: last_hidden_state, else the first output with three axes
    """

    contract: Contract
    model: Path
    tokenizer: Path
    output: str | None
    threads: int
    batch: BatchLimit
    _session: Any = field(default=None, repr=False)
    _cutting: Any = field(default=None, repr=False)
    _counting: Any = field(default=None, repr=False)
    _pad: int = 0

    def load(self) -> None:
        """Raises CannotRun where the graph wants an input or lacks an output that we cannot serve."""
        import onnxruntime  # heavy: only here

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(self.model), options, providers=["CPUExecutionProvider"])
        strange = [
            i.name
            for i in self._session.get_inputs()
            if i.name not in {"input_ids", "attention_mask", "token_type_ids"}
        ]
        if strange:
            raise CannotRun(f"the model wants inputs that no tokenizer makes: {', '.join(strange)}")
        outputs = {o.name: len(o.shape or ()) for o in self._session.get_outputs()}
        deep = [name for name, axes in outputs.items() if axes == 3]
        self.output = self.output or ("last_hidden_state" if "last_hidden_state" in deep else next(iter(deep), None))
        if self.output not in outputs:
            raise CannotRun(f"the model has no output {self.output!r}", where=f"its outputs are {', '.join(outputs)}")
        self.load_tokenizer()
        if self.contract.max_input_tokens is not None:
            self._cutting.enable_truncation(max_length=self.contract.max_input_tokens)

    def load_tokenizer(self) -> None:
        """The tokenizer alone, so that tokens can be counted without the model."""
        from tokenizers import Tokenizer

        self._cutting, self._counting = (Tokenizer.from_file(str(self.tokenizer)) for _ in range(2))
        self._pad = (self._cutting.padding or {}).get("pad_id", 0)
        for one in (self._cutting, self._counting):
            one.no_padding()
            one.no_truncation()

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(texts,) tokens of each text before any cut, special tokens included."""
        return np.array([len(one.ids) for one in self._counting.encode_batch_fast(list(texts))], dtype=np.int64)

    def known_tokens(self, texts: Sequence[str]) -> NDArray[np.int64] | None:
        """(texts,) tokens that are neither special nor unknown; None where the tokenizer has no unknown token."""
        unknown = self._counting.token_to_id(getattr(self._counting.model, "unk_token", None) or "")
        if unknown is None:
            return None
        return np.array(
            [
                sum(i != unknown and not special for i, special in zip(one.ids, one.special_tokens_mask, strict=True))
                for one in self._counting.encode_batch_fast(list(texts))
            ],
            dtype=np.int64,
        )

    def encode(self, texts: Sequence[str], role: Role) -> NDArray[np.floating]:  # noqa: ARG002 prompts make the roles
        """(texts, dimension) in the contract's dtype, pooled and, where the contract says so, normalised."""
        encoded = self._cutting.encode_batch(list(texts))
        feed = {name: np.zeros((len(texts), max(len(one.ids) for one in encoded)), dtype=np.int64) for name in NAMES}
        feed["input_ids"][:] = self._pad
        for row, one in enumerate(encoded):
            for name, values in zip(NAMES, (one.ids, one.attention_mask, one.type_ids), strict=True):
                feed[name][row, : len(values)] = values
        wanted = {i.name: np.int32 if i.type == "tensor(int32)" else np.int64 for i in self._session.get_inputs()}
        (hidden,) = self._session.run([self.output], {name: feed[name].astype(kind) for name, kind in wanted.items()})
        vectors = pooled(hidden, feed["attention_mask"], self.contract.pooling)
        if self.contract.normalized:
            with np.errstate(invalid="ignore", divide="ignore"):
                vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors.astype(self.contract.dtype)


def embedder(candidate: Candidate, *, folder: Path, threads: int) -> OnnxEmbedder:
    """Open a model and its tokenizer; the whole contract is the study's to state, but for tokenizer_revision.

    The stated revision must be the SHA-256 of the model file, so that nobody can change the file under the contract.
    An `output` that the study names changes every vector, so it is written into the contract's preprocessing.
    raises   InputError naming everything that is wrong; NotInstalled where a package is missing
    """
    where = f"candidate {candidate.id!r}"
    model, tokenizer = option_files(candidate, FILES, folder)
    for name in NEEDS:
        package_folder(name, install=INSTALL)
    output = str(candidate.options["output"]) if "output" in candidate.options else None
    found = {"tokenizer_revision": sha256_of(tokenizer)}
    if output:
        found["preprocessing"] = f"output {output}"
    contract = Contract.from_claims(candidate.id, {**found, **candidate.claims})
    found["revision"] = sha256_of(model, *weights_beside(model))
    problems = Problems()
    for field_name, true in found.items():
        if getattr(contract, field_name) != true:
            problems.add(
                f"{field_name} is {getattr(contract, field_name)!r}, the file says otherwise",
                where=f"contract of {where}",
                fix=f'{field_name} = "{true}"',
            )
    if contract.pooling not in POOLINGS:
        problems.add(f"pooling must be mean, cls or last, is {contract.pooling!r}", where=f"contract of {where}")
    if contract.truncation not in {None, "end"}:
        problems.add(f"truncation must be end, is {contract.truncation!r}", where=f"contract of {where}")
    problems.raise_if_any()
    batch = ALONE if _quantises_activations(model) else BATCH
    return OnnxEmbedder(contract, model, tokenizer, output, threads, batch)


def installed() -> list[Candidate]:
    """The packaged models whose weights and tokenizer are there, and what runs them."""
    return [candidate for model in ONNX_MODELS if (candidate := _ready(model)) is not None]


def _ready(model: OnnxModel) -> Candidate | None:
    candidate = Candidate(model.id, "onnx", options=model.options)
    try:
        for name in NEEDS:
            package_folder(name, install=INSTALL)
        weights, tokenizer = option_files(candidate, FILES, Path())
    except NotInstalled:
        return None
    stated = model.contract(revision=sha256_of(weights), tokenizer_revision=sha256_of(tokenizer))
    return replace(candidate, contract=stated)


def _quantises_activations(model: Path) -> bool:
    with model.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"DynamicQuantize") >= 0
