"""Findings of an audit made by hand, all of them good, what makes them worse, and what a gate says of them."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from tiepoint.core.audit import GateResult, Outcome
from tiepoint.core.audit_findings import (
    NONE,
    Access,
    AccessTest,
    Canon,
    CanonField,
    Contracts,
    Holding,
    Inventory,
    Offenders,
    Provenance,
    VectorCheck,
)
from tiepoint.core.audit_quality import Delta, Quality
from tiepoint.core.gates import Gates
from tiepoint.gates import gates as every_gate
from tiepoint.gates.gate import Findings
from tiepoint.workflows.audit.rows import PER_QUERY

NO_STUDY = "no study was named"
MANY = Offenders(1_234, tuple(f"d{i}" for i in range(10)))
FEW = Offenders(2, ("d1", "d2"))
HOLDING = Holding(
    rows=110, documents=100, queries=10, duplicates=NONE, tombstones=NONE, returned=NONE, watermark=None, wanted=110,
    encoded=10, cached=100, failed=0, closed=True, bytes=1_760,
)  # fmt: skip
VECTORS = VectorCheck(
    shape=None, dtype=None, not_finite=NONE, zero=NONE, off_norm=NONE, norm_min=1.0, norm_median=1.0, norm_max=1.0,
    shared_vector=NONE, split_text=NONE, texts_known=True, constant=(), collapsed=(),
)  # fmt: skip
SAMPLED = Provenance(sampled=300, elsewhere=0, share=0.0, low=0.0, high=0.0122, agreement=0.99)
UNKNOWN = Provenance(reason="nothing here can embed its texts again")
DELTA = Delta(
    measure="nDCG@10", slice="filtered", subgroup=None, n=200, clusters=180, source=0.7, target=0.71, difference=0.01,
    low=-0.005, high=0.03, worst=-0.01, p=0.4, p_holm=1.0, wins=40, losses=30, ties=130, enough=True, best=0.04,
    least_loss=0.0166, target_low=0.66, target_high=0.75, p_lost=0.999, p_below=0.4,
)  # fmt: skip
TEST = AccessTest(name="nobody finds anything", side="source", looked_at=10, broken=NONE)
GROUP = replace(DELTA, subgroup="codes", worst=-0.04, clusters=60, least_loss=0.0487, least=59)
NORTH = replace(GROUP, subgroup=None, region="North")
LOST = replace(GROUP, difference=-0.3, worst=-0.4, best=-0.2, p_lost=0.02)


def quality(*deltas: Delta) -> Quality:
    return Quality(deltas=deltas, randomised=len(deltas), level=0.95, lost=(), source_missing=0, target_missing=0)


def canon(**fields: CanonField) -> Canon:
    names = ("role", "content_hash", "acl", "source_revision", "version")
    every = tuple(fields.get(n, CanonField(field=n, compared=110, unknown=0, mismatches=NONE)) for n in names)
    return Canon(fields=every, match=not any(f.mismatches.count for f in every))


def field(name: str, *, compared: int = 110, unknown: int = 0, mismatches: Offenders = NONE) -> CanonField:
    return CanonField(field=name, compared=compared, unknown=unknown, mismatches=mismatches)


def per_query(**values: tuple[float | None, float | None, float, float] | None) -> pa.Table:
    """Query to (source, target, worst, best) on the slice `filtered`; None: it stands there unscored."""
    rows = []
    for query, of in values.items():
        source, target, worst, best = of if of is not None else (None,) * 4
        name, _, slice_name = query.partition("__")
        rows.append(
            {"slice": slice_name or "filtered", "query": name, "measure": "nDCG@10", "source": source, "target": target,
             "difference": None, "weight": 1.0, "worst": worst, "best": best}
        )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=PER_QUERY)


GOOD = Findings(
    contracts=Contracts(source_signature="a", target_signature="b", comparable=False, differences=()),
    inventory=Inventory(source=HOLDING, target=HOLDING, only_source=NONE, only_target=NONE, shared=110),
    canon=canon(),
    source_vectors=VECTORS,
    target_vectors=VECTORS,
    source_provenance=SAMPLED,
    target_provenance=SAMPLED,
    quality=quality(DELTA, replace(DELTA, subgroup="codes", n=60, clusters=60, least_loss=0.0487)),
    access=Access(tests=(TEST, replace(TEST, side="target"))),
    measure="nDCG@10",
    slice="filtered",
    loss=0.02,
    per_query=per_query(q1=(0.5, 0.5, 0.0, 0.0)),
    critical=("q1",),
    reason=None,
)
WIDE = Gates(subgroup_loss=0.05)


def ruled(name: str, found: Findings, gates: Gates = WIDE) -> GateResult | None:
    """What one gate says."""
    (gate,) = (gate for gate in every_gate() if gate.name == name)
    return gate.judge(found, gates)


def holding(**changes: object) -> Inventory:
    return replace(GOOD.inventory, target=replace(HOLDING, **changes))


def vectors(**changes: object) -> VectorCheck:
    return replace(VECTORS, **changes)


def sampled(**changes: object) -> Provenance:
    return replace(SAMPLED, **changes)


def outcome(name: str, gates: Gates, **changes: object) -> Outcome | None:
    found = ruled(name, replace(GOOD, **changes), gates)
    return None if found is None else found.outcome
