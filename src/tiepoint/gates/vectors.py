"""The vectors gate: every vector is what its contract says it is."""

from __future__ import annotations

from tiepoint.core.audit import GateResult
from tiepoint.core.audit_findings import Offenders, VectorCheck
from tiepoint.core.gates import Gates
from tiepoint.gates.gate import NAMED, Findings, Gate, counted, listed, named, shown_inside

THRESHOLD = (
    "shape, dtype and norms as the contract says, every value finite, no zero vector; no vector of several texts, text of "
    "several vectors or dimension without spread that the source does not have"
)


def judge(found: Findings, gates: Gates) -> GateResult:
    """Fail on what breaks the contract.

    Where the target shares, splits or collapses vectors more than the source, it is undecided, unless its provenance is
    shown: then its own model makes them so. A side without any vector is not executed.
    """
    sides = (("source", found.source_vectors), ("target", found.target_vectors))
    wrong = [f"{side}: {sentence}" for side, one in sides for sentence in _wrong(one)]
    if wrong:
        return GATE.result("fail", listed(wrong), THRESHOLD)
    empty = [side for side, one in sides if one.norm_min is None]
    if empty:
        return GATE.result("not executed", f"no vector in the {' and the '.join(empty)}", THRESHOLD)
    odd = _odd(found.source_vectors, found.target_vectors)
    if odd and not shown_inside(found.target_provenance, gates.elsewhere):
        return GATE.result("undecided", listed(odd), THRESHOLD)
    norms = "; ".join(
        f"{side} norms {one.norm_min:.6g} to {one.norm_max:.6g}"
        for side, one in sides
        if one.norm_min is not None and one.norm_max is not None
    )
    own = f"; its own model makes it so: {'; '.join(odd)}" if odd else ""
    return GATE.result("pass", norms + own, THRESHOLD)


def _wrong(one: VectorCheck) -> list[str]:
    wrong = [sentence for sentence in (one.shape, one.dtype) if sentence]
    for offenders, what in (
        (one.not_finite, "not finite"),
        (one.zero, "zero"),
        (one.off_norm, "off the length that the contract states"),
    ):
        if offenders.count:
            wrong.append(f"{counted(offenders.count, 'vector')} {what}: {named(offenders)}")
    return wrong


def _odd(source: VectorCheck, target: VectorCheck) -> list[str]:
    odd = []
    for before, after, what in (
        (source.shared_vector, target.shared_vector, "with the vector of another text"),
        (source.split_text, target.split_text, "whose text has several vectors"),
    ):
        if after is not None and after.count > (0 if before is None else before.count):
            there = "not known" if before is None else f"{before.count:,}"
            odd.append(f"the target has {counted(after.count, 'item')} {what} (source: {there}): {named(after)}")
    if len(target.collapsed) > len(source.collapsed):
        which = Offenders(len(target.collapsed), tuple(map(str, target.collapsed[:NAMED])))
        odd.append(
            f"the target has {counted(which.count, 'dimension')} without spread "
            f"(source: {len(source.collapsed):,}): {named(which)}"
        )
    return odd


GATE = Gate("vectors", 30, mechanical=True, judge=judge)
