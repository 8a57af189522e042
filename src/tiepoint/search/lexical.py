"""The lexical baseline: BM25 with the statistics of what each principal may read, so that no score carries forbidden text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.run import Run
from tiepoint.search.eligibility import Eligibility, Part
from tiepoint.search.rank import rank

K1 = 1.5
B = 0.75
PATTERN = r"(?u)\b\w\w+\b"
DEFINITION = (
    f"BM25 (lucene form), k1 {K1}, b {B}; lower-cased words of two or more characters ({PATTERN}), English stop words "
    "of bm25s, Snowball English stemmer; N, document frequencies and mean length of the documents that the principal "
    "may read; a document that shares no term with the query is not ranked"
)


@dataclass(frozen=True, slots=True, eq=False)
class TermMatrix:
    """Term frequencies as postings, one list a term, each in ascending row.

    vocabulary   term to number
    start        (terms + 1,) int64: term t owns the postings start[t] .. start[t + 1]
    row, count   the posting's document and how often the term stands in it
    length       (documents,) int64 terms of each document, stop words left out
    """

    vocabulary: dict[str, int]
    start: NDArray[np.int64]
    row: NDArray[np.int64]
    count: NDArray[np.float64]
    length: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> TermMatrix:
        """Tokenise the texts and count their terms."""
        documents = terms_of(texts)
        vocabulary = {term: i for i, term in enumerate(sorted({t for terms in documents for t in terms}))}
        length = np.array([len(terms) for terms in documents], dtype=np.int64)
        rows = np.repeat(np.arange(len(documents)), length)
        terms = np.array([vocabulary[t] for document in documents for t in document], dtype=np.int64)
        keys, counts = np.unique(terms * max(len(documents), 1) + rows, return_counts=True)
        term, row = np.divmod(keys, max(len(documents), 1))
        start = np.searchsorted(term, np.arange(len(vocabulary) + 1))
        return cls(vocabulary, start.astype(np.int64), row, counts.astype(np.float64), length)

    def scores(self, terms: Sequence[str], readable: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(documents,) BM25 of one query with the statistics of the readable documents; 0 where no term is shared.

        terms      the query's terms; a repeated term counts each time, a term that no readable document has not at all
        readable   (documents,) bool; only these documents are counted and scored
        """
        total = np.zeros(len(self.length))
        documents = int(readable.sum())
        if not documents:
            return total
        mean_length = self.length[readable].sum() / documents
        for term in sorted(terms):
            number = self.vocabulary.get(term)
            if number is None:
                continue
            postings = slice(self.start[number], self.start[number + 1])
            kept = readable[self.row[postings]]
            row, count = self.row[postings][kept], self.count[postings][kept]
            idf = np.log(1 + (documents - len(row) + 0.5) / (len(row) + 0.5))
            total[row] += idf * count / (K1 * (1 - B + B * self.length[row] / mean_length) + count)
        return total


def terms_of(texts: Sequence[str]) -> list[list[str]]:
    """The terms of each text: bm25s' tokeniser with the Snowball stemmer."""
    if not texts:
        return []
    # bm25s brings numba with it where that is installed: only who asks for terms waits for it.
    import bm25s.tokenization
    import Stemmer

    tokens = bm25s.tokenization.tokenize(
        list(texts),
        lower=True,
        token_pattern=PATTERN,
        stopwords="en",
        stemmer=Stemmer.Stemmer("english"),
        return_ids=False,
        show_progress=False,
    )
    return [list(terms) for terms in tokens]


def search_lexically(
    matrix: TermMatrix, query_texts: Sequence[str], eligibility: Eligibility, *, depth: int, tolerance: float = 0.0
) -> Run:
    """BM25 rankings of every query.

    matrix        terms of the eligibility's corpus
    query_texts   one for each query of the eligibility
    returns       a Run; documents that share no term with the query are not ranked
    """
    terms = terms_of(query_texts)

    def scorer(part: Part) -> NDArray[np.float64]:
        scores = np.stack([matrix.scores(terms[q], part.readable)[part.rows] for q in part.queries])
        return np.where(scores > 0, scores, -np.inf)

    return rank(eligibility, scorer, depth=depth, tolerance=tolerance)
