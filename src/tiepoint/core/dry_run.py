"""What a benchmark would encode: nothing was, and nothing was written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRun:
    """The texts of one role.

    texts    distinct ones; equal texts are encoded once
    encode   those that the store does not hold; the others come from it
    tokens   that the model would take in of them; None: not countable without loading the model
    """

    texts: int
    encode: int
    tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRun:
    """One candidate. documents and queries are None where it would not be executed, or its vectors are made elsewhere.

    reason      why it would not be executed, or why its tokens are not counted; None: neither
    executed    False: it would stand in the result as not executed
    measured_on when the throughput was measured that the time is projected from; None: never
    seconds     projected, loading included; None: unknown; 0.0 where nothing would be encoded
    price       of the tokens that would be encoded, in the study's currency; None: unknown
    """

    id: str
    executed: bool
    reason: str | None
    documents: RoleRun | None = None
    queries: RoleRun | None = None
    measured_on: str | None = None
    seconds: float | None = None
    price: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What `tiepoint bench --dry-run --json` prints. seconds, price: of all that would run; None: one of them is unknown."""

    study: str
    candidates: tuple[CandidateRun, ...]
    seconds: float | None
    price: float | None
