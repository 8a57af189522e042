"""What the noise of encoding could make of a run: values over every order that it could have made, and who is cut off by it.

The verdict never rests on it: ties are what the study says they are. It is said, with the tolerance that would take it in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tiepoint.core.result import CandidateResult
from tiepoint.core.run import Run
from tiepoint.core.space import Space
from tiepoint.core.study import Study
from tiepoint.measures.measure import Measure
from tiepoint.measures.ties import TiedRuns
from tiepoint.workflows.figures import Measured, any_value
from tiepoint.workflows.slices import View, scored


def with_noise(
    study: Study, view: View, measured: Measured, run: Run, space: Space | None, measures: Sequence[Measure]
) -> Measured:
    """The same with what noise could make of it.

    measured   of the run without noise
    run        with the noise of the space, see core.run.Run
    space      None: rankings made elsewhere
    """
    if space is None or space.noise is None:
        return measured
    if not space.noise:
        return replace(measured, by_noise=np.zeros(len(run), dtype=bool))
    if not run.noise:  # it orders the whole space and was not looked at
        return replace(measured, over_noise={name: any_value(column) for name, column in measured.columns.items()})
    tied = TiedRuns(measured.graded, run, study.qrels)
    keep = scored(study, view)
    return replace(
        measured,
        over_noise={str(m): m.over_ties(measured.columns[str(m)], tied.at(m.cutoff)).among(keep) for m in measures},
        by_noise=tied.at(study.k).groups.pairs_at(study.k) > measured.tied_pairs,
    )


def noise_warnings(study: Study, results: Sequence[CandidateResult]) -> tuple[str, ...]:
    """Beside the verdict: whose order at the cut is noise on the slice that decides, and which tolerance would take it in."""
    asked = study.rule.slice
    lost = [c.id for c in results if c.noise and asked in c.ties and c.ties[asked].by_noise is None]
    whole = (
        f"noise of encoding orders the whole space of {', '.join(lost)}: no figure of such a model is to be trusted",
    )
    counts: Mapping[str, int] = {c.id: c.ties[asked].by_noise or 0 for c in results if asked in c.ties}
    struck = [c for c in results if counts.get(c.id)]
    if not struck:
        return whole if lost else ()
    told = ", ".join(f"{counts[c.id]:,} of {c.id}'s" for c in struck)
    line = (
        f"noise of encoding orders documents across the cut {study.k}: {told} rankings ({asked}) could be others when the texts "
        "are encoded again, and the verdict takes them as they are"
    )
    tolerance = enough(max(2 * (c.noise or 0.0) for c in struck))
    if tolerance > study.tie_tolerance:
        line += f"; tie_tolerance = {tolerance:g} under [study] would hold the verdict over this noise"
    return (*(whole if lost else ()), line)


def enough(floor: float) -> float:
    """A tolerance of two digits that is no smaller."""
    digits = 10.0 ** (math.floor(math.log10(floor)) - 1)
    return float(f"{math.ceil(floor / digits * (1 - 1e-12)) * digits:.2g}")
