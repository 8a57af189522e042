"""Which candidates a run is about: one rule for bench, its dry run and check."""

from __future__ import annotations

from collections.abc import Sequence

from tiepoint.core.candidate import Candidate
from tiepoint.core.study import Study
from tiepoint.errors import InputError, Problem, did_you_mean, some
from tiepoint.workflows.candidates.spaces import Opened, open_candidates

LEFT_OUT = "left out by --candidate"


def tried(study: Study, candidates: Sequence[Candidate] | None) -> tuple[Candidate, ...]:
    """The study's own candidates, or those that stand in their place. Raises InputError when there is none."""
    chosen = tuple(study.candidates if candidates is None else candidates)
    if not chosen:
        raise InputError(
            "the study has no candidate",
            where=f"{study.folder / 'study.toml'}",
            fix="add a [[candidate]] table, or let `tiepoint init` write those that are installed",
        )
    return chosen


def open_chosen(study: Study, candidates: Sequence[Candidate], only: Sequence[str] | None) -> list[Opened]:
    """Open the candidates named in `only` (None: all); the others stand in their places, not executed and not opened.

    raises   InputError for a name that no candidate has, and where open_candidates does
    """
    if only is None:
        return open_candidates(study, candidates)
    known = [candidate.id for candidate in candidates]
    if unknown := [name for name in dict.fromkeys(only) if name not in known]:
        raise InputError(
            problems=[
                Problem(
                    f"there is no candidate {name!r}",
                    "--candidate",
                    did_you_mean(name, known) or f"known are {some(known)}",
                )
                for name in unknown
            ]
        )
    opened = {one.candidate.id: one for one in open_candidates(study, [c for c in candidates if c.id in only])}
    return [opened.get(c.id) or Opened(c, not_executed=LEFT_OUT) for c in candidates]
