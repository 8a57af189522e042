"""Field cases of ids, judgements and made vectors; each enters by the command line or the Python door."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from command import Command
from forms import write_rows
from sample import contract, hashing
from studies import DOCUMENTS, JUDGEMENTS, QUERIES, refusal, rows_with, write_study
from tiepoint.core.result import Summary

PLAIN = {"queries": dict.fromkeys(("groups", "region", "subgroups", "rare", "cluster"))}
"""Changes that leave the queries of the small study their id and text."""


def open_study(folder: Path, documents: Sequence[dict[str, object]], judged: str, **changes: object) -> Path:
    """A public study without regions; every query of `judged` asks "silt of the port"."""
    asked = sorted({line.split("\t")[0] for line in judged.splitlines()})
    return write_study(
        folder,
        documents=documents,
        questions=[{"_id": q, "text": "silt of the port"} for q in asked],
        judgements=judged,
        corpus={"acl": None, "region": None, "text": "{text}"},
        access={"public": True},
        **PLAIN,
        **{"decision": {"slice": "unfiltered", "measure": "RR@3"}, **changes},  # type: ignore[arg-type]
    )


def constant(texts: Sequence[str]) -> np.ndarray:
    return np.ones((len(texts), 2), dtype=np.float32)


@pytest.mark.parametrize("confidence", [0.8, "point"])
def test_V001_renaming_ids_that_tie_changes_no_verdict_and_the_range_is_shown(
    tmp_path: Path, confidence: float | str
) -> None:
    arms = [tp.Candidate("ties", encode=constant, contract=contract(2)), hashing(64)]
    rows = [{"_id": "b", "text": "silt of the port"}, {"_id": "c", "text": "a moor"}, {"_id": "d", "text": "fen"}]
    found: list[Summary] = []
    for first in ("a", "z"):
        named = [{**row, "_id": first} if row["_id"] == "b" else row for row in rows]
        judged = "".join(f"q{n:02d}\t{first}\t1\n" for n in range(40))
        rule = {"slice": "unfiltered", "measure": "RR@3", "confidence": confidence, "gap": 0.1}
        study = tp.load_study(open_study(tmp_path / first, named, judged, decision=rule))
        found.append(tp.bench(study, candidates=arms).summary)
    one, other = found
    assert one.candidates[0].measures["unfiltered"]["RR@3"].mean == 1
    assert other.candidates[0].measures["unfiltered"]["RR@3"].mean == pytest.approx(1 / 3)
    for summary in found:
        bounds = summary.candidates[0].bounds["unfiltered"]["RR@3"]
        assert (bounds.tie_low, bounds.tie_expected, bounds.tie_high) == (
            pytest.approx(1 / 3),
            pytest.approx(11 / 18),
            1,
        )
    assert (one.decision.verdict, one.decision.choice) == (other.decision.verdict, other.decision.choice)


def test_V007_one_pair_with_two_grades_is_refused_with_both(tmp_path: Path, command: Command) -> None:
    folder = write_study(tmp_path, judgements=JUDGEMENTS + "q1\td1\t0\nq3\td5\t3\nq2\td2\t3\n")
    answer = command("check", folder)
    assert answer.code == 2
    assert "2 pairs of query and document have more than one grade" in answer.err
    assert "(q1, d1): 0 and 2, (q2, d2): 1 and 3" in answer.err, "an identical repeat (q3, d5) is fine"
    assert "(q3, d5)" not in answer.err


@pytest.mark.parametrize("spelling", ["12.0", "012"])
def test_V008_spellings_of_one_id_stop_with_both_and_the_overlap(tmp_path: Path, spelling: str) -> None:
    folder = write_study(
        tmp_path, questions=rows_with(QUERIES, q1={"_id": 12}), judgements=JUDGEMENTS.replace("q1", spelling)
    )
    message = refusal(folder)
    assert f"{spelling!r} is judged, '12' is known" in message
    assert "3 of 4 judged query ids stand in the queries" in message
    (folder / "qrels.tsv").write_text(JUDGEMENTS.replace("q1", "12"), encoding="utf-8")
    assert tp.load_study(folder).queries.ids[0] == "12", "an integer id is its decimal text"


@pytest.mark.parametrize("lines", ["", "q2\tc\t0\n"])
def test_V011_a_query_without_a_relevant_document_leaves_the_mean_and_the_others_alone(
    tmp_path: Path, lines: str
) -> None:
    rows = [{"_id": "a", "text": "silt of the port"}, {"_id": "c", "text": "a moor"}, {"_id": "d", "text": "silt fen"}]
    judged = f"q1\ta\t1\n{lines}q3\tc\t2\n"
    folder = open_study(tmp_path / "s", rows, judged)
    asked = [{"_id": q, "text": "silt of the port"} for q in ("q1", "q2", "q3")]
    write_rows(folder / "queries.jsonl", asked)
    summary = tp.bench(tp.load_study(folder), candidates=[hashing(64)]).summary
    without = tp.bench(
        tp.load_study(open_study(tmp_path / "w", rows, "q1\ta\t1\nq3\tc\t2\n")), candidates=[hashing(64)]
    )
    figure = summary.candidates[0].measures["unfiltered"]["RR@3"]
    assert (figure.mean, figure.n) == (without.summary.candidates[0].measures["unfiltered"]["RR@3"].mean, 2)
    out = summary.denominators["unfiltered"]
    assert (out.no_relevant, out.not_judged, out.no_answer) == ((1, 0, 0) if lines else (0, 1, 0))


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_V017_one_id_with_two_texts_names_the_id_and_both_places(tmp_path: Path, form: str) -> None:
    twice = [*DOCUMENTS, {**DOCUMENTS[1], "text": "another text"}]
    folder = write_study(tmp_path, documents=None, corpus={"path": f"corpus.{form}"})
    write_rows(folder / f"corpus.{form}", twice)
    place = {"jsonl": "lines 2, 7", "csv": "lines 3, 8", "parquet": "rows 2, 7"}[form]
    assert f"d2 ({place})" in refusal(folder)


@pytest.mark.parametrize(("value", "dtype"), [(np.nan, "float32"), (np.inf, "float32"), (70000, "float16")])
def test_V021_made_vectors_that_are_not_finite_name_their_ids(
    tmp_path: Path, command: Command, value: float, dtype: str
) -> None:
    stated = {
        k: v for k, v in dataclasses.asdict(contract(4, dtype=dtype)).items() if v is not None and k != "space_id"
    }
    options = {"documents": "docs.npy", "queries": "asked.npy"}
    made = {"id": "made", "embedder": "vectors", "contract": stated, "options": options}
    folder = write_study(tmp_path / "s", candidates=[made])
    for name, ids in (("docs", [d["_id"] for d in DOCUMENTS]), ("asked", [q["_id"] for q in QUERIES])):
        vectors = np.ones((len(ids), 4))
        vectors[[1, 3], 2] = value if name == "docs" else 1
        with np.errstate(over="ignore"):
            np.save(folder / f"{name}.npy", vectors.astype(dtype))
        (folder / f"{name}.ids.txt").write_text("".join(f"{i}\n" for i in ids), encoding="utf-8")
    answer = command("bench", folder)
    assert answer.code == 2
    assert "2 of 6 vectors of documents hold NaN or infinity" in answer.err
    assert "d2, d4" in answer.err
    assert "65,504 does not fit into float16" in answer.err


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("q1\tmsmarco#7\t1\nq2\td2\t1\n\n", "qrels.tsv: tab-separated without a header, UTF-8, 2 rows"),
        ("q1 0 msmarco#7 1\nq2 0 d2 1\n\n\n", "qrels.tsv: TREC, four columns, UTF-8, 2 rows"),
        ("q1\t0\tmsmarco#7\t1\nq2\t0\td2\t1\n", "qrels.tsv: TREC, four columns, UTF-8, 2 rows"),
    ],
    ids=["tabs", "spaces", "four between tabs"],
)
def test_V034_the_form_of_the_judgements_is_found_and_said(tmp_path: Path, text: str, form: str) -> None:
    folder = write_study(tmp_path, documents=rows_with(DOCUMENTS, d1={"_id": "msmarco#7"}), judgements=text)
    study = tp.load_study(folder)
    assert form in study.notes
    assert "msmarco#7" in study.qrels.document_id
    assert (study.qrels.document >= 0).all()


def test_V034_every_bad_line_of_the_judgements_is_counted_and_the_first_ten_named(tmp_path: Path) -> None:
    bad = "".join(f"q1 d{n}\n" for n in range(12))
    message = refusal(write_study(tmp_path, judgements=JUDGEMENTS + bad))
    assert "nor TREC's four (12)" in message
    assert "lines 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 and 2 more" in message
