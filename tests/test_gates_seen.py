"""Gates under an audit: every row decides, and the evidence tells only what its readers may see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import tiepoint as tp
from gates_kit import GOOD, NO_STUDY, SAMPLED, VECTORS, canon, field, sampled, vectors
from sample import write_sample
from tiepoint.core.audit_findings import Offenders, Provenance
from tiepoint.core.gates import Gates
from tiepoint.report.audit_tested import UNTOLD, hypotheses
from tiepoint.workflows.audit.bounds import Seen
from tiepoint.workflows.audit.findings import FINDINGS
from tiepoint.workflows.audit.judge import HIDDEN, critical_queries, judge
from tiepoint.workflows.audit.sections import HeldFound, RankedFound


def seen(whole: object, shown: object | None = None) -> Seen:
    return Seen(whole if shown is None else shown, whole, FINDINGS.empty_table())


def held(**changes: Seen) -> HeldFound:
    plain = {
        name: seen(getattr(GOOD, name))
        for name in ("contracts", "inventory", "canon", "source_vectors", "target_vectors", "source_provenance",
                     "target_provenance")
    }  # fmt: skip
    return HeldFound(**{**plain, **changes})


SECRET = Offenders(1, ("secret-17",))
HIDDEN_FAULTS = {
    "inventory": {"inventory": seen(replace(GOOD.inventory, only_source=SECRET), GOOD.inventory)},
    "canon": {"canon": seen(canon(acl=field("acl", mismatches=SECRET)), canon())},
    "vectors": {"target_vectors": seen(vectors(zero=SECRET), VECTORS)},
    "provenance": {"target_provenance": seen(sampled(elsewhere=99, low=0.3, high=0.4, offenders=SECRET), SAMPLED)},
}


@pytest.mark.parametrize("name", list(HIDDEN_FAULTS))
def test_a_hidden_offender_decides_the_outcome_and_the_evidence_names_nothing(name: str) -> None:
    results = judge(None, Gates(), held(**HIDDEN_FAULTS[name]), RankedFound(reason=NO_STUDY))
    found = {result.name: result for result in results}
    assert found[name].outcome == "fail"
    assert found[name].evidence.endswith(HIDDEN)
    assert found[name].evidence.startswith("of what these readers may see: ")
    assert "secret" not in str(results)
    assert {h.rejected for h in found[name].hypotheses} <= {None}, "what is shown would contradict the outcome"
    assert bool(found[name].hypotheses) == (name == "provenance")
    others = {n: r for n, r in found.items() if n in HIDDEN_FAULTS and n != name}
    assert {r.outcome for r in others.values()} == {"pass"}
    assert HIDDEN not in str(others)


def test_a_fault_in_sight_stays_told_beside_hidden_ones() -> None:
    both = replace(GOOD.inventory, only_source=Offenders(2, ("d1", "secret-17")))
    shown = replace(GOOD.inventory, only_source=Offenders(1, ("d1",)))
    found = judge(None, Gates(), held(inventory=seen(both, shown)), RankedFound(reason=NO_STUDY))[0]
    assert (found.outcome, found.evidence) == ("fail", "the target lacks 1 item: d1")


def test_nothing_in_sight_does_not_make_a_pass_undone() -> None:
    """Everything was compared and holds; these readers see no row of it."""
    blind = Provenance(reason="no row that these readers may see was sampled")
    found = judge(None, Gates(), held(target_provenance=seen(SAMPLED, blind)), RankedFound(reason=NO_STUDY))
    (one,) = (r for r in found if r.name == "provenance")
    assert one.outcome == "pass"
    assert one.evidence.endswith(HIDDEN)


def test_without_a_study_quality_gates_are_listed_as_not_executed_with_the_reason() -> None:
    found = {r.name: r for r in judge(None, Gates(), held(), RankedFound(reason=NO_STUDY))}
    assert [n for n, r in found.items() if r.outcome == "not executed"] == ["access", "mean quality", "subgroups"]
    assert {found[n].evidence for n in ("access", "mean quality", "subgroups")} == {NO_STUDY}
    assert {r.outcome for n, r in found.items() if n in HIDDEN_FAULTS} == {"pass"}


def test_critical_queries_are_named_ones_and_those_of_a_subgroup_that_have_an_answer(tmp_path: Path) -> None:
    """A question without an answer is scored nowhere: in a subgroup it would keep the gate undecided for ever."""
    study = tp.load_study(write_sample(tmp_path / "s"))
    late = [name for name, groups in zip(study.queries.ids, study.queries.subgroups, strict=True) if "late" in groups]
    assert late[-1] == "q17"
    assert study.queries.no_answer[-1]
    assert critical_queries(study.queries, Gates(critical=("subgroup:late", "q02"))) == ("q02", *late[:-1])
    assert critical_queries(study.queries, Gates(critical=("q17",))) == ("q17",), (
        "who names it is told that it is not scored"
    )
    assert critical_queries(study.queries, Gates()) == ()


def test_the_report_says_that_what_was_rejected_is_not_told() -> None:
    results = judge(None, Gates(), held(**HIDDEN_FAULTS["provenance"]), RankedFound(reason=NO_STUDY))
    tests = sum(len(gate.hypotheses) for gate in results)
    section = hypotheses(SimpleNamespace(gates=results, tests=tests))
    assert {row[-1] for row in section.tables[0].rows} == {UNTOLD}
    assert "what was rejected is not told" in section.lines[0]
    plain = judge(None, Gates(), held(), RankedFound(reason=NO_STUDY))
    section = hypotheses(SimpleNamespace(gates=plain, tests=tests))
    assert UNTOLD not in str(section)
