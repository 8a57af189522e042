"""Signs in a name that no reader sees and that change what stands beside it: made visible, in pages, Markdown and terminals."""

from __future__ import annotations

REPLACED = "\ufffd"
TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Signs that turn the direction of what follows them."""
_CONTROLS = {code: REPLACED for code in (*range(0x20), *range(0x7F, 0xA0)) if code != ord("\n")}
_ALL = _CONTROLS | {ord(sign): f"\\u{ord(sign):04x}" for sign in TURNING}


def without_controls(text: str) -> str:
    """Control characters, but for line feeds, as a visible sign: for places where direction is isolated otherwise."""
    return text.translate(_CONTROLS)


def visible(text: str) -> str:
    r"""Control characters, but for line feeds, as a visible sign, and what turns directions as its number, `\u202e`."""
    return text.translate(_ALL)
