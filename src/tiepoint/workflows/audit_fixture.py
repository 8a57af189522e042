"""The audit of a fixture: each space searched and measured, then the first space against each other one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tiepoint.core.fixture import Fixture, FixtureItem
from tiepoint.core.fixture_audit import Agreement, FixtureAudit, MigrationFigures, SpaceFigures
from tiepoint.errors import InputError
from tiepoint.workflows.audit_fixture_space import evaluate, mean


def audit_fixture(fixture: Fixture, *, k: int = 3) -> FixtureAudit:
    """Every space evaluated, and the first (by space_id) against each other one.

    k        the cut-off of every ranking and measure; more than a space has documents is allowed
    raises   InputError where k is no positive integer, or a score overflows float64
    """
    if type(k) is not int or k < 1:
        raise InputError(f"query: k must be a positive integer, is {k!r}", where="k", fix="say how many hits count")
    spaces = tuple(evaluate(space, fixture.cases, k) for space in fixture.spaces)
    held = {space.contract.space_id: {item.item_id: item for item in space.items} for space in fixture.spaces}
    first, *others = spaces
    return FixtureAudit(k, spaces, tuple(_compare(first, other, held) for other in others))


def _compare(
    source: SpaceFigures, target: SpaceFigures, held: Mapping[str, Mapping[str, FixtureItem]]
) -> MigrationFigures:
    ours, theirs = held[source.contract.space_id], held[target.contract.space_id]
    agreement = tuple(
        Agreement(a.case_id, _jaccard(a.result_ids, b.result_ids))
        for a, b in zip(source.cases, target.cases, strict=True)
    )
    return MigrationFigures(
        source=source.contract.space_id,
        target=target.contract.space_id,
        comparable=source.contract.signature() == target.contract.signature(),
        only_source=tuple(sorted(ours.keys() - theirs.keys())),
        only_target=tuple(sorted(theirs.keys() - ours.keys())),
        mismatched=tuple(sorted(i for i in ours.keys() & theirs.keys() if ours[i].canon != theirs[i].canon)),
        recall=_delta(source.means.recall, target.means.recall),
        rr=_delta(source.means.rr, target.means.rr),
        ndcg=_delta(source.means.ndcg, target.means.ndcg),
        jaccard=mean(a.jaccard for a in agreement),
        agreement=agreement,
    )


def _jaccard(ours: Sequence[str], theirs: Sequence[str]) -> float | None:
    """Shared over all; None where both are empty: nothing was there to agree on."""
    every = set(ours) | set(theirs)
    return len(set(ours) & set(theirs)) / len(every) if every else None


def _delta(source: float | None, target: float | None) -> float | None:
    return None if source is None or target is None else target - source
