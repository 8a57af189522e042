"""A report's page, read as a machine reads it: its tables, its data and its policy, from the HTML alone."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Seen(HTMLParser):
    """Tables by caption (rows of cell texts, the head first), elements, and the text of scripts and styles."""

    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    raw: list[tuple[dict[str, str | None], str]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._rows: list[list[str]] | None = None
        self._cell: list[str] | None = None
        self._caption: list[str] | None = None
        self._within: tuple[str, dict[str, str | None]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._within = (tag, dict(attrs))
        elif tag == "table":
            self._rows = []
        elif tag == "caption":
            self._caption = []
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th"):
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._within = None
        elif tag == "caption" and self._caption is not None and self._rows is not None:
            self.tables["".join(self._caption).strip()] = self._rows
            self._caption = None
        elif tag in ("td", "th") and self._cell is not None and self._rows is not None:
            self._rows[-1].append("".join(self._cell).strip())
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._within is not None:
            self.raw.append(({"tag": self._within[0], **self._within[1]}, data))
            return
        self.text.append(data)
        for sink in (self._cell, self._caption):
            if sink is not None:
                sink.append(data)

    @property
    def data(self) -> dict[str, object]:
        """What the page's script reads."""
        (found,) = [text for attrs, text in self.raw if attrs.get("type") == "application/json"]
        return json.loads(found)

    @property
    def scripts(self) -> list[str]:
        return [text for attrs, text in self.raw if attrs["tag"] == "script" and "type" not in attrs]

    @property
    def policy(self) -> str:
        (found,) = [a["content"] for tag, a in self.tags if tag == "meta" and a.get("http-equiv")]
        return str(found)


def seen(html: str) -> Seen:
    """The page as it was read."""
    page = Seen()
    page.feed(html)
    page.close()
    return page


def assert_self_contained(html: str) -> None:
    """Nothing may load, and nothing may run or style but what the policy names by its hash."""
    page = seen(html)
    for attrs, text in page.raw:
        if attrs.get("type") == "application/json":
            continue
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in page.policy
    assert "default-src 'none'" in page.policy
    assert "unsafe" not in page.policy
    for tag, attrs in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "image", "use")
        for name, value in attrs.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("style", "src", "srcset", "action"), (tag, name)
            if name == "href":
                assert re.match(r"#|[^:]*/report\.html$", str(value)), value
    assert not re.search(r"url\(|@import", html)
