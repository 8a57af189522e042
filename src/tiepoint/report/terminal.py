"""The page's first table and sentence for a terminal of 100 columns."""

from __future__ import annotations

from rich.console import Console, Group
from rich.table import Table as RichTable
from rich.text import Text

from tiepoint.report.signs import visible
from tiepoint.report.table import Section, Table

WIDTH = 100
NARROWEST = 80
NAME_WIDTH = 24
"""A longer name is folded, never cut."""


def show(console: Console, *, notice: str | None, sentence: str, rule: str, table: Table) -> None:
    """Print the verdict: notice, table, sentence, rule. Names are printed as text, never read as markup."""
    drawn = RichTable(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    drawn.add_column(_text(table.head[0]), overflow="fold", max_width=NAME_WIDTH)
    for name in table.head[1:]:
        drawn.add_column(_text(name.replace(" ", "\n")), justify="right", no_wrap=True)
    for row in table.rows:
        drawn.add_row(*(_text(cell) for cell in row))
    parts: list[Text | RichTable] = [_text(notice, style="yellow"), Text()] if notice else []
    parts += [drawn, _text(table.note, style="dim"), Text(), _text(sentence, style="bold"), _text(f"Rule: {rule}")]
    console.print(Group(*parts), width=_width(console), soft_wrap=False)


def show_section(console: Console, section: Section) -> None:
    """Print a section: its title, its lines, its tables with their titles. Wide cells are folded, never cut."""
    parts: list[Text | RichTable] = [_text(section.title, style="bold"), *map(_text, section.lines)]
    for table in section.tables:
        if table.rows:
            drawn = RichTable(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
            for name in table.head:
                drawn.add_column(_text(name), overflow="fold")
            for row in table.rows:
                drawn.add_row(*(_text(cell) for cell in row))
            parts += [Text(), _text(table.title, style="bold"), drawn]
            parts += [_text(table.note, style="dim")] if table.note else []
    console.print(Group(*parts), width=_width(console), soft_wrap=False)


def _text(text: str, style: str = "") -> Text:
    """A text that is never read as markup nor sent to the terminal as a command."""
    return Text(visible(text), style=style)


def _width(console: Console) -> int:
    """The console's width, between the narrowest that holds every figure whole and the widest that reads well."""
    return min(max(console.width, NARROWEST), WIDTH)
