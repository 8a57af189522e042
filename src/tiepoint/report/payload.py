"""The explorer's queries as one JSON text, small and safe to stand inside a page.

Scores are whole ten-thousandths, as the page prints four places; ids stand once, and rankings name them by number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from tiepoint.core.report import Explorer, OpenedHit, OpenedQuery, OpenedView
from tiepoint.report.signs import without_controls

UNSAFE = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})
"""What could end a script element, begin markup or a comment: JSON says it as well in another way."""
LONGEST_NAME = 300
LONGEST_TEXT = 1_200
STATES = {"found": "f", "missed": "m", "filtered": "x", "absent": "a"}
TIED, GONE, IN, OUT, GRADE = 1, 2, 4, 8, 16


def safe(value: object) -> str:
    """Compact JSON that no HTML parser reads as anything but text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(UNSAFE)


def payload(found: Explorer) -> str:
    """Everything that the page's script shows of an explorer.

    A hit is three numbers: its document (-1: the readers may not see it), its score times 10,000, and its grade plus one times
    GRADE with the flags added. A relevant document is its number, its grade and a letter for each arm.
    """
    names = _Names()
    queries = [_query(query, found, names) for query in found.queries]
    return safe(
        {
            "arms": [_name(arm) for arm in found.arms],
            "beside": [found.arms.index(arm) for arm in found.beside],
            "measures": list(found.measures),
            "views": list(found.views),
            "first": found.views.index(found.first),
            "k": found.k,
            "queries": queries,
            "documents": [_name(name) for name in names.known],
            "texts": {
                str(names.known[d]): shortened(t, LONGEST_TEXT) for d, t in found.texts.items() if d in names.known
            },
        }
    )


def shortened(text: str, longest: int = LONGEST_NAME) -> str:
    """A text, or its beginning and how long it is."""
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"


def _name(name: str) -> str:
    return shortened(without_controls(name))


def shortened_names(found: Explorer) -> int:
    """How many ids of the explorer stand there with their beginning alone."""
    ids = {hit.document for q in found.queries for v in q.views.values() for hits in v.rankings for hit in hits}
    ids |= {gold.document for q in found.queries for v in q.views.values() for gold in v.gold}
    return sum(len(name) > LONGEST_NAME for name in ids if name) + sum(len(q.id) > LONGEST_NAME for q in found.queries)


def shortened_texts(found: Explorer) -> int:
    """How many texts stand there with their beginning alone."""
    texts = [*found.texts.values(), *(q.text or "" for q in found.queries)]
    return sum(len(text) > LONGEST_TEXT for text in texts)


class _Names:
    """Numbers for ids, in order of first use."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self.known.setdefault(name, len(self.known))


def _query(query: OpenedQuery, found: Explorer, names: _Names) -> dict[str, object]:
    said: dict[str, object] = {"id": _name(query.id)}
    plain = {
        "split": query.split,
        "subgroups": [_name(name) for name in query.subgroups],
        "regions": [_name(name) for name in query.regions],
        "rare": query.rare,
        "noAnswer": query.no_answer,
        "suspect": query.suspect,
        "withheld": query.withheld,
        "text": None if query.text is None else shortened(query.text, LONGEST_TEXT),
    }
    said |= {key: value for key, value in plain.items() if value}
    said["views"] = [_view(query.views[name], found, names) if name in query.views else None for name in found.views]
    return said


def _view(view: OpenedView, found: Explorer, names: _Names) -> list[object]:
    values = [list(view.values[measure]) for measure in found.measures]
    rankings = [[n for hit in ranking for n in _hit(hit, names)] for ranking in view.rankings]
    gold = [[names.number(g.document), g.grade, "".join(STATES[s] for s in g.state)] for g in view.gold]
    return [values, rankings, gold, view.gold_more]


def _hit(hit: OpenedHit, names: _Names) -> Iterable[int]:
    if hit.document is None or hit.score is None:
        return (-1, 0, 0)
    flags = TIED * hit.tied + GONE * hit.gone + IN * (hit.moved == "in") + OUT * (hit.moved == "out")
    grade = 0 if hit.grade is None else hit.grade + 1
    return (names.number(hit.document), int(f"{hit.score:.4f}".replace(".", "")), grade * GRADE + flags)
