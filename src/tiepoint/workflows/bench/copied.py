"""Documents and queries whose words stand elsewhere too, as far as the readers of a report may see."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tiepoint.core.figure import Copied
from tiepoint.core.study import Study
from tiepoint.core.words import words
from tiepoint.errors import FIRST
from tiepoint.workflows.check.texts import CHUNK, RUN, SHORT_RUN, Runs

DEFINITION = (
    "among the documents that the readers may see: those whose text is another's too (line ends and Unicode form aside); and the "
    f"queries that share {RUN} words in a row with one, or, of {SHORT_RUN} to {RUN - 1} words, all of them"
)


def copied(study: Study) -> Copied:
    """Copies among the documents that may be counted; nothing where none may."""
    if not study.corpus.public and not study.readers:
        return Copied()
    rows = np.flatnonzero(study.shown)
    hashes = study.corpus.table.column("content_hash").take(rows).to_pylist()
    repeated = [count for count in Counter(hashes).values() if count > 1]
    runs = Runs([words(text) for text in study.queries.texts])
    found: set[int] = set()
    text = study.corpus.table.column("text")
    for start in range(0, len(rows), CHUNK):
        block = text.take(rows[start : start + CHUNK]).to_pylist()
        found.update(query for query, _ in runs.shared([words(one) for one in block]))
    return Copied(
        documents=sum(repeated),
        texts=len(repeated),
        queries=len(found),
        first=tuple(study.queries.ids[q] for q in sorted(found)[:FIRST]),
    )
