"""TREC topics as questions: `<top><num>..<title>..` as TREC wrote it, or `id<TAB>text`. Ids and texts only."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tiepoint.core.rows import Rows, encoding_name, utf8_text
from tiepoint.errors import Problems, some

TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)[^<>]*>")
LABELS = {"num": re.compile(r"\s*Number\s*:", re.IGNORECASE), "title": re.compile(r"\s*Topic\s*:", re.IGNORECASE)}
IDS, TEXTS = ("num", "_id", "id"), ("title", "text")
"""Under which column names the two are found: TREC's own, and the names that a study uses where it names none."""


def read_topics(path: Path, *, name: str | None = None) -> Rows:
    """Every topic; its id as written after `Number:`, its text the title on one line.

    name      what messages call the file; None: its file name
    returns   Rows with the columns num and title, found also under _id, id and text
    raises    InputError with every bad topic by its line: not closed, without an id or a title, or with two; every
              line without a tab, blank or without a text; the byte offset where the file is not UTF-8
    """
    name = name or path.name
    raw = path.read_bytes()
    text = utf8_text(raw, name=name)
    found = _Found()
    marked = re.search(r"<top\b", text, re.IGNORECASE) is not None
    if marked:
        found.take_marked(text)
    else:
        found.take_lines(text)
    found.check(name)
    form = f"{name}: TREC topics, {'marked with <top>' if marked else 'id and text between tabs'}, {encoding_name(raw)}"
    columns = dict.fromkeys(IDS, found.ids) | dict.fromkeys(TEXTS, found.texts)
    seen = dict.fromkeys((*IDS, *TEXTS), len(found.ids))
    return Rows(name, form, columns, seen, found.lines, hashlib.sha256(raw).hexdigest())


@dataclass(slots=True)
class _Found:
    ids: list[object] = field(default_factory=list)
    texts: list[object] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    bad: dict[str, list[int]] = field(default_factory=dict)

    def take_lines(self, text: str) -> None:
        """`id<TAB>text` on each line; blank lines at the end are passed over."""
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        while lines and not lines[-1].strip():
            lines.pop()
        for number, line in enumerate(lines, 1):
            own, tab, title = line.partition("\t")
            if not tab:
                self._refuse("are blank" if not line.strip() else "have no tab between id and text", number)
            else:
                self._keep(own, title.strip(), number)

    def take_marked(self, text: str) -> None:
        """Every `<top>` to its `</top>`; what stands outside is not read."""
        line = position = 0
        start = 0  # the line of the topic that is open; 0: none is
        fields: dict[str, list[str]] = {}
        for closing, tag, content, at in _tags(text):
            line += text.count("\n", position, at)
            position = at
            if tag == "top":
                if start and not closing:
                    self._refuse("begin a topic that is not closed before the next", start)
                elif start:
                    self._topic(fields, start)
                start, fields = (0 if closing else line + 1), {}
            elif start and not closing:
                fields.setdefault(tag, []).append(content)
        if start:
            self._refuse("begin a topic that is never closed", start)

    def _topic(self, fields: dict[str, list[str]], line: int) -> None:
        values = {}
        for tag, label in LABELS.items():
            given = fields.get(tag, [])
            if len(given) != 1:
                self._refuse(f"begin a topic with {'no' if not given else 'more than one'} <{tag}>", line)
                return
            values[tag] = " ".join(label.sub("", given[0], count=1).split())
        self._keep(values["num"], values["title"], line)

    def _keep(self, own: str, title: str, line: int) -> None:
        self.ids.append(own)
        self.texts.append(title)
        self.lines.append(line)

    def _refuse(self, why: str, line: int) -> None:
        self.bad.setdefault(why, []).append(line)

    def check(self, name: str) -> None:
        """Raise InputError with everything that is wrong."""
        problems = Problems()
        for why, lines in self.bad.items():
            problems.add(
                f"{name} has lines that {why} ({len(lines):,})",
                where=f"{name}, lines {some(lines)}",
                fix="write <top> <num> Number: 301 <title> the question </top>, or id, a tab and the question",
            )
        problems.raise_if_any()


def _tags(text: str) -> Iterator[tuple[bool, str, str, int]]:
    """(closing, tag in lower case, the text up to the next tag, where the tag begins) of every tag."""
    found = list(TAG.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=True):
        yield bool(match[1]), match[2].casefold(), text[match.end() : end], match.start()
