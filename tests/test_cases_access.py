"""Field cases of access: what a principal may not read never ranks, whatever is missing closes; each by the Python door."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import tiepoint as tp
from forms import write_rows
from sample import hashing
from studies import DOCUMENTS, QUERIES, refusal, rows_with, rows_without, study_text, write_study


def closed_study(folder: Path, queries: Sequence[dict[str, object]], judged: str) -> Path:
    """30 documents of one text: the first 25 by id for ecology alone, five for planning too, less alike the question."""
    rows = [
        {
            "_id": f"d{n:02d}",
            "text": "silt of the port" if n < 25 else f"silt of the old port {n}",
            "groups": ["ecology"] if n < 25 else ["ecology", "planning"],
        }
        for n in range(30)
    ]
    return write_study(
        folder,
        documents=rows,
        questions=queries,
        judgements=judged,
        corpus={"region": None, "text": "{text}"},
        queries={"region": None, "subgroups": None, "rare": None, "cluster": None},
        decision={"slice": "unfiltered"},
    )


def ranked(result: tp.Result, query: str, arm: str = "hash-64") -> list[str]:
    rows = result.rankings.to_pylist()
    return [r["document"] for r in rows if (r["candidate"], r["query"], r["slice"]) == (arm, query, "unfiltered")]


def test_V108_what_is_forbidden_leaves_before_the_ranking(tmp_path: Path) -> None:
    asked = [{"_id": q, "text": "silt of the port", "groups": [g]} for q, g in (("qe", "ecology"), ("qp", "planning"))]
    folder = closed_study(tmp_path, asked, "qe\td00\t1\nqp\td25\t1\nqp\td26\t1\n")
    result = tp.bench(tp.load_study(folder), candidates=[hashing(64)])
    allowed = {f"d{n}" for n in range(25, 30)}
    for arm in ("hash-64", "bm25", "random"):
        found = ranked(result, "qp", arm)
        assert set(found) <= allowed
        assert len(found) == 3, "refilled to the depth with what may be read"
    assert set(ranked(result, "qe")) & {f"d{n:02d}" for n in range(25)}
    rows = result.per_query.to_pylist()
    (recall,) = [
        r["value"]
        for r in rows
        if (r["candidate"], r["query"], r["measure"], r["slice"]) == ("hash-64", "qp", "recall@3", "unfiltered")
    ]
    assert recall > 0, "recall is measured inside what the principal may read"


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_V112_an_acl_that_is_missing_null_misspelt_or_of_a_wrong_type_fails_closed(tmp_path: Path, form: str) -> None:
    def written(folder: Path, rows: list[dict[str, object]], **changes: dict[str, object]) -> Path:
        keys = {"path": f"corpus.{form}", **changes.pop("corpus", {})}
        write_study(folder, documents=None, corpus=keys, **changes)
        write_rows(folder / f"corpus.{form}", rows)
        return folder

    null = rows_with(DOCUMENTS, d1={"groups": None}, d3={"groups": None})
    message = refusal(written(tmp_path / "null", null))
    assert f"2 of 6 documents have no acl\n  where: corpus.{form}, ids d1, d3" in message
    wrong = rows_with(DOCUMENTS, d2={"groups": ["staff", ""]}, d4={"groups": [""]})
    message = refusal(written(tmp_path / "wrong", wrong))
    assert "2 of 6 documents have something in 'groups'" in message
    assert "ids d2, d4" in message
    missing = rows_without(DOCUMENTS, "groups")
    assert f"corpus.{form} has no column 'groups'" in refusal(written(tmp_path / "missing", missing))
    misspelt = refusal(written(tmp_path / "misspelt", DOCUMENTS, corpus={"acl": "group"}))
    assert 'did you mean "groups"?' in misspelt
    unsaid = written(tmp_path / "unsaid", DOCUMENTS, corpus={"acl": None}, queries={"groups": None})
    assert "nobody has said who may read the documents" in refusal(unsaid)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_V113_an_empty_list_of_groups_finds_nothing_and_an_empty_name_is_refused(tmp_path: Path, form: str) -> None:
    def asked(groups: object) -> Path:
        rows = [
            {"_id": "q1", "text": "silt of the port", "groups": ["planning"]},
            {"_id": "q2", "text": "silt of the port", "groups": groups},
        ]
        folder = closed_study(tmp_path, rows, "q1\td25\t1\n")
        toml = study_text(
            corpus={"region": None, "text": "{text}"},
            queries={**dict.fromkeys(("region", "subgroups", "rare", "cluster")), "path": f"queries.{form}"},
            decision={"slice": "unfiltered"},
        )
        (folder / "study.toml").write_text(toml, encoding="utf-8")
        write_rows(folder / f"queries.{form}", rows)
        return folder

    result = tp.bench(tp.load_study(asked([])), candidates=[hashing(64)])
    assert len(ranked(result, "q1")) == 3
    for arm in ("hash-64", "bm25", "random"):
        assert ranked(result, "q2", arm) == []
    for wrong in ([""], ["planning", " "]):
        message = refusal(asked(wrong))
        assert "1 of 2 queries have something in 'groups'" in message
        assert "ids q2" in message
    assert "1 of 2 queries have no groups" in refusal(asked(None))


def test_V115_one_question_by_two_principals_is_ranked_for_each_and_again_in_every_run(tmp_path: Path) -> None:
    def asked(first: list[str], second: list[str]) -> list[dict[str, object]]:
        text = "silt of the port"
        return [{"_id": q, "text": text, "groups": g} for q, g in (("qa", first), ("qb", second), ("qc", []))]

    arm = hashing(64, cache=True)
    judged = "qa\td26\t1\nqb\td26\t1\n"
    one = tp.bench(tp.load_study(closed_study(tmp_path, asked(["planning"], ["ecology"]), judged)), candidates=[arm])
    swapped = tp.bench(
        tp.load_study(closed_study(tmp_path, asked(["ecology"], ["planning"]), judged)), candidates=[arm]
    )
    assert ranked(one, "qa") == ranked(swapped, "qb")
    assert ranked(one, "qb") == ranked(swapped, "qa")
    assert set(ranked(one, "qa")).isdisjoint(ranked(one, "qb"))
    assert ranked(one, "qc") == ranked(swapped, "qc") == []
    scope = rows_with(QUERIES, q1={"region": ""})
    assert "ids q1" in refusal(write_study(tmp_path / "scope", questions=scope)), (
        "an empty scope never means everything"
    )
