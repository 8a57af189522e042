"""How much a score moves when its text is encoded again: the floor under which two scores are not told apart."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.space import Space
from tiepoint.encoding.again import encode_again
from tiepoint.encoding.batches import Pass, packed
from tiepoint.encoding.embedder import BatchLimit
from tiepoint.encoding.encoded import EncodingFailed
from tiepoint.encoding.live import Live
from tiepoint.encoding.shelf import Store
from tiepoint.search.score import score
from tiepoint.stats.resample import mixed

SAMPLE = 50
"""So many texts are encoded again, at most."""
CELLS = 4_000_000
"""Words of vectors that are hashed at once."""
MOST = 10_000
"""Where noise ties more documents than these with one, ties by it are not looked at: they would fill the memory."""
DEFINITION = (
    f"at most {SAMPLE} document texts, those of the smallest input hashes, are encoded again in other batches and another order; "
    "noise is the largest difference, in units of the score, between the scores of a text's first and second vector against "
    "the first vectors of all of them; a hit and a document left out whose scores lie within twice the noise, neighbour by "
    "neighbour, and do not tie stand in an order that noise made"
)


def measure_noise(live: Live, one: Pass, store: Store) -> float | None:
    """By how much scores of the same text differ when it is encoded again.

    Which texts are taken follows from the bytes that the model is sent, as good as drawn: the same ones in every run.

    live      loaded; the seconds spent here are in no throughput
    one       the documents, encoded
    store     holds their vectors, on the shelf or pending
    returns   the largest |score(a', b) - score(a, b)| by the contract's metric, where a and b are vectors of the sample and a' is
              made anew; 0 for an embedder whose vector depends on its text alone; None where no text could be encoded again
    """
    encoded = np.setdiff1d(np.arange(len(one.inputs.keys)), list(one.failed))
    chosen = encoded[_smallest(one.inputs.keys.take(pa.array(encoded)))]
    texts = [one.inputs.text(int(i)) for i in chosen]
    first = store.vectors_of(one.inputs.keys.take(pa.array(chosen)))
    try:
        second = encode_again(live, texts, one.inputs.role, _others(live, texts))
    except EncodingFailed:
        return None  # what is encoded already stays good
    return largest_difference(first, second, live)


def largest_difference(first: NDArray[np.floating], second: NDArray[np.floating], live: Live) -> float | None:
    """Over the texts that have both vectors; None without one. first, second: (texts, dimension), NaN where there is none."""
    both = np.isfinite(first).all(axis=1) & np.isfinite(second).all(axis=1)
    if not both.any():
        return None
    metric = live.embedder.contract.metric
    stayed, again = (score(vectors[both], first[both], metric) for vectors in (first, second))
    return float(np.abs(again - stayed).max())


def searchable_floor(space: Space) -> float:
    """space.floor; 0 where more than MOST documents would tie by it with a query's best: then noise orders the whole space.

    How many is estimated, from up to 20 queries and 1,000 documents, those of the smallest hashes of their vectors: no order of
    a file decides.
    """
    documents, queries = (one.row[one.row >= 0] for one in (space.documents, space.queries))
    if not space.floor or len(documents) <= MOST or not len(queries):
        return space.floor
    rows = _drawn(space.documents.array, documents, 1000)
    asked = _drawn(space.queries.array, queries, 20)
    scores = score(space.queries.array[asked], space.documents.array[rows], space.contract.metric)
    others = (scores >= scores.max(axis=1, keepdims=True) - space.floor).sum(axis=1) - 1
    return space.floor if others.mean() / len(rows) * len(documents) <= MOST else 0.0


def _drawn(array: NDArray[np.floating], rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """So many of these rows, by a hash of each vector and of how often it stood before: the same vectors in any order of rows."""
    if len(rows) <= 1:
        return rows
    word = np.uint16 if array.dtype.itemsize == 2 else np.uint32
    words = array.shape[1] * array.dtype.itemsize // np.dtype(word).itemsize
    factors = np.frombuffer(hashlib.shake_256(b"tiepoint noise").digest(8 * (words + 1)), dtype="<u8") | np.uint64(1)
    hashes = np.empty(len(rows), dtype=np.uint64)
    step = max(1, CELLS // words)
    for first in range(0, len(rows), step):
        vectors = np.ascontiguousarray(array[rows[first : first + step]])
        hashes[first : first + step] = mixed(vectors.view(word).astype(np.uint64) @ factors[1:])
    order = np.argsort(hashes, kind="stable")
    ranked = hashes[order]
    begins = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    before = np.arange(len(order)) - np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    by_count = mixed(ranked + before.astype(np.uint64) * factors[0])
    chosen: NDArray[np.int64] = rows[order[np.argsort(by_count, kind="stable")[:most]]]
    return chosen


def _smallest(keys: pa.Array) -> NDArray[np.int64]:
    """Positions of the smallest keys, ascending by key: no order of a file decides."""
    options = pc.SelectKOptions(k=min(SAMPLE, len(keys)), sort_keys=[("", "ascending")])
    return np.array(pc.select_k_unstable(keys, options=options).to_numpy(), dtype=np.int64)


def _others(live: Live, texts: list[str]) -> list[NDArray[np.int64]]:
    """Batches in the order of the hashes, at least two where there are two texts: with other neighbours than at first."""
    limit, cut = live.embedder.batch, live.embedder.contract.max_input_tokens
    counted = live.count(texts)
    tokens = None if counted is None else {i: min(int(n), cut or int(n)) for i, n in enumerate(counted)}
    half = BatchLimit(min(limit.texts, max(1, (len(texts) + 1) // 2)), limit.tokens)
    return list(packed(range(len(texts)), tokens, half))
