"""The page as one self-contained HTML file: its own style, its own script, both named by hash; nothing else may load or run."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from tiepoint.core.report import Explorer, Index, NotOpen
from tiepoint.report.draw import inline_svg
from tiepoint.report.index import index_data, index_page
from tiepoint.report.opened import explorer_lines
from tiepoint.report.payload import payload
from tiepoint.report.signs import TURNING, visible, without_controls
from tiepoint.report.table import Page

LONG_NAME, LONG_LINE, SHOWN = 300, 4_000, 120


def html(page: Page, explorer: Explorer | NotOpen | None = None) -> str:
    """The whole page; autoescaped, so that no name can become markup.

    explorer   the queries that a reader may open, or why none can be; None: the page has no such section
    """
    held = isinstance(explorer, Explorer)
    return _render(
        "report.html.j2",
        script="explorer.js" if held else None,
        page=page,
        explorer=explorer if held else None,
        lines=explorer_lines(explorer) if isinstance(explorer, Explorer) else (),
        closed=explorer.reason if isinstance(explorer, NotOpen) else None,
        data=Markup(payload(explorer)) if isinstance(explorer, Explorer) else "",  # noqa: S704 payload escapes it
    )


def index_html(index: Index, *, beside: tuple[int, int] | None = None, moved: Page | None = None) -> str:
    """The page over all stored results.

    beside   positions of the two that stand side by side
    moved    what moved between them; None: it cannot be told
    """
    entries = index_page(index)
    return _render(
        "index.html.j2",
        script="index.js" if len(index.entries) > 1 else None,
        index=index,
        entries=entries,
        beside=None if beside is None else [entries[i] for i in beside],
        moved=moved,
        data=Markup(index_data(index)),  # noqa: S704 index_data escapes it
    )


def _render(name: str, *, script: str | None, **values: object) -> str:
    environment = _environment()
    style, code = _source("style.css"), "" if script is None else _source(script)
    allowed = f"script-src {_hash(code)}" if code else "script-src 'none'"
    policy = f"default-src 'none'; style-src {_hash(style)}; {allowed}; base-uri 'none'; form-action 'none'"
    return environment.get_template(name).render(
        policy=policy,
        style=Markup(style),  # noqa: S704 our own files
        script=Markup(code),  # noqa: S704
        **values,
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tiepoint.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"name": _name, "line": _line, "drawn": lambda d: Markup(inline_svg(d))}  # noqa: S704 vl-convert escapes
    environment.filters["plain"] = visible
    return environment


@cache
def _source(name: str) -> str:
    """A style or script as it stands in the page; its hash is of exactly these characters."""
    environment = _environment()
    source = environment.loader.get_source(environment, name)[0] if environment.loader is not None else ""
    return f"\n{source}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _name(text: str) -> Markup:
    """A name or cell: isolated, so that right-to-left signs in it turn nothing beside it; a very long one is folded."""
    text = without_controls(text)
    if len(text) <= LONG_NAME:
        return Markup("<bdi>{}</bdi>").format(text)
    return _folded(text)


def _line(text: str) -> Markup:
    """A sentence. Where it holds signs that turn directions, each part between commas is isolated."""
    text = without_controls(text)
    if len(text) > LONG_LINE:
        return _folded(text)
    if not set(TURNING).isdisjoint(text):
        return Markup(", ").join(Markup("<bdi>{}</bdi>").format(part) for part in text.split(", "))
    return escape(text)


def _folded(text: str) -> Markup:
    return Markup(
        '<details class="long"><summary><bdi>{}</bdi>… ({} characters)</summary><bdi>{}</bdi></details>'
    ).format(text[:SHOWN], f"{len(text):,}", text)
