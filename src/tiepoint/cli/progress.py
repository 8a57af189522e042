"""Progress of long work on stderr: drawn on a terminal, silent on a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


class Drawn:
    """Draws the stretch of work that is going on; see encoding.progress.Progress."""

    def __init__(self, console: Console) -> None:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._bars = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task: TaskID | None = None

    def start(self, label: str, total: int) -> None:
        """Begin a bar."""
        self._bars.start()
        self._task = self._bars.add_task(label, total=total)

    def advance(self, steps: int) -> None:
        """Move the bar on."""
        if self._task is not None:
            self._bars.advance(self._task, steps)

    def finish(self) -> None:
        """Take the bar away."""
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None
        self._bars.stop()
