"""Every error that tiepoint shows a person: what is wrong, where, and how to mend it.

    TiepointError
      InputError      the input or the call is wrong                     exit 2
      CannotRun       it could not run on this machine                   exit 3
        NotInstalled  an extra or a package is missing                   exit 3
      Defect          tiepoint contradicts itself: no input is to blame  exit 3

All problems of one input are collected in `Problems` and raised together, so that one pass mends them all.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

FIRST = 10
"""How many offenders a message names before it counts the rest."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: what, where it stands, how to mend it."""

    what: str
    where: str = ""
    fix: str = ""

    def __str__(self) -> str:
        lines = [f"error: {self.what}"]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.fix:
            lines.append(f"  fix:   {self.fix}")
        return "\n".join(lines)


class TiepointError(Exception):
    """An answer for the person who called: one or more problems, never a traceback on the command line."""

    exit_code = 2

    def __init__(self, what: str = "", *, where: str = "", fix: str = "", problems: Sequence[Problem] = ()) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems) or (Problem(what, where, fix),)
        super().__init__("\n".join(map(str, self.problems)))


class InputError(TiepointError):
    """The input or the call is wrong; nothing was changed."""


class CannotRun(TiepointError):
    """The call is right, but it cannot run here."""

    exit_code = 3


class NotInstalled(CannotRun):
    """A package is missing; `fix` holds the command that installs it."""


class Defect(TiepointError):
    """Tiepoint came upon what its own definitions rule out; no figure is made of it."""

    exit_code = 3


@dataclass(slots=True)
class Problems:
    """Collects what is wrong with one input, to be raised once."""

    found: list[Problem] = field(default_factory=list)

    def add(self, what: str, *, where: str = "", fix: str = "") -> None:
        """Note one problem and go on looking."""
        self.found.append(Problem(what, where, fix))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Note problems that another check found."""
        self.found.extend(problems)

    def raise_if_any(self) -> None:
        """Raise InputError with every problem found so far, if there is one."""
        if self.found:
            raise InputError(problems=self.found)


def some(names: Iterable[object], *, first: int = FIRST) -> str:
    """`d12, d88, d1931 and 11 more`: the first offenders and how many others there are."""
    every = [str(name) for name in names]
    shown = ", ".join(every[:first])
    return shown if len(every) <= first else f"{shown} and {len(every) - first:,} more"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean "acl"?`, or an empty string where nothing is near."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name.casefold(), list(by_folded), n=1, cutoff=0.6)
    return f'did you mean "{by_folded[near[0]]}"?' if near else ""
