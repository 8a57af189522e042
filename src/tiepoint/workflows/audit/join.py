"""Vectors joined with what a study knows of its items: the text, who may read it, its revision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.held import SCHEMA, Held, Ledger
from tiepoint.core.ids import content_hash
from tiepoint.core.space import Space, Vectors
from tiepoint.core.study import Study
from tiepoint.encoding.batches import Inputs
from tiepoint.encoding.encoded import Encoded, Items
from tiepoint.encoding.shelf import Shelf
from tiepoint.formats.space_folder import Stored, read_space_folder


@dataclass(frozen=True, slots=True)
class Named:
    """What a side is called, and where it lies."""

    name: str
    where: str


def held_encoded(study: Study, side: Named, encoded: Encoded, store: Path | None) -> Held:
    """A candidate as the benchmark sees it: an item for each document and query that has a vector.

    store     where its vectors are kept; None: nowhere, or they were made elsewhere
    returns   content hashes as the store records them, null where there is none: nobody wrote down which texts vectors made
              elsewhere are of. acl and source revision are the study's, so two sides of one study agree in them
    """
    space, timing = encoded.space, encoded.timing
    failed = len(encoded.failed_documents) + len(encoded.failed_queries)
    cached = timing.documents_cached + timing.queries_cached
    there = int((space.documents.row >= 0).sum() + (space.queries.row >= 0).sum())
    made = encoded.timing.encoded_on is not None or store is not None
    ledger = Ledger(
        wanted=len(study.corpus) + len(study.queries),
        encoded=there - cached if made else None,
        cached=cached if made else None,
        failed=failed if made else None,
    )
    stored = None if store is None else read_space_folder(store)
    return _held(study, side, space, ledger, stored, encoded.notes)


def held_stored(study: Study, side: Named, stored: Stored) -> Held:
    """The rows of a store that are of the study's texts, found by the bytes that the model was sent; broken ones included.

    Nobody says here what the encoding was given, so the ledger holds only what the study wants.
    """
    shelf = Shelf(stored.items, stored.vectors, np.ones(len(stored.items), dtype=bool))
    every = (
        Inputs.of("document", Items(study.corpus.ids, study.corpus.texts), stored.contract),
        Inputs.of("query", Items(study.queries.ids, study.queries.texts), stored.contract),
    )
    documents, queries = (Vectors(stored.vectors, shelf.rows_of(one.keys)[one.of_item]) for one in every)
    space = Space(stored.contract, documents, queries, stored.noise)
    return _held(study, side, space, Ledger(wanted=len(study.corpus) + len(study.queries)), stored, ())


def known_texts(study: Study, held: Held) -> Held:
    """The same side with the study's texts where the side has none of its own, matched by id and role.

    A row that states another content hash than the study's text has keeps no text: its vector is of something else.
    """
    rows = len(held)
    if held.texts is not None:
        return held
    found: NDArray[np.int64] = np.full(rows, -1, dtype=np.int64)
    ids, documents = held.table.column("id"), held.documents
    of_study = (study.corpus.table.column("id"), pa.array(study.queries.ids, pa.string()))
    for mask, known, first in ((documents, of_study[0], 0), (~documents, of_study[1], len(study.corpus))):
        place = pc.index_in(ids.filter(pa.array(mask)), value_set=known)
        found[mask] = pc.fill_null(pc.add(place, first), -1).to_numpy()
    texts, hashes = _texts(study), _hashes(study)
    at = pa.array(found, mask=found < 0)
    stated = held.table.column("content_hash")
    other = pc.fill_null(pc.not_equal(stated, hashes.take(at)), fill_value=False).to_numpy()
    at = pa.array(found, mask=(found < 0) | other)
    return replace(held, texts=texts.take(at))


def _held(
    study: Study, side: Named, space: Space, ledger: Ledger, stored: Stored | None, notes: tuple[str, ...]
) -> Held:
    array, queries = space.documents.array, space.queries.array
    row = np.concatenate([space.documents.row, space.queries.row])
    if queries is not array:  # made elsewhere: two files, so that they are put together once
        row[len(study.corpus) :] += np.where(space.queries.row >= 0, len(array), 0)
        array = np.concatenate([array, queries])
    there = row >= 0
    kept = row[there]
    table = _columns(study).filter(pa.array(there)) if not there.all() else _columns(study)
    hashes, stretch = pa.nulls(len(kept), pa.binary(32)), None
    if stored is not None:
        at = pa.array(kept)
        hashes = stored.items.column("content_hash").take(at)
        stretch = pc.fill_null(stored.items.column("encoding").take(at).cast(pa.int64()), -1).to_numpy()
        unused = len(stored.items) - len(np.unique(kept))
        if unused:
            notes = (*notes, f"{unused:,} vectors of the store are of texts that the study lacks; they are left out")
    texts = _texts(study)
    return Held(
        name=side.name,
        where=side.where,
        contract=space.contract,
        table=table.set_column(SCHEMA.get_field_index("content_hash"), SCHEMA.field("content_hash"), hashes),
        vectors=array,
        row=kept,
        ledger=ledger,
        texts=texts if there.all() else texts.filter(pa.array(there)),
        stretch=stretch,
        notes=notes,
        noise=space.noise,
    )


def _columns(study: Study) -> pa.Table:
    """The documents and then the queries of a study as core.held.SCHEMA has them, content hashes null."""
    corpus, asked = study.corpus.table, len(study.queries)
    rows = len(study.corpus) + asked
    strings = pa.list_(pa.string())
    acl = pa.nulls(len(corpus), strings) if study.corpus.public else corpus.column("acl")
    roles = np.repeat(np.array([0, 1]), [len(corpus), asked])
    columns = [
        _joined(corpus.column("id"), pa.array(study.queries.ids, pa.string())),
        pa.array(["document", "query"]).take(pa.array(roles)),
        pa.nulls(rows, pa.binary(32)),
        _joined(acl, pa.nulls(asked, strings)),
        _joined(corpus.column("source_revision"), pa.nulls(asked, pa.string())),
        pa.nulls(rows, pa.string()),
        pa.array(np.zeros(rows, dtype=bool)),
    ]
    return pa.table(columns, schema=SCHEMA)


def _texts(study: Study) -> pa.ChunkedArray:
    """Texts of the documents and then of the queries."""
    return _joined(study.corpus.table.column("text"), pa.array(study.queries.texts, pa.large_string()))


def _hashes(study: Study) -> pa.ChunkedArray:
    asked = pa.array([content_hash(text) for text in study.queries.texts], pa.binary(32))
    return _joined(study.corpus.table.column("content_hash"), asked)


def _joined(one: pa.Array | pa.ChunkedArray, other: pa.Array) -> pa.ChunkedArray:
    chunks = one.chunks if isinstance(one, pa.ChunkedArray) else [one]
    return pa.chunked_array([*chunks, other], type=other.type)
