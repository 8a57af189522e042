"""What stands on a chart, before anything draws it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

LONGEST = 20
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+")

Style = Literal["candidate", "chosen", "baseline", "few", "head"]


@dataclass(frozen=True, slots=True)
class Mark:
    """One row or point: a name and a mean with its interval. A head has no mean."""

    label: str
    style: Style
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    x: float = 0.0


@dataclass(frozen=True, slots=True)
class Slope:
    """One line from a mean on the left to a mean on the right."""

    label: str
    style: Style
    left: float
    right: float


def short(text: str, longest: int = LONGEST) -> str:
    """A name as a chart can hold it, on one line; tables have the whole of it."""
    plain = CONTROLS.sub(" ", text).strip()
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"
