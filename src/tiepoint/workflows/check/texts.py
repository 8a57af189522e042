"""Documents that are copies of one another, and queries whose words stand in a document."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.check import Copies, Named, NearCopies
from tiepoint.core.ids import numbered
from tiepoint.core.study import Study
from tiepoint.core.words import words
from tiepoint.errors import FIRST

RUN = 8
SHORT_RUN = 4
CHUNK = 2_000
"""Documents whose words are held at once."""


def named(names: Sequence[str]) -> Named:
    """All are counted, the first are named."""
    return Named(len(names), tuple(names[:FIRST]))


@dataclass(slots=True, eq=False)
class TextScan:
    """One pass over the documents' words: how many each has, and which queries share a run with it.

    lengths   (documents,) words
    found     query position to the first document that shares its run, by length of the run
    """

    lengths: NDArray[np.int64]
    found: dict[int, int]
    asked: tuple[int, ...] = field(default=())

    @classmethod
    def of(cls, study: Study) -> TextScan:
        """Stream over the documents once."""
        asked = [words(text) for text in study.queries.texts]
        runs = Runs(asked)
        lengths = np.zeros(len(study.corpus), dtype=np.int64)
        found: dict[int, int] = {}
        column = study.corpus.table.column("text")
        for start in range(0, len(study.corpus), CHUNK):
            block = [words(text) for text in column.slice(start, CHUNK).to_pylist()]
            lengths[start : start + len(block)] = [len(one) for one in block]
            for query, document in runs.shared(block):
                found.setdefault(query, start + document)
        return cls(lengths, found, tuple(len(one) for one in asked))


class Runs:
    """The runs of words of queries, found in documents by a hash over whole columns and then compared word for word.

    A run is RUN words in a row; of a query with fewer, down to SHORT_RUN, all of its words.
    """

    def __init__(self, queries: Sequence[Sequence[str]]) -> None:
        self._code: dict[str, int] = {}
        self._runs: dict[int, dict[tuple[int, ...], list[int]]] = {}
        for q, asked in enumerate(queries):
            size = min(RUN, len(asked))
            if size < SHORT_RUN:
                continue
            codes = [self._code.setdefault(word, len(self._code) + 1) for word in asked]
            of = self._runs.setdefault(size, {})
            for run in {tuple(codes[i : i + size]) for i in range(len(codes) - size + 1)}:
                of.setdefault(run, []).append(q)
        self._hashes = {size: np.unique(_hashed(np.array(list(of)))) for size, of in self._runs.items()}

    def shared(self, documents: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
        """(query, document) positions that share a run, documents ascending within each length of run."""
        if not self._runs:
            return
        known = self._code.get
        # A word that no query has is 0, and so is the end of a document: no run reaches over either.
        codes: list[int] = []
        for one in documents:
            codes.extend(map(known, one, repeat(0)))
            codes.append(0)
        flat = np.array(codes, dtype=np.int64)
        ends = np.cumsum([len(one) + 1 for one in documents])
        for size, of in self._runs.items():
            if len(flat) < size:
                continue
            windows = np.lib.stride_tricks.sliding_window_view(flat, size)
            whole = np.flatnonzero(_whole(flat, size))
            hashes = _hashed(windows[whole])
            at = np.minimum(np.searchsorted(self._hashes[size], hashes), len(self._hashes[size]) - 1)
            for start in whole[self._hashes[size][at] == hashes]:
                for query in of.get(tuple(windows[start].tolist()), ()):
                    yield query, int(np.searchsorted(ends, start, side="right"))


def near_copies(study: Study, scan: TextScan) -> NearCopies:
    """Queries that share a run of words with a document."""
    ids = study.corpus.table.column("id")

    def said(queries: Iterable[int]) -> Named:
        return named([f"{study.queries.ids[q]} in {ids[scan.found[q]].as_py()}" for q in queries])

    found = sorted(scan.found)
    long = [q for q in found if scan.asked[q] >= RUN]
    of = sum(length >= RUN for length in scan.asked)
    return NearCopies(
        long=said(long),
        whole=said(q for q in found if scan.asked[q] < RUN),
        short=sum(length < SHORT_RUN for length in scan.asked),
        share=len(long) / of if of else None,
    )


def copies(study: Study) -> Copies:
    """Groups of documents with one text, exactly or but for white space, and where their judgements part."""
    table = study.corpus.table
    same = numbered(table.column("content_hash").to_pylist())
    loose = numbered([_unspaced(text) for text in table.column("text").to_pylist()])
    ids = study.corpus.ids
    exact_groups = _groups(same)
    spaced = [group for group in _groups(loose) if len(set(same[group].tolist())) > 1]
    apart = _judged_apart(study, loose)
    return Copies(
        exact=named([" = ".join(ids[i] for i in group[:FIRST]) for group in exact_groups]),
        spaced=named([" = ".join(ids[i] for i in group[:FIRST]) for group in spaced]),
        documents=sum(len(group) for group in _groups(loose)),
        judged_apart=named([f"{study.queries.ids[q]}: {study.corpus.units.ids[u]}" for q, u in apart]),
    )


def _judged_apart(study: Study, loose: NDArray[np.int64]) -> list[tuple[int, int]]:
    """(query, unit) pairs of grade 1 or better of which a copy that the query may read has another grade, or none.

    Where passages are declared, judgements name parents, and nothing is said here.
    """
    qrels, units = study.qrels, study.corpus.units
    if not units.plain:
        return []
    size = np.bincount(loose)
    members: dict[int, list[int]] = {}
    for i in np.flatnonzero(size[loose] > 1):
        members.setdefault(int(loose[i]), []).append(int(i))
    query = qrels.query
    grade = {(int(q), int(d)): int(g) for q, d, g in zip(query, qrels.document, qrels.grade, strict=True)}
    may_read: dict[frozenset[str], NDArray[np.bool_]] = {}
    apart = []
    for (q, d), g in grade.items():
        if d < 0 or g < 1 or int(loose[d]) not in members:
            continue
        groups = study.queries.groups[q]
        if groups not in may_read:
            may_read[groups] = study.corpus.readable(groups)
        if any(grade.get((q, other)) != g for other in members[int(loose[d])] if may_read[groups][other]):
            apart.append((q, d))
    return apart


def _hashed(runs: NDArray[np.int64]) -> NDArray[np.uint64]:
    """(runs, size) word codes to one number each; a collision is weeded out by comparing the words."""
    total = np.zeros(len(runs), dtype=np.uint64)
    for place in range(runs.shape[1]):
        total = total * np.uint64(0x9E3779B97F4A7C15) + runs[:, place].astype(np.uint64)
    return total


def _whole(flat: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """(windows,) True where all words of the window are known to the queries."""
    known = np.concatenate([[0], np.cumsum(flat > 0)])
    return np.asarray(known[size:] - known[:-size] == size)


def _unspaced(text: str) -> bytes:
    return hashlib.blake2b(" ".join(unicodedata.normalize("NFC", text).split()).encode(), digest_size=16).digest()


def _groups(codes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The positions of every code that stands more than once, in order of first appearance."""
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(codes) else []
    return sorted((part for part in parts if len(part) > 1), key=lambda part: int(part[0]))
