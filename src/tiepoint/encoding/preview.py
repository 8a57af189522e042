"""What an encoding would do, without doing it: what is stored already, how long the texts are. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tiepoint.encoding.batches import Inputs, Pass
from tiepoint.encoding.embedder import Embedder
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.live import Failure, attempt
from tiepoint.encoding.shelf import Encoding, Memory, Store
from tiepoint.encoding.store import peek_store

SAMPLE = 10_000
"""Of more texts than this, so many evenly spaced ones are counted: some tokenizers are slow, and lengths need no more."""
UNCOUNTED = "its tokens cannot be counted without loading the model"
COUNT_TEXTS = 512


@runtime_checkable
class OwnTokenizer(Protocol):
    """An embedder that can count tokens without its weights. One that lacks this is not counted before a run."""

    def load_tokenizer(self) -> None:
        """Bring what count_tokens needs into memory, and not the model."""


@dataclass(frozen=True, slots=True, eq=False)
class RolePreview:
    """The texts of one role before a run.

    texts, encode   distinct texts, and those of them that no store holds
    tokens          (items,) before any cut; -1 where not counted
    encode_tokens   what the model would take in; projected from the mean where only some were counted; None: unknown
    """

    texts: int
    encode: int
    tokens: NDArray[np.int64]
    encode_tokens: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Preview:
    """Both roles; reason: why tokens were not counted where they were not; history: the store's earlier encodings."""

    documents: RolePreview
    queries: RolePreview
    reason: str | None
    history: tuple[Encoding, ...]


def preview(
    embedder: Embedder,
    documents: Items,
    queries: Items,
    *,
    store_folder: Path | None = None,
    fresh: bool = False,
    only_new: bool = False,
) -> Preview:
    """Look at what encode_space would be given.

    fresh      True: nothing stored is used
    only_new   True: tokens of the texts to encode alone are counted; the others' stay as the store knows them
    """
    store: Store = Memory(embedder.contract, 0)
    if store_folder is not None:  # its history is told even where nothing of it would be used again
        store = peek_store(store_folder, embedder.contract)
    history = store.shelf.history
    if fresh:
        store = Memory(embedder.contract, 0)
    passes = [Pass.of(Inputs.of("document", documents, embedder.contract), store)]
    passes.append(Pass.of(Inputs.of("query", queries, embedder.contract), store))
    reason: str | None = None
    for one in passes:
        one.tokens[:] = store.shelf.column("tokens", store.shelf.rows_of(one.inputs.keys), unknown=-1)
        wanted = np.flatnonzero(one.tokens < 0)
        if only_new:
            wanted = np.intersect1d(wanted, one.todo)
        if len(wanted) > SAMPLE:
            wanted = wanted[np.linspace(0, len(wanted) - 1, SAMPLE).astype(np.int64)]
        if len(wanted) and reason is None:
            reason = _count(embedder, one, wanted)
    documents_role, queries_role = (_role(one, embedder.contract.max_input_tokens) for one in passes)
    return Preview(documents_role, queries_role, reason, history)


def _count(embedder: Embedder, one: Pass, wanted: NDArray[np.int64]) -> str | None:
    """Fill in the tokens of these distinct texts; why not, where it cannot be done."""
    if not isinstance(embedder, OwnTokenizer):
        return UNCOUNTED
    loaded = attempt(embedder.load_tokenizer)
    if isinstance(loaded, Failure):
        return f"its tokenizer cannot be loaded ({loaded.sentence})"
    for start in range(0, len(wanted), COUNT_TEXTS):
        block = wanted[start : start + COUNT_TEXTS]
        counts = attempt(embedder.count_tokens, [one.inputs.text(int(i)) for i in block])
        if isinstance(counts, Failure):
            return f"cannot count tokens ({counts.name})"
        if counts is None:
            return UNCOUNTED
        one.tokens[block] = counts
    return None


def _role(one: Pass, limit: int | None) -> RolePreview:
    mine = one.tokens[one.todo]
    known = mine[mine >= 0] if limit is None else np.minimum(mine[mine >= 0], limit)
    projected = float(known.mean() * len(mine)) if len(known) else None if len(mine) else 0.0
    return RolePreview(len(one.inputs.keys), len(one.todo), one.tokens[one.inputs.of_item], projected)
