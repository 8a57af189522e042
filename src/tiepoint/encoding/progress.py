"""How long work tells how far it is: one narrow seam, drawn by the command line, silent by default."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Hears of one stretch of work at a time."""

    def start(self, label: str, total: int) -> None:
        """A stretch of `total` steps begins; the label names a candidate and a kind of work, never a text."""

    def advance(self, steps: int) -> None:
        """So many more steps are done."""

    def finish(self) -> None:
        """The stretch is over, done or given up."""


class Silent:
    """Says nothing."""

    def start(self, label: str, total: int) -> None:
        """Nothing."""

    def advance(self, steps: int) -> None:
        """Nothing."""

    def finish(self) -> None:
        """Nothing."""


SILENT = Silent()
