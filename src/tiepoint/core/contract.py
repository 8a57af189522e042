"""The contract: the written form of everything that makes vectors comparable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, get_args

from tiepoint.errors import InputError, Problem, did_you_mean

Metric = Literal["cosine", "dot", "euclidean"]
Dtype = Literal["float16", "float32", "float64"]
Role = Literal["query", "document"]
UNSIGNED = frozenset({"space_id", "norm_tolerance", "sdk", "verified_on"})
"""Fields that say how a space is named or was checked; they change no vector and stand outside the signature."""
TOLERANCE: Mapping[str, float] = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What makes two vectors comparable. None: the field is not stated.

    dimension          numbers in a vector, at least 1
    metric             cosine, dot or euclidean; never guessed, never substituted
    normalized         every vector has length 1 within the tolerance
    max_input_tokens   the model's real limit, special tokens included; None: the model has none or states none
    norm_tolerance     how far a norm may lie from 1; None: TOLERANCE of the dtype
    raises             InputError naming every field that is wrong
    """

    space_id: str
    provider: str
    model: str
    revision: str
    dimension: int
    metric: Metric
    normalized: bool
    dtype: Dtype
    query_role: str
    document_role: str
    query_prompt: str | None = None
    document_prompt: str | None = None
    query_task: str | None = None
    document_task: str | None = None
    pooling: str | None = None
    tokenizer_revision: str | None = None
    max_input_tokens: int | None = None
    truncation: str | None = None
    preprocessing: str | None = None
    norm_tolerance: float | None = None
    sdk: str | None = None
    verified_on: str | None = None

    def __post_init__(self) -> None:
        wrong: list[str] = []
        for name in ("space_id", "provider", "model", "revision", "query_role", "document_role"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                wrong.append(f"{name} must be a text that is not empty, is {value!r}")
        for name in ("dimension", "max_input_tokens"):
            value = getattr(self, name)
            if (type(value) is not int or value < 1) and not (name == "max_input_tokens" and value is None):
                wrong.append(f"{name} must be a whole number from 1, is {value!r}")
        if self.metric not in get_args(Metric):
            wrong.append(f"metric must be cosine, dot or euclidean, is {self.metric!r}")
        said: object = self.normalized
        if not isinstance(said, bool):
            wrong.append(f"normalized must be true or false, is {said!r}")
        if self.dtype not in get_args(Dtype):
            wrong.append(f"dtype must be float16, float32 or float64, is {self.dtype!r}")
        if self.norm_tolerance is not None and not 0 < self.norm_tolerance < 1:
            wrong.append(f"norm_tolerance must lie between 0 and 1, is {self.norm_tolerance!r}")
        if wrong:
            where = f"contract of {self.space_id!r}"
            raise InputError(problems=[Problem(w, where, "see contracts in the documentation") for w in wrong])

    @classmethod
    def from_claims(cls, space_id: str, claims: Mapping[str, object]) -> Contract:
        """A contract from the fields that a study states. Raises InputError naming every missing and unknown field."""
        known = {f.name for f in fields(cls)}
        needed = {f.name for f in fields(cls) if f.default is not None} - {"space_id"}
        where = f"contract of candidate {space_id!r}"
        problems = [
            Problem(f"the contract has no field {name!r}", where, did_you_mean(name, known) or "remove it")
            for name in claims
            if name not in known
        ]
        if missing := sorted(needed - claims.keys()):
            problems.append(Problem(f"the contract lacks {', '.join(missing)}", where, "state every one of them"))
        if problems:
            raise InputError(problems=problems)
        return cls(**{"space_id": space_id, **claims})  # type: ignore[arg-type]  # __post_init__ checks every type

    def contradictions(self, claims: Mapping[str, object]) -> list[str]:
        """Fields that a study states otherwise, in words: `dimension: the study says 384, the model has 256`."""
        return [
            f"{name}: the study says {claim!r}, the model has {getattr(self, name, None)!r}"
            for name, claim in claims.items()
            if name not in UNSIGNED and getattr(self, name, None) != claim
        ]

    def stated(self) -> dict[str, object]:
        """Every field that is set, in the order of the class."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}

    def signature(self) -> str:
        """SHA-256, in hexadecimal, of the canonical JSON of every set field that can change a vector.

        Two spaces are comparable when their signatures are equal.
        """
        signed = {name: value for name, value in self.stated().items() if name not in UNSIGNED}
        text = json.dumps(signed, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def tolerance(self) -> float:
        """How far the norm of a normalised vector may lie from 1."""
        return TOLERANCE[self.dtype] if self.norm_tolerance is None else self.norm_tolerance

    def prompt(self, role: Role) -> str:
        """What is put before a text of this role; empty where the contract states none."""
        return (self.query_prompt if role == "query" else self.document_prompt) or ""

    @property
    def bytes_per_item(self) -> int:
        """Dimension times bytes per value."""
        return self.dimension * {"float16": 2, "float32": 4, "float64": 8}[self.dtype]
