"""The report of a recorded result or audit: its values made, its files written, its charts drawn."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tiepoint.core.audit import Audit
from tiepoint.core.report import Explorer, NotOpen, Report
from tiepoint.core.result import Result
from tiepoint.report import draw
from tiepoint.report.audit_drawn import drawn_audit_page
from tiepoint.report.html import html
from tiepoint.report.markdown import markdown
from tiepoint.report.page import page
from tiepoint.report.table import Drawing, Page
from tiepoint.workflows.report.audited import audit_explorer
from tiepoint.workflows.report.explorer import explorer
from tiepoint.workflows.report.figures import against_cost, forest, inversion, recalls
from tiepoint.workflows.report.hits import Texts
from tiepoint.workflows.report.warnings import report_warnings

MOST_BYTES = 4_000_000
"""A page is no larger, as far as fewer queries to open can make it so."""
FEWER = 200
"""So many queries stay where not all have room; half of them, and so on, where even these have none."""
HTML, MARKDOWN = "report.html", "report.md"


@dataclass(frozen=True, slots=True)
class Written:
    """What a report consists of: the page with its queries, and both texts."""

    page: Page
    html: str
    markdown: str

    @property
    def drawings(self) -> tuple[Drawing, ...]:
        """Every chart, in the order of the page."""
        return tuple(drawing for section in self.page.sections for drawing in section.drawings)


def report_of(result: Result, *, texts: Texts | None = None, most: int | None = None) -> Report:
    """The bounded values of a result's report.

    texts   None: no text stands in it
    most    so many queries can be opened at most; None: as many as have room
    """
    summary = result.summary
    kinds = (forest(summary, "subgroups"), forest(summary, "regions"))
    return Report(
        summary=summary,
        conditions=result.conditions,
        cost=against_cost(summary),
        recalls=recalls(summary),
        inversion=inversion(summary),
        forests=tuple(found for found in kinds if found is not None),
        explorer=explorer(result, texts=texts, most=most),
        warnings=report_warnings(summary),
    )


def written(result: Result | Audit, *, texts: Texts | None = None) -> Written:
    """The report of a result or an audit. Where its page would grow past MOST_BYTES, fewer queries can be opened."""
    most: int | None = None
    while True:
        whole, opened = _made(result, texts, most)
        text = html(whole, opened)
        held = len(opened.queries) if isinstance(opened, Explorer) else 0
        if held <= 1 or len(text.encode()) <= MOST_BYTES:
            return Written(whole, text, markdown(whole))
        most = held // 2 if held <= FEWER else FEWER


def _made(result: Result | Audit, texts: Texts | None, most: int | None) -> tuple[Page, Explorer | NotOpen]:
    if isinstance(result, Audit):
        return drawn_audit_page(result.summary), audit_explorer(result, most=most)
    report = report_of(result, texts=texts, most=most)
    return page(report), report.explorer


def write_report_files(made: Written, folder: Path) -> None:
    """Put report.html and report.md into a folder, each whole or not at all."""
    replace_file(folder / HTML, made.html.encode())
    replace_file(folder / MARKDOWN, made.markdown.encode())


def write_charts(drawings: tuple[Drawing, ...], folder: Path) -> tuple[Path, ...]:
    """Write each chart as SVG and PNG into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for drawing in drawings:
        for suffix, content in (("svg", draw.svg(drawing).encode()), ("png", draw.png(drawing))):
            made.append(folder / f"{drawing.name}.{suffix}")
            replace_file(made[-1], content)
    return tuple(made)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file beside and rename it, so that a reader finds the old one or the new one."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
