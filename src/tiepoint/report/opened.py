"""What a page says of the queries that it lets a reader open."""

from __future__ import annotations

from tiepoint.core.report import Explorer
from tiepoint.report.payload import LONGEST_NAME, LONGEST_TEXT, shortened_names, shortened_texts
from tiepoint.report.table import IN_WORDS


def explorer_lines(found: Explorer) -> tuple[str, ...]:
    """What is here and what is not."""
    held = len(found.queries)
    lines = [
        f"All {found.total:,} queries are here."
        if held == found.total
        else f"The {held:,} queries that differ most are here, of {found.total:,}: all of them would make the page too large. "
        "rows/ has every one."
    ]
    ways = " and ".join(f"{name} ({IN_WORDS[name]})" for name in found.views)
    depth = (
        f"first {found.depth:,} of {found.ranked:,} hits"
        if found.depth < found.ranked
        else f"first {found.depth:,} hits"
    )
    lines.append(f"Rankings are of {ways}, the {depth} of each. Places that the readers may not see stay empty.")
    if any(query.withheld for query in found.queries):
        lines.append("Values of a query are not for these readers where it has an answer that they may not see.")
    if short := shortened_names(found):
        lines.append(f"{short:,} ids of more than {LONGEST_NAME:,} characters stand here with their beginning alone.")
    if found.texts or any(query.text for query in found.queries):
        cut = shortened_texts(found)
        lines.append(
            "Texts are shown because they were asked for, and only those that every reader may read."
            + (
                f" {cut:,} of more than {LONGEST_TEXT:,} characters stand here with their beginning alone."
                if cut
                else ""
            )
        )
    return tuple(lines)
