"""Words of a text, where they are only counted and compared: never what a model is sent."""

from __future__ import annotations

import re
import unicodedata

APART = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts that write no spaces: each character of them is a word."""
WORD = re.compile(f"[{APART}]|[^\\W{APART}]+")
DEFINITION = (
    "runs of letters, digits and underscores, under NFC and case folding; each kana or Han character is one word"
)


def words(text: str) -> list[str]:
    """The words of a text in their order; none for a text of punctuation alone."""
    return WORD.findall(unicodedata.normalize("NFC", text).casefold())


def lettered(word: str) -> bool:
    """True where a word holds a letter: numbers are new in every document and say nothing about a vocabulary."""
    return any(c.isalpha() for c in word)
