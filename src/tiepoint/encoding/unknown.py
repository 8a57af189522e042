"""Texts of which a model knows nothing: emoji, or a script that its vocabulary lacks. They get no vector, like empty texts."""

from __future__ import annotations

import unicodedata
from collections import Counter

NO_KNOWN_TOKEN = "no known token"  # noqa: S105 a reason, no secret
SYMBOLS = "symbols"


def unknown_reason(text: str) -> str:
    """`no known token (ethiopic)`: the reason why such a text has no vector; it names a script and no character."""
    return f"{NO_KNOWN_TOKEN} ({script_of(text)})"


def script_of(text: str) -> str:
    """The script that most letters of a text are of, by the first word of their Unicode names; without letters: symbols."""
    words = Counter(unicodedata.name(c, "UNNAMED").split()[0].lower() for c in text if c.isalpha())
    return min(words, key=lambda word: (-words[word], word)) if words else SYMBOLS
