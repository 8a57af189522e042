"""The lexical baseline against bm25s, on a public corpus and on what one principal may read."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiepoint.core.corpus import Corpus
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.lexical import K1, B, TermMatrix, search_lexically, terms_of

WORDS = ("peat", "culvert", "survey", "shaft", "hedge", "hedges", "the", "Weardale", "flooded", "flooding")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=2, max_size=12)


def scores_of_bm25s(texts: list[str], question: str) -> np.ndarray:
    """(texts,) as bm25s makes them of the same terms; it keeps float32 by default, here float64."""
    documents = terms_of(texts)
    index = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64")
    index.index(documents, show_progress=False)
    known = [term for term in terms_of([question])[0] if term in index.vocab_dict]
    return index.get_scores(known) if known else np.zeros(len(texts))


def queries_of(texts: list[str], groups: list[set[str]], regions: list[tuple[str, ...]]) -> Queries:
    n = len(texts)
    return Queries(
        ids=tuple(f"q{i:04d}" for i in range(n)),
        texts=tuple(texts),
        groups=tuple(map(frozenset, groups)),
        regions=tuple(regions),
        subgroups=((),) * n,
        rare=np.zeros(n, dtype=bool),
        no_answer=np.zeros(n, dtype=bool),
        split=(None,) * n,
        cluster=tuple(f"q{i:04d}" for i in range(n)),
        provenance=("unknown",) * n,
    )


@settings(max_examples=120, deadline=None)
@given(texts=TEXTS, question=st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), data=st.data())
def test_scores_equal_bm25s_on_every_readable_subset(texts: list[str], question: str, data: st.DataObject) -> None:
    """What the others say changes no bit: the readable documents alone give the same scores."""
    readable = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))))
    scores = TermMatrix.of(texts).scores(terms_of([question])[0], readable)
    alone = [text for text, may_read in zip(texts, readable, strict=True) if may_read]
    assert not scores[~readable].any()
    if any(terms_of(alone)):
        assert np.allclose(scores[readable], scores_of_bm25s(alone, question), rtol=1e-12, atol=1e-12)
    assert np.array_equal(
        scores[readable], TermMatrix.of(alone).scores(terms_of([question])[0], np.ones(len(alone), bool))
    )


def test_scores_equal_bm25s_on_scifact(scifact: Path) -> None:
    documents = [json.loads(line) for line in (scifact / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    questions = [
        json.loads(line)["text"] for line in (scifact / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    texts = [f"{d['title']} {d['text']}" for d in documents]
    matrix = TermMatrix.of(texts)
    index = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64")
    index.index(terms_of(texts), show_progress=False)
    everything = np.ones(len(texts), dtype=bool)
    for terms in terms_of(questions[:300:3]):
        expected = index.get_scores([term for term in terms if term in index.vocab_dict])
        assert np.allclose(matrix.scores(terms, everything), expected, rtol=1e-12, atol=1e-12)


def test_a_forbidden_text_changes_no_bit_of_a_ranking_and_a_region_changes_no_score() -> None:
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(WORDS, 9)) for _ in range(60)]
    acl = [["planning"] if i % 2 else ["heritage"] for i in range(60)]
    regions = [["Durham"] if i % 3 else ["Kent"] for i in range(60)]
    ids = [f"d{i:02d}" for i in range(60)]
    asked = queries_of(
        ["flooded culvert", "peat survey peat", "hedge"], [{"planning"}, {"planning"}, set()], [("Kent",)] * 3
    )
    known = Regions(frozenset({"Durham", "Kent"}))

    def run_with(secret: str | None, *, filtered: bool) -> tuple[np.ndarray, np.ndarray]:
        changed = [secret if secret is not None and i % 2 == 0 else text for i, text in enumerate(texts)]
        corpus = Corpus.from_columns(ids, changed, acl=acl, regions=regions)
        eligibility = Eligibility.of(corpus, asked, known, filtered=filtered)
        run = search_lexically(TermMatrix.of(changed), asked.texts, eligibility, depth=60)
        return run.document, run.score

    document, scores = run_with(None, filtered=False)
    assert (document[:2] >= 0).any(axis=1).all()
    assert (document[2] == -1).all(), "no groups means no results"
    for secret in ("culvert " * 50, "peat", "", "unheard of words"):
        found = run_with(secret, filtered=False)
        assert np.array_equal(found[0], document)
        assert np.array_equal(found[1], scores)
    whole = [dict(zip(d, s, strict=True)) for d, s in zip(document, scores, strict=True)]
    narrow, same = run_with(None, filtered=True)
    for q, (rows, values) in enumerate(zip(narrow, same, strict=True)):
        kept = rows >= 0
        assert all(regions[d] == ["Kent"] for d in rows[kept])
        assert all(whole[q][d] == s for d, s in zip(rows[kept], values[kept], strict=True))


def test_a_repeated_term_counts_each_time_and_an_unknown_one_not_at_all() -> None:
    matrix = TermMatrix.of(["peat on peat", "shaft"])
    everything = np.ones(2, dtype=bool)
    once = matrix.scores(terms_of(["peat"])[0], everything)
    assert np.array_equal(matrix.scores(terms_of(["peat peat"])[0], everything), 2 * once)
    assert np.array_equal(matrix.scores(terms_of(["peat zeppelin"])[0], everything), once)
    assert once[1] == 0


@pytest.mark.parametrize("texts", [[""], ["the"], []])
def test_texts_without_terms_score_nothing(texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not TermMatrix.of(texts).scores(["peat"], np.ones(len(texts), dtype=bool)).any()
