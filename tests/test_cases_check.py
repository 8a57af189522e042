"""Field cases that `tiepoint check` answers; each fails when its rule is removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiepoint as tp
from command import Command
from sample import hashing
from studies import DOCUMENTS, JUDGEMENTS, PUBLIC, QUERIES, rows_with, write_study

OWN = {"id": "own", "embedder": "callable", "options": {"function": "own:encode"}}
CONTRACT = {
    "provider": "test", "model": "m", "revision": "1", "dimension": 8, "metric": "cosine", "normalized": False,
    "dtype": "float32", "query_role": "query", "document_role": "document",
}  # fmt: skip
CANDIDATES = [{**OWN, "contract": CONTRACT}]


def checked(command: Command, folder: Path) -> dict:
    answer = command("check", folder, "--json")
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def test_V006_identical_judgements_count_once_and_are_said(command: Command, tmp_path: Path) -> None:
    study = write_study(
        tmp_path / "s", judgements=f"{JUDGEMENTS}q2\td2\t1\nq2\td2\t1\n", candidates=CANDIDATES, **PUBLIC
    )
    found = checked(command, study)
    assert found["judged"]["repeats"] == 2
    assert found["judged"]["judgements"] == 6
    assert any("2 judgements are repeated" in line for line in found["warnings"])
    result = tp.bench(tp.load_study(study), candidates=[hashing(64)])
    clean = write_study(tmp_path / "clean", **PUBLIC)
    assert result.per_query.equals(tp.bench(tp.load_study(clean), candidates=[hashing(64)]).per_query)


def test_V014_query_ids_that_are_document_ids_too_are_a_warning_and_nothing_is_dropped(
    command: Command, tmp_path: Path
) -> None:
    questions = [{**q, "_id": q["_id"].replace("q", "d")} for q in QUERIES]
    judgements = JUDGEMENTS.replace("\nq", "\nd")
    study = write_study(tmp_path / "s", questions=questions, judgements=judgements, candidates=CANDIDATES, **PUBLIC)
    found = checked(command, study)
    assert found["alike"] == {"count": 4, "first": ["d1", "d2", "d3", "d4"]}
    assert any("4 query ids are document ids too (d1, d2, d3, d4)" in line for line in found["warnings"])
    assert found["slices"]["unfiltered"]["eligible"]["min"] == 6, "no document is dropped for its namesake"
    apart = checked(command, write_study(tmp_path / "apart", candidates=CANDIDATES, **PUBLIC))
    assert apart["alike"] == {"count": 0, "first": []}
    assert not any("document ids too" in line for line in apart["warnings"])


def test_V015_judged_documents_that_the_corpus_lacks_are_listed_with_the_ceiling(
    command: Command, tmp_path: Path
) -> None:
    judgements = f"{JUDGEMENTS}q4\td999\t1\nq4\td998\t2\n"
    found = checked(command, write_study(tmp_path / "s", judgements=judgements, candidates=CANDIDATES, **PUBLIC))
    assert found["judged"]["absent"] == {"count": 2, "first": ["d998", "d999"]}
    assert found["slices"]["unfiltered"]["gold_absent"] == 2
    assert found["slices"]["unfiltered"]["ceiling"] == pytest.approx((1 + 1 + 1 + 2 / 4) / 4)
    assert found["slices"]["unfiltered"]["random_recall"] == pytest.approx((1 + 1 + 1 + 2 / 4) / 4 * 3 / 6)
    assert found["slices"]["filtered"]["ceiling"] == 1, "under a filter the absent leave R"
    assert any("d998, d999" in line and "0.8750" in line for line in found["warnings"])


def test_V015_above_the_share_that_the_study_sets_it_is_refused(command: Command, tmp_path: Path) -> None:
    judgements = f"{JUDGEMENTS}q4\td999\t1\nq4\td998\t2\n"  # 2 of 7 relevant ones
    for name, share, code in (("strict", 0.25, 2), ("loose", 0.3, 0)):
        study = write_study(
            tmp_path / name, judgements=judgements, candidates=CANDIDATES, **PUBLIC,
            qrels={"absent_at_most": share},
        )  # fmt: skip
        answer = command("check", study)
        assert answer.code == code, answer.err
        assert ("2 of 7 relevant documents are not in the corpus" in answer.err) == (code == 2)


def test_V016_copies_are_found_exactly_and_but_for_white_space_and_where_judgements_part(
    command: Command, tmp_path: Path
) -> None:
    documents = rows_with(
        DOCUMENTS,
        d2={"title": "Harbour", "text": "Silt in the harbour"},  # d1, exactly; q1 judges d1 alone
        d6={"title": "Dyke", "text": "The  dyke\n is breached"},  # d5, but for white space
    )
    found = checked(command, write_study(tmp_path / "s", documents=documents, candidates=CANDIDATES, **PUBLIC))
    copies = found["copies"]
    assert copies["exact"] == {"count": 1, "first": ["d1 = d2"]}
    assert copies["spaced"] == {"count": 1, "first": ["d5 = d6"]}
    assert copies["documents"] == 4
    assert copies["judged_apart"]["first"] == ["q1: d1", "q2: d2", "q3: d5"]
    assert any("4 documents are copies of another" in line for line in found["warnings"])
    assert any("3 relevant documents have a copy" in line for line in found["warnings"])


def test_V016_a_copy_that_the_query_may_not_read_costs_it_nothing(command: Command, tmp_path: Path) -> None:
    documents = rows_with(DOCUMENTS, d6={"title": "Dyke", "text": "The dyke is breached"})  # d6: nobody may read it
    found = checked(command, write_study(tmp_path / "s", documents=documents, candidates=CANDIDATES))
    assert found["copies"]["exact"]["first"] == ["d5 = d6"]
    assert found["copies"]["judged_apart"]["count"] == 0


def test_V023_a_query_copied_from_a_document_is_found_by_eight_words_in_a_row(command: Command, tmp_path: Path) -> None:
    text = "Minutes. The sea wall at Cotherstone was seen to lean toward the quay in March; it was shored."
    asked = "why was the SEA WALL, at Cotherstone, was seen to lean toward town"
    documents = rows_with(DOCUMENTS, d4={"text": text})
    cases = {
        "copied": (asked, {"count": 1, "first": ["q1 in d4"]}, {"count": 0, "first": []}),
        "seven": ("sea wall at Cotherstone was seen to tilt over and fall", {"count": 0, "first": []}, {"count": 0, "first": []}),
        "short": ("toward the quay in march", {"count": 0, "first": []}, {"count": 1, "first": ["q1 in d4"]}),
        "across": ("it was shored peat moor peat on the moor", {"count": 0, "first": []}, {"count": 0, "first": []}),
    }  # fmt: skip
    for name, (question, long, whole) in cases.items():
        study = write_study(
            tmp_path / name, documents=documents, questions=rows_with(QUERIES, q1={"text": question}),
            candidates=CANDIDATES, **PUBLIC,
        )  # fmt: skip
        found = checked(command, study)
        assert (name, found["near"]["long"]) == (name, long)
        assert (name, found["near"]["whole"]) == (name, whole)
        assert any("q1 in d4" in line for line in found["warnings"]) == bool(long["count"] or whole["count"])
    assert found["near"]["share"] == 0
