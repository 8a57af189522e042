"""What a result keeps of its corpus, so that a later check can say what changed: the owner's, and no text in it."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tiepoint.core.study import Study
from tiepoint.core.words import lettered, words

DOCUMENTS = pa.schema(
    [
        ("document", pa.string()),
        ("content_hash", pa.binary(32)),
        ("regions", pa.list_(pa.string())),
        ("words", pa.int64()),
    ]
)
WORDS = pa.schema([("word_hash", pa.uint64()), ("count", pa.int64())])
"""Words by the first 8 bytes of their BLAKE2b: enough to know one again, and no text."""


def corpus_tables(study: Study) -> dict[str, pa.Table]:
    """The tables `documents` and `words` of a Result, by these names.

    documents   one row a document in id order; words: how many its embedding text has
    words       the distinct words that hold a letter, by hash, ascending, and how often each stands
    """
    table = study.corpus.table
    lengths = np.zeros(len(study.corpus), dtype=np.int64)
    counts: Counter[str] = Counter()
    for i, text in enumerate(table.column("text").to_pylist()):
        found = words(text)
        lengths[i] = len(found)
        counts.update(found)
    kept = sorted((_hash(word), count) for word, count in counts.items() if lettered(word))
    return {
        "documents": pa.table(
            {
                "document": table.column("id"),
                "content_hash": table.column("content_hash"),
                "regions": table.column("regions"),
                "words": pa.array(lengths),
            },
            schema=DOCUMENTS,
        ),
        "words": pa.table(
            {
                "word_hash": pa.array([key for key, _ in kept], pa.uint64()),
                "count": pa.array([count for _, count in kept], pa.int64()),
            },
            schema=WORDS,
        ),
    }


def new_share(now: pa.Table, then: pa.Table) -> float | None:
    """The share of the running words of one `words` table that the other does not have; None: there is no word."""
    keys, counts = (np.asarray(now.column(name).to_numpy()) for name in ("word_hash", "count"))
    total = int(counts.sum())
    fresh: NDArray[np.bool_] = ~np.isin(keys, then.column("word_hash").to_numpy())
    return float(counts[fresh].sum() / total) if total else None


def _hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
