"""The page as Markdown."""

from __future__ import annotations

from tiepoint.report.signs import visible
from tiepoint.report.table import Page, Table

SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#"} | {"\n": " "})


def markdown(page: Page) -> str:
    """The whole page; every text is escaped, so that no name can become markup."""
    blocks = [f"# {_plain(page.title)}"]
    if page.notice:
        blocks.append(f"> **{_plain(page.notice)}**")
    blocks += [f"**{_plain(page.sentence)}**", _table(page.main)]
    for section in page.sections:
        blocks.append(f"## {_plain(section.title)}")
        blocks += [f"> **Warning:** {_plain(warning)}" for warning in section.warnings]
        if section.lines:
            blocks.append("\n".join(f"- {_plain(line)}" for line in section.lines))
        blocks += [f"### {_plain(table.title)}\n\n{_table(table)}" for table in section.tables if table.rows]
    return "\n\n".join(blocks) + "\n"


def _table(table: Table) -> str:
    lines = [_row(table.head), "|" + "|".join(["---"] + ["---:"] * (len(table.head) - 1)) + "|"]
    lines += [_row(row) for row in table.rows]
    return "\n".join(lines) + (f"\n\n{_plain(table.note)}" if table.note else "")


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _plain(text: str) -> str:
    return visible(text).translate(SPECIAL)
