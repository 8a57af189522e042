"""The page as one self-contained HTML file: no script, no network."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from tiepoint.report.table import Page


def html(page: Page) -> str:
    """The whole page; autoescaped, so that no name can become markup."""
    environment = Environment(
        loader=PackageLoader("tiepoint.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(page=page)
