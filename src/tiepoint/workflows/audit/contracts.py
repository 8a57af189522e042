"""The two contracts of an audit, field by field."""

from __future__ import annotations

from dataclasses import fields

from tiepoint.core.audit_findings import Contracts, FieldDifference
from tiepoint.core.contract import Contract
from tiepoint.core.held import Held
from tiepoint.workflows.audit.bounds import EVERYTHING, Bounds, Seen
from tiepoint.workflows.audit.findings import plain_findings


def audit_contracts(source: Held, target: Held) -> Seen[Contracts]:
    """Both signatures and every field that differs, but for space_id, which is a name. Nothing in a contract is hidden.

    Fields outside the signature (norm_tolerance, sdk, verified_on) stand among the differences and do not touch comparable.
    """
    one, other = source.contract, target.contract
    differences = tuple(
        FieldDifference(field.name, _text(one, field.name), _text(other, field.name))
        for field in fields(Contract)
        if field.name != "space_id" and getattr(one, field.name) != getattr(other, field.name)
    )
    rows = [(d.field, d.source, d.target) for d in differences]

    def build(_: Bounds) -> Contracts:
        return Contracts(
            source_signature=one.signature(),
            target_signature=other.signature(),
            comparable=one.signature() == other.signature(),
            differences=differences,
        )

    return Seen.of(build, EVERYTHING, plain_findings("contracts", "differs", rows))


def _text(contract: Contract, name: str) -> str | None:
    value = getattr(contract, name)
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)
