"""Small true embedders for the tests of encoding: deterministic, countable, breakable. No mock of a model that can run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tiepoint.core.contract import Contract
from tiepoint.encoding.embedder import BatchLimit
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.live import PROBE

DIMENSION = 8


def contract(**fields: object) -> Contract:
    base = {
        "provider": "test",
        "model": "hash",
        "revision": "1",
        "dimension": DIMENSION,
        "metric": "cosine",
        "normalized": True,
        "dtype": "float32",
        "query_role": "query",
        "document_role": "document",
    }
    return Contract.from_claims("hash", {**base, **fields})


def vector(text: str, role: str = "document") -> np.ndarray:
    """A unit vector that depends on the bytes of the text and on the role only."""
    seed = int.from_bytes(hashlib.sha256(f"{role}|{text}".encode()).digest()[:8], "little")
    v = np.random.default_rng(seed).normal(size=DIMENSION)
    return (v / np.linalg.norm(v)).astype(np.float32)


@dataclass
class HashEmbedder:
    """Vectors from hashes; remembers every batch. A text with BAD in it breaks as `how` says."""

    contract: Contract = field(default_factory=contract)
    batch: BatchLimit = BatchLimit(texts=4)
    how: str = "nan"
    countable: bool = True
    loads: int = 0
    calls: list[list[str]] = field(default_factory=list)

    def load(self) -> None:
        self.loads += 1

    def count_tokens(self, texts: Sequence[str]) -> np.ndarray | None:
        return np.array([len(t.split()) for t in texts], dtype=np.int64) if self.countable else None

    def encode(self, texts: Sequence[str], role: str) -> np.ndarray:
        self.calls.append(list(texts))
        out = np.array([vector(t, role) for t in texts], dtype=self.contract.dtype)
        for i, text in enumerate(texts):
            if "BAD" in text:
                if self.how == "raise":
                    raise RuntimeError(f"cannot read: {text}")
                if self.how == "exit":
                    raise SystemExit(3)
                out[i] = np.nan if self.how == "nan" else 0
        return out

    @property
    def encoded(self) -> list[str]:
        """Texts of every call but the probe."""
        return [t for call in self.calls for t in call if not t.endswith(PROBE)]


def items(count: int, *, kind: str = "d", words: int = 5) -> Items:
    ids = [f"{kind}{i:03}" for i in range(count)]
    return Items(ids, [" ".join([f"{kind}word{i}"] * (1 + i % words)) for i in range(count)])
