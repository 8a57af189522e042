"""The vectors gate: every vector is what its contract says it is."""

from __future__ import annotations

from tiepoint.core.audit import GateResult, Offenders, VectorCheck
from tiepoint.core.gates import Gates
from tiepoint.errors import some
from tiepoint.gates.gate import Findings, Gate, counted

THRESHOLD = (
    "shape, dtype and norms as the contract says, every value finite, no zero vector, no collapse that the source lacks"
)


def judge(found: Findings, _: Gates) -> GateResult:
    """Fail on what breaks the contract; undecided where the target shares, splits or collapses vectors more than the source."""
    sides = (("source", found.source_vectors), ("target", found.target_vectors))
    wrong = [f"{side}: {sentence}" for side, one in sides for sentence in _wrong(one)]
    if wrong:
        return GATE.result("fail", "; ".join(wrong), THRESHOLD)
    odd = _odd(found.source_vectors, found.target_vectors)
    if odd:
        return GATE.result("undecided", "; ".join(odd), THRESHOLD)
    norms = "; ".join(
        f"{side} norms {one.norm_min:.6g} to {one.norm_max:.6g}"
        for side, one in sides
        if one.norm_min is not None and one.norm_max is not None
    )
    return GATE.result("pass", norms, THRESHOLD)


def _wrong(one: VectorCheck) -> list[str]:
    wrong = [sentence for sentence in (one.shape, one.dtype) if sentence]
    for offenders, what in (
        (one.not_finite, "not finite"),
        (one.zero, "zero"),
        (one.off_norm, "off the length that the contract states"),
    ):
        if offenders.count:
            wrong.append(f"{counted(offenders.count, 'vector')} {what}: {some(offenders.first)}")
    return wrong


def _odd(source: VectorCheck, target: VectorCheck) -> list[str]:
    odd = []
    for before, after, what in (
        (source.shared_vector, target.shared_vector, "share their vector with another text"),
        (source.split_text, target.split_text, "have one text and several vectors"),
    ):
        if after is not None and after.count > _count(before):
            odd.append(
                f"in the target {counted(after.count, 'item')} {what} (source: {_count(before):,}): {some(after.first)}"
            )
    if len(target.collapsed) > len(source.collapsed):
        odd.append(
            f"the target has {counted(len(target.collapsed), 'dimension')} without spread "
            f"(source: {len(source.collapsed):,}): {some(target.collapsed)}"
        )
    return odd


def _count(offenders: Offenders | None) -> int:
    return 0 if offenders is None else offenders.count


GATE = Gate("vectors", 30, mechanical=True, judge=judge)
