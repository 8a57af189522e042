"""A candidate: a model on trial, as the study or the Python caller names it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.contract import Contract
from tiepoint.errors import InputError

EncodeFunction: TypeAlias = Callable[..., NDArray[np.floating]]
"""`encode(texts)` or `encode(texts, role=...)`: a list of texts to an array (texts, dimension).

`role` is "query" or "document"; it is passed by name, and only to a function that has a parameter of that name.
"""
RUN = "run"
"""The embedder name of rankings made elsewhere: they are measured beside the candidates and never chosen."""
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model on trial; never a document.

    id         matches [A-Za-z0-9][A-Za-z0-9._-]*
    embedder   the name of a file in embedders/, "vectors" for vectors or RUN for rankings made elsewhere
    contract   a whole Contract, or the fields that the study states (a packaged model brings the others)
    encode     the function itself, where the caller gives one from Python
    options    where things lie and how fast to go; nothing in it may change a vector
    price_per_million_tokens   in any currency, one for all candidates; None: unknown
    cache      a callable's vectors are re-used in a later run only when this is True
    """

    id: str
    embedder: str = "callable"
    contract: Contract | Mapping[str, object] = field(default_factory=dict)
    encode: EncodeFunction | None = None
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    price_per_million_tokens: float | None = None
    cache: bool = False

    def __post_init__(self) -> None:
        if not ID.fullmatch(self.id):
            raise InputError(
                f"{self.id!r} cannot be a candidate's id",
                fix="use letters, digits, dot, underscore and hyphen, beginning with a letter or digit",
            )

    @property
    def claims(self) -> Mapping[str, object]:
        """The contract fields that the study states."""
        return self.contract.stated() if isinstance(self.contract, Contract) else self.contract
