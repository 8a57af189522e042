"""What is to be encoded, and in which batches: an order that no file decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.contract import Contract, Role
from tiepoint.core.ids import input_hash
from tiepoint.encoding.embedder import BatchLimit, Embedder
from tiepoint.encoding.encoded import Items
from tiepoint.encoding.shelf import Store, positions


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The distinct texts of one role; equal texts are encoded once.

    keys      (distinct,) binary, in order of first appearance
    of_item   (items,) which distinct text each item has
    first     (distinct,) the first item that has it
    """

    role: Role
    items: Items
    prompt: str
    keys: pa.Array
    of_item: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def of(cls, role: Role, items: Items, contract: Contract) -> Inputs:
        """Hash the bytes that the model will be sent."""
        prompt = contract.prompt(role)
        mark = role.encode()
        keys = pa.array([mark + input_hash(prompt + text) for text in items.texts], pa.binary()).dictionary_encode()
        of_item = np.array(keys.indices.to_numpy(), dtype=np.int64)
        _, first = np.unique(of_item, return_index=True)
        return cls(role, items, prompt, keys.dictionary, of_item, first)

    def id(self, distinct: int) -> str:
        """The id of the first item that has this text."""
        return self.items.ids[int(self.first[distinct])]

    def text(self, distinct: int) -> str:
        """What the model is sent."""
        return self.prompt + self.items.texts[int(self.first[distinct])]


@dataclass(slots=True, eq=False)
class Pass:
    """What this run makes of one role.

    todo     distinct texts to encode
    tokens   (distinct,) counted in this run, -1 where not counted
    failed   distinct text to reason
    """

    inputs: Inputs
    todo: NDArray[np.int64]
    tokens: NDArray[np.int64]
    failed: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, inputs: Inputs, store: Store) -> Pass:
        """Whatever the store does not hold is to be encoded."""
        there = (store.shelf.rows_of(inputs.keys) >= 0) | (positions(inputs.keys, store.pending) >= 0)
        return cls(inputs, np.flatnonzero(~there), np.full(len(inputs.keys), -1, dtype=np.int64))


def batches(one: Pass, embedder: Embedder) -> Iterator[NDArray[np.int64]]:
    """Distinct texts to encode, in batches within the limit.

    The longest stand first, by tokens after the cut, else by characters, and ties in order of id: no order of a file changes
    a batch, little is padded, and what is too large for memory shows itself in the first batch and not in the last hour.
    """
    limit, cut = embedder.batch, embedder.contract.max_input_tokens
    counted = bool((one.tokens[one.todo] >= 0).all())
    if counted:
        lengths = {int(i): min(int(one.tokens[i]), cut or int(one.tokens[i])) for i in one.todo}
    else:
        lengths = {int(i): len(one.inputs.text(int(i))) for i in one.todo}
    ordered = sorted(lengths, key=lambda i: (-lengths[i], one.inputs.id(i)))
    yield from packed(ordered, lengths if counted else None, limit)


def packed(order: Iterable[int], tokens: Mapping[int, int] | None, limit: BatchLimit) -> Iterator[NDArray[np.int64]]:
    """Texts in this order, in batches within the limit. tokens: of each text, after the cut; None: they cannot be counted."""
    batch: list[int] = []
    longest = 0
    for i in order:
        longest = max(longest, 0 if tokens is None else tokens[i])
        if batch and not _fits(len(batch) + 1, None if tokens is None else longest, limit):
            yield np.array(batch)
            batch, longest = [], 0 if tokens is None else tokens[i]
        batch.append(i)
    if batch:
        yield np.array(batch)


def _fits(texts: int, longest: int | None, limit: BatchLimit) -> bool:
    return texts <= limit.texts and (limit.tokens is None or longest is None or texts * longest <= limit.tokens)
