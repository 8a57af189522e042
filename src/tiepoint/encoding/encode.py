"""Texts to a Space: cached, probed, counted, encoded once in one order, timed."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.contract import Contract
from tiepoint.core.ids import content_hash, input_hash
from tiepoint.core.space import Space, Vectors
from tiepoint.encoding.batches import Inputs, Pass, batches
from tiepoint.encoding.embedder import Embedder
from tiepoint.encoding.encoded import Encoded, EncodingFailed, Items, Timing
from tiepoint.encoding.live import Live, attempt
from tiepoint.encoding.lock import alone_in
from tiepoint.encoding.noise import SAMPLE, measure_noise
from tiepoint.encoding.progress import SILENT, Progress
from tiepoint.encoding.shelf import SCHEMA, Memory, Shelf, Store, Work, positions
from tiepoint.encoding.store import open_store
from tiepoint.encoding.unknown import unknown_reason

COUNT_TEXTS = 512
ROLES = {"document": "documents", "query": "queries"}
SHARD_TEXTS = 1024
SHARD_S = 10.0
"""A shard is written after so many texts or seconds, whichever comes first: what a kill can lose."""


def encode_space(
    embedder: Embedder,
    documents: Items,
    queries: Items,
    *,
    store_folder: Path | None = None,
    fresh: bool = False,
    threads: int = 0,
    progress: Progress = SILENT,
) -> Encoded:
    """Encode a study's documents and queries, or take from the store what was encoded before.

    store_folder   where the vectors are kept; None: in memory only, nothing is re-used
    fresh          True: the store is ignored and replaced
    threads        as the study says; it stands in the record only
    returns        the space; the model is not even loaded where every vector is in the store
    raises         EncodingFailed: a result for the caller; OSError: the store cannot be written; CannotRun: another run
                   is at work in it
    """
    contract = embedder.contract
    both = (Inputs.of("document", documents, contract), Inputs.of("query", queries, contract))
    with nullcontext() if store_folder is None else alone_in(store_folder):
        store: Store
        if store_folder is None:
            store = Memory(contract, sum(len(inputs.keys) for inputs in both))
        else:
            store = open_store(store_folder, contract, fresh=fresh)
        passes = [Pass.of(inputs, store) for inputs in both]
        if any(len(one.todo) for one in passes) or len(store.pending):
            _make(Live(embedder), passes, store, threads, progress)
        return _encoded(contract, passes, store)


def _make(live: Live, passes: list[Pass], store: Store, threads: int, progress: Progress) -> None:
    """Load, probe, count, warm up, encode documents and then queries, time single queries, encode some documents again for
    the noise, put all on the shelf.
    """
    load_s = live.load()
    live.probe()
    for one in passes:
        _count(live, one)
        _leave_out_unknown(live, one)
    _warm_up(live, passes)
    for one in passes:
        progress.start(f"{live.embedder.contract.space_id}: {ROLES[one.inputs.role]}", len(one.todo))
        try:
            _encode_role(live, one, store, progress)
        finally:
            progress.finish()
    asked = passes[1].inputs
    latency = live.latency([asked.prompt + text for text in asked.items.texts])
    noise = measure_noise(live, passes[0], store) if _noise_is_due(passes[0], store) else None
    store.finish(load_s=load_s, threads=threads, latency=latency, noise=noise)


def _noise_is_due(documents: Pass, store: Store) -> bool:
    """Where it was never measured, or as many documents are new as it takes: a few changed ones do not pay for a sample."""
    made = int((positions(documents.inputs.keys, store.pending) >= 0).sum()) if len(store.pending) else 0
    return made >= SAMPLE or (len(store.pending) > 0 and store.shelf.noise is None)


def _count(live: Live, one: Pass) -> None:
    for start in range(0, len(one.todo), COUNT_TEXTS):
        block = one.todo[start : start + COUNT_TEXTS]
        counts = live.count([one.inputs.text(int(i)) for i in block])
        if counts is None:
            return
        one.tokens[block] = counts


def _leave_out_unknown(live: Live, one: Pass) -> None:
    """A vector of unknown tokens alone would be the same for every such text: none is made, and the reason is kept."""
    for start in range(0, len(one.todo), COUNT_TEXTS):
        block = one.todo[start : start + COUNT_TEXTS]
        texts = [one.inputs.items.texts[int(one.inputs.first[i])] for i in block]
        for place in np.flatnonzero(live.unknown(texts)):
            one.failed[int(block[place])] = unknown_reason(texts[place])
    one.todo = np.array([i for i in one.todo if int(i) not in one.failed], dtype=np.int64)


def _warm_up(live: Live, passes: list[Pass]) -> None:
    """One discarded batch: the first call of a model allocates and tunes, and would be timed as if it were work."""
    for one in passes:
        for batch in batches(one, live.embedder):
            attempt(live.embedder.encode, [one.inputs.text(int(i)) for i in batch], one.inputs.role)
            return


def _encode_role(live: Live, one: Pass, store: Store, progress: Progress) -> None:
    made: list[int] = []
    arrays: list[NDArray[np.floating]] = []
    seconds, begun = 0.0, time.perf_counter()
    for batch in batches(one, live.embedder):
        started = time.perf_counter()
        vectors, failed = live.encode([one.inputs.text(int(i)) for i in batch], one.inputs.role)
        seconds += time.perf_counter() - started
        good = [i for i in range(len(batch)) if i not in failed]
        one.failed.update({int(batch[i]): reason for i, reason in failed.items()})
        made.extend(int(batch[i]) for i in good)
        arrays.append(vectors[good])
        progress.advance(len(batch))
        if len(made) >= SHARD_TEXTS or time.perf_counter() - begun > SHARD_S:
            _add(one, store, made, arrays, seconds, live.embedder.contract.max_input_tokens)
            made, arrays, seconds, begun = [], [], 0.0, time.perf_counter()
    _add(one, store, made, arrays, seconds, live.embedder.contract.max_input_tokens)


def _add(
    one: Pass, store: Store, made: list[int], arrays: list[NDArray[np.floating]], seconds: float, limit: int | None
) -> None:
    """Hand a shard to the store. limit: tokens beyond it were not taken in."""
    if not made:
        return
    inputs, rows = one.inputs, np.array(made)
    tokens = one.tokens[rows]
    known = bool((tokens >= 0).all())
    items = [int(i) for i in inputs.first[rows]]
    table = pa.table(
        {
            "role": pa.array([inputs.role] * len(made), pa.string()),
            "item": pa.array([inputs.items.ids[i] for i in items], pa.string()),
            "input_hash": pa.array([input_hash(inputs.text(i)) for i in made], pa.binary(32)),
            "content_hash": pa.array([content_hash(inputs.items.texts[i]) for i in items], pa.binary(32)),
            "tokens": pa.array(tokens if known else [None] * len(made), pa.int64()),
        },
        schema=SCHEMA,
    )
    taken = int(np.minimum(tokens, limit or tokens.max()).sum()) if known else None
    store.add(table, np.concatenate(arrays), Work(inputs.role, len(made), taken, seconds))


def _encoded(contract: Contract, passes: list[Pass], store: Store) -> Encoded:
    shelf, vectors, lengths, failed, cached = store.shelf, [], [], [], []
    for one in passes:
        rows = shelf.rows_of(one.inputs.keys)
        if len(rows) and (rows < 0).all():
            reasons = sorted(set(one.failed.values()))
            raise EncodingFailed(f"no {one.inputs.role} could be encoded ({', '.join(reasons)})")
        counted = shelf.column("tokens", rows, unknown=-1)
        counted = np.where(counted < 0, one.tokens, counted)
        lengths.append(counted[one.inputs.of_item] if (counted >= 0).all() else None)
        vectors.append(Vectors(shelf.vectors, rows[one.inputs.of_item]))
        ids, of_item = one.inputs.items.ids, one.inputs.of_item
        failed.append({ids[i]: one.failed[d] for i, d in enumerate(of_item.tolist()) if d in one.failed})
        fresh = np.zeros(len(rows), dtype=bool)
        fresh[[*one.todo, *one.failed]] = True
        cached.append(int((~fresh)[of_item].sum()))
    return Encoded(
        space=Space(contract, vectors[0], vectors[1], shelf.noise),
        timing=_timing(shelf, vectors[0], cached),
        document_lengths=lengths[0],
        query_lengths=lengths[1],
        failed_documents=failed[0],
        failed_queries=failed[1],
        notes=tuple(store.notes),
    )


def _timing(shelf: Shelf, documents: Vectors, cached: list[int]) -> Timing:
    """The figures of the encoding that made most of these document vectors; of two alike, the later one."""
    rows = documents.row[documents.row >= 0]
    made = np.bincount(shelf.column("encoding", rows, unknown=0), minlength=len(shelf.history))
    if not len(shelf.history):
        return Timing(documents_cached=cached[0], queries_cached=cached[1])
    best = shelf.history[len(made) - 1 - int(np.argmax(made[::-1]))]
    tokens, seconds = best.document_tokens, best.document_s
    return Timing(
        load_s=best.load_s,
        documents_per_s=best.documents / seconds if seconds > 0 else None,
        tokens_per_s=tokens / seconds if tokens is not None and seconds > 0 else None,
        queries_per_s=best.queries_per_s,
        query_p50_ms=best.query_p50_ms,
        query_p95_ms=best.query_p95_ms,
        encoded_on=best.date,
        threads=best.threads,
        processor=best.processor,
        documents_cached=cached[0],
        queries_cached=cached[1],
    )
