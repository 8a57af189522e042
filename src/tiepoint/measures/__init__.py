"""One file per measure, vectorised over queries. A measure is added by writing its file; nothing else is edited.

The files of PLAIN hold no measure against judgements: what measures share, and the agreement of two runs.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache

from tiepoint.errors import InputError, did_you_mean
from tiepoint.measures.measure import Measure, MeasureKind

NAME = re.compile(r"(?P<name>[A-Za-z_]+)(\((?P<options>[^()]*)\))?@(?P<cutoff>\d+)")
ALIASES = {"R": "recall", "MRR": "RR", "MAP": "AP", "NDCG": "nDCG", "ndcg": "nDCG"}
PLAIN = ("measure", "graded", "ties", "agreement")


@cache
def kinds() -> dict[str, MeasureKind]:
    """Every measure that has a file here, by name."""
    found: dict[str, MeasureKind] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name not in PLAIN:
            kind = importlib.import_module(f"{__name__}.{module.name}").MEASURE
            found[kind.name] = kind
    return found


def parse(name: str) -> Measure:
    """A measure from its name: `nDCG@10`, `recall(rel=2)@100`; `R@k` is read as `recall@k`.

    returns   a Measure whose str() is the canonical name
    raises    InputError with the nearest name for one that is not known
    """
    match = NAME.fullmatch(name.replace(" ", ""))
    if not match:
        raise InputError(f"{name!r} is not a measure", fix='write it as "nDCG@10" or "recall(rel=2)@100"')
    given = match["name"]
    kind = kinds().get(ALIASES.get(given, given))
    if kind is None:
        hint = did_you_mean(given, kinds())
        raise InputError(f"{name!r} is not a measure", fix=hint or f"known: {', '.join(sorted(kinds()))}")
    if int(match["cutoff"]) < 1:
        raise InputError(f"the cut-off of {name!r} must be at least 1")
    return Measure(kind, int(match["cutoff"]), kind.options_from(match["options"] or "", name))
