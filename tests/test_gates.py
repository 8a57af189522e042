"""Every gate on findings made by hand: each outcome that it has, what it asks for, and what its evidence says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gates_kit import (
    DELTA,
    FEW,
    GOOD,
    GROUP,
    HOLDING,
    LOST,
    MANY,
    NO_STUDY,
    NORTH,
    TEST,
    UNKNOWN,
    canon,
    field,
    holding,
    per_query,
    quality,
    ruled,
    sampled,
    vectors,
)
from tiepoint.core.audit import Outcome
from tiepoint.core.audit_findings import Access, Offenders
from tiepoint.core.gates import Gates
from tiepoint.gates import gates as every_gate
from tiepoint.gates.gate import counted, listed, named, percent

Case = tuple[dict[str, object], Outcome | None, str]
INVENTORY: list[Case] = [
    ({}, "pass", "110 shared items, none on one side alone"),
    ({"inventory": holding(wanted=None, encoded=None, cached=None, failed=None, closed=None)}, "pass", "of the target was given"),
    ({"inventory": replace(GOOD.inventory, only_source=FEW)}, "fail", "the target lacks 2 items: d1, d2"),
    ({"inventory": replace(GOOD.inventory, only_target=Offenders(1, ("d1",)))}, "fail", "the source lacks 1 item: d1"),
    ({"inventory": holding(duplicates=FEW)}, "fail", "the target has 2 repeated ids: d1, d2"),
    ({"inventory": holding(returned=Offenders(1, ("d9",)))}, "fail", "the target has 1 deleted item that came back: d9"),
    ({"inventory": holding(failed=3)}, "fail", "the target has 3 items without a vector"),
    ({"inventory": holding(closed=False, encoded=9)}, "fail", "wanted 110, encoded 9, cached 100, failed 0, live rows 110"),
    ({"inventory": holding(closed=False, wanted=None)}, "fail", "the target has counts that do not close"),
    ({"inventory": replace(GOOD.inventory, shared=0)}, "not executed", "there is no shared item"),
]  # fmt: skip
CANON: list[Case] = [
    ({}, "pass", "nothing differs under 110 shared ids"),
    ({"canon": canon(version=field("version", compared=0, unknown=110))}, "pass", "not compared: version (110 ids)"),
    ({"canon": canon(acl=field("acl", compared=109, unknown=1))}, "pass", "not compared: acl (1 id)"),
    ({"canon": canon(content_hash=field("content_hash", compared=100, unknown=10))}, "undecided", "text (10 ids)"),
    ({"canon": canon(content_hash=field("content_hash", compared=0, unknown=110))}, "not executed", "no text or hash is known"),
    *(
        ({"canon": canon(**{name: field(name, mismatches=FEW)})}, "fail", f"{said} differs under 2 ids: d1, d2")
        for name, said in (("role", "role"), ("content_hash", "text"), ("acl", "acl"), ("source_revision", "source revision"))
    ),
    ({"canon": canon(version=field("version", mismatches=MANY))}, "fail", "1,234 ids: d0, d1, d2, d3, d4 and 1,229 more"),
]  # fmt: skip
VECTOR: list[Case] = [
    ({}, "pass", "source norms 1 to 1; target norms 1 to 1"),
    ({"target_vectors": vectors(shape="3 numbers a vector where the contract says 4")}, "fail", "target: 3 numbers"),
    ({"source_vectors": vectors(dtype="float16, not float32")}, "fail", "source: float16"),
    ({"target_vectors": vectors(not_finite=FEW)}, "fail", "2 vectors not finite: d1, d2"),
    ({"target_vectors": vectors(zero=Offenders(1, ("d1",)))}, "fail", "1 vector zero: d1"),
    ({"target_vectors": vectors(off_norm=FEW)}, "fail", "2 vectors off the length that the contract states: d1, d2"),
    ({"target_vectors": vectors(norm_min=None)}, "not executed", "no vector in the target"),
    *(
        ({"target_vectors": vectors(**odd), "target_provenance": UNKNOWN}, "undecided", said)
        for odd, said in (
            ({"shared_vector": FEW}, "2 items with the vector of another text (source: 0): d1, d2"),
            ({"split_text": FEW}, "2 items whose text has several vectors (source: 0): d1, d2"),
            ({"collapsed": tuple(range(12))}, "12 dimensions without spread (source: 0): 0, 1, 2, 3, 4 and 7 more"),
        )
    ),
    ({"target_vectors": vectors(shared_vector=FEW)}, "pass", "its own model makes it so: the target has 2 items"),
    ({"source_vectors": vectors(shared_vector=FEW), "target_vectors": vectors(shared_vector=FEW)}, "pass", "norms"),
    (
        {"source_vectors": vectors(shared_vector=None), "target_vectors": vectors(shared_vector=FEW),
         "target_provenance": UNKNOWN},
        "undecided",
        "(source: not known)",
    ),
]  # fmt: skip
PROVENANCE: list[Case] = [
    ({}, "pass", "source and target: 0 of 300 sampled rows elsewhere, share 0.00% to 1.22% at 95%"),
    ({"target_provenance": sampled(elsewhere=90, low=0.25, high=0.36, offenders=MANY)}, "fail", "d4 and 1,229 more"),
    ({"target_provenance": sampled(elsewhere=4, low=0.004, high=0.034, offenders=FEW)}, "undecided", "4 of 300 sampled rows"),
    ({"target_provenance": sampled(sampled=50, high=0.0711)}, "undecided", "so small a sample shows no less than 7.11%"),
    ({"target_provenance": sampled(high=0.2, unchecked=20)}, "undecided", "20 rows whose text is not known"),
    ({"source_provenance": UNKNOWN}, "not executed", "source: not executed, nothing here can embed"),
    ({"source_provenance": UNKNOWN, "target_provenance": sampled(low=0.3, high=0.4)}, "fail", "share 30.00% to 40.00%"),
    ({"source_provenance": UNKNOWN, "target_provenance": sampled(high=0.1)}, "undecided", "share"),
    ({"source_provenance": UNKNOWN, "target_provenance": UNKNOWN}, "not executed", "source and target: not executed, nothing"),
]  # fmt: skip
ACCESS: list[Case] = [
    ({}, "pass", "2 tests over 20 rankings found no leak"),
    ({"access": Access(tests=(replace(TEST, looked_at=1), replace(TEST, side="target", broken=FEW)))}, "fail",
     "target, nobody finds anything: broken 2 times (d1, d2)"),
    ({"access": Access(tests=(TEST, replace(TEST, side="target", broken=Offenders(1, ("q1",)))))}, "fail", "broken once (q1)"),
    ({"access": Access(tests=(TEST, replace(TEST, side="target", looked_at=0, reason="no query has a vector")))},
     "not executed", "no permission test of the target had anything to look at"),
    ({"access": Access(tests=())}, "not executed", "of the source and the target"),
    ({"access": None, "reason": NO_STUDY}, "not executed", NO_STUDY),
]  # fmt: skip
MEAN: list[Case] = [
    ({}, "pass", "0.7000 to 0.7100, difference +0.0100 [-0.0050, +0.0300]; at worst -0.0100, at best +0.0400"),
    ({"quality": quality(replace(DELTA, worst=-0.02))}, "pass", "180 independent queries"),
    ({"quality": quality(replace(DELTA, difference=-0.2, worst=-0.3, best=-0.1, p_lost=0.01))}, "fail", "at best -0.1000"),
    ({"quality": quality(replace(DELTA, difference=-0.2, worst=-0.3, best=-0.1, p_lost=None))}, "undecided", "at best -0.1000"),
    ({"quality": quality(replace(DELTA, worst=-0.021))}, "undecided", "at worst -0.0210"),
    ({"quality": quality(replace(DELTA, worst=-0.021, best=-0.02, p_lost=0.051))}, "undecided", "at best -0.0200"),
    ({"quality": quality(replace(DELTA, trusted=False))}, "pass", "[-0.0050, +0.0300]?; at worst"),
    ({"quality": quality(replace(DELTA, low=None, high=None))}, "pass", "difference +0.0100; at worst"),
    ({"quality": quality(replace(DELTA, enough=False, clusters=19))}, "undecided", "19 independent queries; too few to"),
    ({"quality": quality(replace(DELTA, enough=False, p_lost=0.0))}, "undecided", "too few to decide, 20 needed"),
    ({"quality": quality(replace(DELTA, region="North"))}, "not executed", "no query is scored on both sides"),
    ({"quality": quality(replace(DELTA, worst=-0.2, clusters=25, least_loss=0.1129))}, "undecided",
     "25 independent queries, and so few rule out no loss under 0.1129"),
    ({"quality": quality(replace(DELTA, difference=None))}, "not executed", "no query is scored on both sides"),
    ({"quality": quality(replace(DELTA, slice="rare"))}, "not executed", "no query is scored"),
    ({"quality": None, "reason": NO_STUDY}, "not executed", NO_STUDY),
]  # fmt: skip
CRITICAL: list[Case] = [
    ({}, "pass", "none falls"),
    ({"critical": ()}, None, ""),
    ({"per_query": per_query(q1=(0.9, 0.5, -0.4, -0.4))}, "fail", "1 of 1 falls: q1 0.9000 to 0.5000"),
    ({"critical": ("q1", "q2"), "per_query": per_query(q1=(0.9, 0.5, -0.4, -0.4), q2=(1.0, 0.0, -1.0, -1.0))}, "fail",
     "2 of 2 fall: q1 0.9000 to 0.5000, q2 1.0000 to 0.0000"),
    ({"per_query": per_query(q1=(0.5, 0.5, -1e-15, 0.0))}, "pass", "none falls"),
    ({"per_query": per_query(q1=(0.5, 0.6, -0.1, 0.3))}, "undecided", "1 of 1 may fall: ties decide: q1 0.5000 to 0.6000"),
    ({"per_query": per_query(q1=None)}, "undecided", "1 of 1 is not scored: q1"),
    ({"critical": ("q1", "q7")}, "undecided", "1 of 2 is not scored: q7"),
    ({"per_query": per_query(q1__unfiltered=(0.5, 0.6, 0.1, 0.1))}, "pass", "none falls"),
    ({"per_query": per_query(q1__unfiltered=(0.5, 0.4, -0.1, -0.1))}, "fail", "q1 0.5000 to 0.4000"),
    ({"per_query": per_query(q1__unfiltered=(0.5, 0.6, 0.1, 0.1), q1=None)}, "undecided", "not scored"),
    ({"single": False, "per_query": per_query(q1=(0.9, 0.5, -0.4, -0.4))}, "fail", "at least one of 1 falls"),
    ({"quality": None, "reason": NO_STUDY}, "not executed", NO_STUDY),
]  # fmt: skip
SUBGROUPS: list[Case] = [
    ({}, "pass", "codes: +0.0100 [-0.0050, +0.0300], at worst -0.0100, 60 independent queries"),
    ({"quality": quality(DELTA)}, None, ""),
    ({"quality": quality(DELTA, replace(GROUP, n=0))}, None, ""),
    ({"quality": quality(DELTA, LOST)}, "fail", "codes: -0.3000 [-0.0050, +0.0300], at best -0.2000, 60 independent"),
    ({"quality": quality(DELTA, LOST, replace(NORTH, p_lost=0.4))}, "fail", "codes: -0.3000"),
    ({"quality": quality(DELTA, replace(LOST, p_lost=0.026), replace(NORTH, p_lost=0.4))}, "undecided", "codes: -0.3000"),
    ({"quality": quality(DELTA, LOST, replace(NORTH, p_lost=0.4, enough=False))}, "fail", "codes: -0.3000"),
    ({"quality": quality(DELTA, replace(LOST, p_lost=0.06, p=0.0001, p_holm=0.0003))}, "undecided", "codes: -0.3000"),
    ({"quality": quality(DELTA, replace(LOST, p_lost=None))}, "undecided", "codes: -0.3000"),
    ({"quality": quality(DELTA, replace(LOST, enough=False, clusters=3))}, "undecided",
     "too few independent queries to decide: codes (3 of 59 needed)"),
    ({"quality": quality(DELTA, replace(NORTH, worst=-0.06))}, "undecided", "region North: +0.0100"),
    ({"quality": quality(DELTA, GROUP, NORTH)}, "pass", "region North: +0.0100 [-0.0050, +0.0300], at worst -0.0400"),
    ({"quality": quality(DELTA, GROUP, replace(NORTH, clusters=8, enough=False))}, "undecided",
     "too few independent queries to decide: region North (8 of 59 needed)"),
    ({"quality": quality(DELTA, replace(LOST, region="codes", subgroup=None, p_lost=0.5, enough=True), GROUP)}, "undecided",
     "region codes: -0.3000"),
    ({"quality": quality(DELTA, replace(GROUP, worst=0.0, enough=False, clusters=1))}, "undecided",
     "to decide: codes (1 of 59 needed)"),
    ({"quality": quality(DELTA, GROUP, replace(GROUP, subgroup="names", worst=-0.06))}, "undecided", "names: +0.0100"),
    ({"small": 2}, "undecided", "2 groups that may not be shown to these readers"),
    ({"quality": quality(DELTA), "small": 1}, "undecided", "1 group that may not be shown to these readers"),
    ({"quality": None, "reason": NO_STUDY}, "not executed", NO_STUDY),
]  # fmt: skip
CASES = {
    "inventory": INVENTORY,
    "canon": CANON,
    "vectors": VECTOR,
    "provenance": PROVENANCE,
    "access": ACCESS,
    "mean quality": MEAN,
    "subgroups": SUBGROUPS,
    "critical queries": CRITICAL,
}


def test_every_gate_has_its_table_and_they_stand_in_order() -> None:
    assert [gate.name for gate in every_gate()] == list(CASES)
    assert [gate.name for gate in every_gate() if gate.mechanical] == list(CASES)[:5]


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, cases in CASES.items() for case in cases], ids=lambda v: str(v)[:60]
)
def test_a_gate_says_what_it_must(name: str, case: Case) -> None:
    changes, outcome, evidence = case
    found = ruled(name, replace(GOOD, **changes))
    if outcome is None:
        assert found is None
        return
    assert found is not None
    assert (found.outcome, found.name) == (outcome, name)
    assert evidence in found.evidence
    assert found.threshold
    assert len(found.evidence) < 300


@pytest.mark.parametrize("name", list(CASES))
def test_no_gate_has_an_outcome_without_a_case(name: str) -> None:
    seen = {outcome for _, outcome, _ in CASES[name]}
    assert {"pass", "fail", "not executed"} <= seen
    if name not in ("inventory", "access"):
        assert "undecided" in seen


def test_thresholds_are_said_as_they_were_written() -> None:
    gates = Gates(confidence=0.975, elsewhere=0.005, subgroup_loss=0.05)
    said = {name: ruled(name, GOOD, gates).threshold for name in CASES}  # type: ignore[union-attr]
    assert said["provenance"] == "at most 0.5% of rows outside their declared space, shown on both sides"
    assert said["mean quality"] == "nDCG@10 (filtered) loses at most 0.02 at 97.5%"
    assert said["subgroups"] == "each subgroup and region loses at most 0.05 of nDCG@10 (filtered) at 97.5%"
    assert said["critical queries"] == "none of 1 critical query falls in nDCG@10 (filtered)"
    nobody = replace(GOOD, measure=None, slice=None, quality=None, reason=NO_STUDY)
    for name in ("mean quality", "subgroups", "critical queries"):
        found = ruled(name, nobody)
        assert found is not None
        assert "None" not in found.threshold + found.evidence


def test_evidence_stays_short_however_much_is_wrong() -> None:
    groups = [replace(LOST, subgroup=f"group {i}", p_lost=0.0001) for i in range(40)]
    every = Access(tests=tuple(replace(TEST, name=f"test {i}", broken=MANY) for i in range(14)))
    bad = replace(HOLDING, duplicates=MANY, returned=MANY, failed=3, closed=False)
    found = replace(
        GOOD,
        quality=quality(DELTA, *groups),
        access=every,
        inventory=replace(GOOD.inventory, source=bad, target=bad, only_source=MANY, only_target=MANY),
        critical=tuple(f"q{i}" for i in range(30)),
        per_query=per_query(**{f"q{i}": (1.0, 0.0, -1.0, -1.0) for i in range(30)}),
    )
    for name in CASES:
        said = ruled(name, found)
        assert said is not None
        assert len(said.evidence) < 600, said
    assert "group 4" in ruled("subgroups", found).evidence  # type: ignore[union-attr]
    assert "and 35 more" in ruled("subgroups", found).evidence  # type: ignore[union-attr]
    assert "30 of 30 fall" in ruled("critical queries", found).evidence  # type: ignore[union-attr]
    assert "and 25 more" in ruled("critical queries", found).evidence  # type: ignore[union-attr]


def test_words_of_counts_and_shares() -> None:
    assert [counted(n, "item") for n in (0, 1, 2, 1_000)] == ["no items", "1 item", "2 items", "1,000 items"]
    assert counted(2, "query", "queries") == "2 queries"
    assert [percent(x) for x in (0.95, 0.975, 0.999, 0.02, 0.005)] == ["95%", "97.5%", "99.9%", "2%", "0.5%"]
    assert named(FEW) == "d1, d2"
    assert listed(["a"] * 5) == "a; a; a; a; a"
    assert listed(["a"] * 7).endswith("; and 2 more")
