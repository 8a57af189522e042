"""Bounds and the clauses beside them as a reader meets them: rounded outwards, and in the same words wherever they stand."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiepoint as tp
from command import Command
from gates_kit import DELTA, GOOD, per_query, quality, ruled
from recorded import benched, runnable
from tiepoint.core.gates import Gates
from tiepoint.core.rounding import bound_above, bound_below
from tiepoint.report import page
from tiepoint.report.quality import decision
from tiepoint.report.table import lower, upper

EVEN = "if no cluster were larger than the others; the largest here holds"


@given(st.floats(-1, 1))
def test_no_bound_is_shown_tighter_than_it_is(bound: float) -> None:
    nothing = 1e-10
    assert bound - nothing <= bound_above(bound) < bound + 1e-4 + nothing
    assert bound - 1e-4 - nothing < bound_below(bound) <= bound + nothing
    assert float(upper(bound)) == bound_above(bound)
    assert float(lower(bound)) == bound_below(bound)


@pytest.mark.parametrize("bound", [0.0, 0.0607, 0.1234, 0.3, -0.05, 1.0, 0.1 + 0.2])
def test_a_bound_of_four_places_stays_as_it_is(bound: float) -> None:
    assert bound_above(bound) == bound_below(bound) == round(bound, 4)
    assert (upper(None), lower(None)) == ("–", "–")
    assert f"{bound_above(-0.00001):+.4f}" == "+0.0000", "no minus before nothing"


def test_the_table_and_the_sentences_round_a_bound_alike_and_the_result_keeps_it(
    tmp_path: Path, command: Command
) -> None:
    place = benched(command, runnable(tmp_path / "s", public=True))
    summary = tp.load_result(place).summary
    before = summary.decision
    bound = 0.12331
    standings = tuple(dataclasses.replace(s, may_lose_at_most=bound) for s in before.standings)
    summary = dataclasses.replace(summary, decision=dataclasses.replace(before, standings=standings, settle_gap=0.1234))
    (lose,) = {row[page.main(summary).head.index("may lose")] for row in page.main(summary).rows} - {"–"}
    section = decision(summary)
    assert lose == "0.1234"
    assert {row[-1] for row in section.tables[0].rows} == {lose}
    assert f"The smallest gap at which these queries decide: {lose}." in section.lines
    held = json.loads((place / "result.json").read_text(encoding="utf-8"))["decision"]["standings"]
    assert [s["may_lose_at_most"] for s in held] == [s.may_lose_at_most for s in before.standings]
    assert any(round(s["may_lose_at_most"], 4) != s["may_lose_at_most"] for s in held), "not rounded where it is kept"


def test_bounds_of_an_audit_are_rounded_outwards() -> None:
    odd = dataclasses.replace(
        DELTA, worst=-0.01001, best=0.04001, least_loss=0.03001, target_low=0.66009, target_high=0.75001
    )
    found = dataclasses.replace(GOOD, quality=quality(odd))
    gate = ruled("mean quality", found, Gates(least_mean=0.5))
    assert gate is not None
    assert "at worst -0.0101, at best +0.0401" in gate.evidence
    assert "between 0.6600 and 0.7501" in gate.evidence
    assert "no loss under 0.0301" in gate.evidence
    wide = dataclasses.replace(GOOD.target_provenance, low=0.00009, high=0.01221)
    gate = ruled("provenance", dataclasses.replace(GOOD, target_provenance=wide))
    assert gate is not None
    assert "target: 0 of 300 sampled rows elsewhere, share 0.00% to 1.23%" in gate.evidence


def test_what_uneven_clusters_cost_stands_in_the_same_words_everywhere(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    words = f"(149 {EVEN} 2)"
    for call in ("check", "power"):
        assert " ".join(command(call, folder).out.split()).count(words) == 1, call
    report = (benched(command, folder) / "report.md").read_text(encoding="utf-8")
    assert words in report


def test_a_query_without_values_is_explained_and_only_then() -> None:
    rows = per_query(q1=(0.9, 0.5, -0.4, -0.4), q2=(1.0, 0.0, -1.0, -1.0))
    at = rows.column_names.index("shown")
    hidden = rows.set_column(at, "shown", [[True, False]])
    found = dataclasses.replace(GOOD, critical=("q1", "q2"), per_query=hidden)
    gate = ruled("critical queries", found)
    assert gate is not None
    assert gate.evidence == (
        "2 of 2 fall: q1 0.9000 to 0.5000, q2; a query without values has an answer that these readers may not see"
    )
    gate = ruled("critical queries", dataclasses.replace(found, per_query=rows))
    assert gate is not None
    assert "without values" not in gate.evidence


def test_ten_subgroups_are_listed_where_a_critical_one_does_not_occur(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    many = [{**row, "subgroups": [f"part {i % 12:02}"]} for i, row in enumerate(rows)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in many), encoding="utf-8")
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write('\n[gates]\ncritical = ["subgroup:zzz"]\n')
    answer = command("check", folder)
    assert (answer.code, answer.out) == (2, "")
    assert "error: 1 critical subgroup has no query with an answer: zzz" in answer.err
    listed = ", ".join(f"part {i:02}" for i in range(10))
    assert f"fix:   subgroups with an answered query: {listed} and 2 more" in answer.err


def test_a_critical_subgroup_none_of_whose_queries_has_an_answer_is_refused(tmp_path: Path, command: Command) -> None:
    folder = runnable(tmp_path / "s", public=True)
    path = folder / "queries.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows.append({**rows[0], "_id": "none", "subgroups": ["lost"], "no_answer": True})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    text = (folder / "study.toml").read_text(encoding="utf-8")
    head, table, rest = text.partition("[queries]\n")
    extra = "" if "no_answer" in rest else 'no_answer = "no_answer"\n'
    (folder / "study.toml").write_text(
        head + table + extra + rest + '\n[gates]\ncritical = ["subgroup:lost"]\n', "utf-8"
    )
    answer = command("check", folder)
    assert (answer.code, answer.out) == (2, "")
    assert "critical subgroup has no query with an answer: lost" in answer.err
