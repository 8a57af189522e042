"""A document that a question was made from is left out for that question alone, and that is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiepoint as tp
from sample import hashing, write_sample


def with_sources(folder: Path, sources: dict[str, str]) -> tp.Study:
    write_sample(folder, public=True)
    rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["source"] = sources.get(row["_id"])
    (folder / "queries.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    toml = toml.replace('cluster = "cluster"', 'cluster = "cluster"\nexclude = "source"')
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    return tp.load_study(folder)


def hits(result: tp.Result, query: str) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for row in result.rankings.to_pylist():
        if row["query"] == query:
            found.setdefault((row["candidate"], row["slice"]), []).append(row["document"])
    return found


def test_V023_a_named_source_is_left_out_for_its_query_alone_and_logged(tmp_path: Path) -> None:
    arms = [hashing(64), hashing(128)]
    plain = tp.bench(with_sources(tmp_path / "plain", {}), candidates=arms)
    best = hits(plain, "q00")["hash-64", "unfiltered"][0]
    found = tp.bench(with_sources(tmp_path / "left", {"q00": best, "q01": "nowhere"}), candidates=arms)
    for key, documents in hits(found, "q00").items():
        before = hits(plain, "q00")[key]
        assert best not in documents, key
        if key[0] != "random":
            assert documents[: len(before) - 1] == [d for d in before if d != best][: len(documents)]
    for query in ("q01", "q02", "q13"):
        assert hits(found, query) == hits(plain, query)
    notes = " ".join(found.summary.notes)
    assert "2 queries leave out the document that they were made from, in every slice: q00, q01" in notes
    assert "1 of them name a document that the corpus lacks" in notes
    assert "leave out" not in " ".join(plain.summary.notes), "off unless the study says so"


def test_a_source_that_is_gold_leaves_the_relevant_documents(tmp_path: Path) -> None:
    plain = with_sources(tmp_path / "plain", {})
    gold = next(
        d for q, d in zip(plain.qrels.query, plain.qrels.document_id, strict=True) if plain.queries.ids[q] == "q00"
    )
    before = tp.bench(plain, candidates=[hashing(64), hashing(128)]).summary.denominators["unfiltered"]
    after = tp.bench(
        with_sources(tmp_path / "left", {"q00": gold}), candidates=[hashing(64), hashing(128)]
    ).summary.denominators["unfiltered"]
    assert after.gold == before.gold
    assert after.scored in (before.scored, before.scored - 1)


def test_a_source_that_is_no_id_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tp.InputError, match="neither text nor a whole number"):
        with_sources(tmp_path / "s", {"q00": ["d00"]})
