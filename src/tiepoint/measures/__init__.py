"""One file per measure, vectorised over queries. A measure is added by writing its file; nothing else is edited.

A file holds a MEASURE against judgements or an AGREEMENT of two rankings; those of PLAIN hold what they share.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from types import ModuleType

from tiepoint.core.run import DEEPEST
from tiepoint.errors import InputError, did_you_mean
from tiepoint.measures.agreement import AgreementKind, AgreementMeasure
from tiepoint.measures.measure import Measure, MeasureKind

OPTION = "[a-z]+=[a-z0-9]+"
NAME = re.compile(rf"(?P<name>[A-Za-z_]+)(\((?P<options>{OPTION}(, ?{OPTION})*)\))?@(?P<cutoff>0|[1-9][0-9]*)")
ALIASES = {"R": "recall", "MRR": "RR", "MAP": "AP", "NDCG": "nDCG", "ndcg": "nDCG"}
PLAIN = ("measure", "graded", "ties", "agreement", "overlap", "cut")
SHOWN = 60
"""Characters of a name that a message repeats."""


@cache
def kinds() -> dict[str, MeasureKind]:
    """Every measure against judgements that has a file here, by name."""
    found = (module.MEASURE for module in _modules() if hasattr(module, "MEASURE"))
    return {kind.name: kind for kind in found}


@cache
def agreements() -> dict[str, AgreementKind]:
    """Every measure of the agreement of two rankings that has a file here, by name."""
    found = (module.AGREEMENT for module in _modules() if not hasattr(module, "MEASURE"))
    return {kind.name: kind for kind in found}


def parse(name: str) -> Measure:
    """A measure from its name: `nDCG@10`, `recall(rel=2)@100`; `R@k` is read as `recall@k`.

    returns   a Measure whose str() is the canonical name
    raises    InputError with the nearest name for one that is not known, and for a cut-off that is not 1 to DEEPEST
    """
    given, options, cutoff = _read(name)
    if given.casefold() in {known.casefold() for known in agreements()}:
        raise InputError(
            f"{name!r} compares two rankings with each other, and not one with judgements",
            fix="it stands in what tiepoint audit says of a move; name a measure against judgements here, as nDCG@10",
        )
    kind = kinds().get(ALIASES.get(given, given))
    if kind is None:
        hint = did_you_mean(given, kinds())
        raise InputError(f"{name!r} is not a measure", fix=hint or f"known: {', '.join(sorted(kinds()))}")
    return Measure(kind, cutoff, kind.options_from(options, name))


def parse_agreement(name: str) -> AgreementMeasure:
    """A measure of agreement from its name: `RBO@10`, `Jaccard@10`.

    returns   an AgreementMeasure whose str() is the name
    raises    InputError for another name or for options, and for a cut-off that is not 1 to DEEPEST
    """
    given, options, cutoff = _read(name)
    kind = agreements().get(given)
    if kind is None or options:
        known = ", ".join(f"{kind}@k" for kind in sorted(agreements()))
        raise InputError(f"{name!r} is no measure of the agreement of two rankings", fix=f"known: {known}")
    return AgreementMeasure(kind, cutoff)


def _read(name: str) -> tuple[str, str, int]:
    """The name without its cut-off, the options as written, the cut-off. A space may stand around it all and after a comma."""
    match = NAME.fullmatch(name.strip(" "))
    shown = name if len(name) <= SHOWN else f"{name[:SHOWN]}..."
    if not match:
        raise InputError(f"{shown!r} is not a measure", fix='write it as "nDCG@10" or "recall(rel=2)@100"')
    cutoff = match["cutoff"]
    if len(cutoff) > len(str(DEEPEST)) or int(cutoff) > DEEPEST:
        raise InputError(f"{shown!r} looks deeper than {DEEPEST:,} hits", fix="name a smaller cut-off")
    if cutoff == "0":
        raise InputError(f"the cut-off of {shown!r} must be at least 1")
    return match["name"], (match["options"] or "").replace(" ", ""), int(cutoff)


def _modules() -> list[ModuleType]:
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}") for name in found if name not in PLAIN]
