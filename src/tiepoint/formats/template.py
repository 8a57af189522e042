"""The template that makes an embedding text from columns: `{title} {text}`."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass

from tiepoint.errors import InputError


@dataclass(frozen=True, slots=True)
class Template:
    """Text and column names in turn. Build it with `parse`.

    parts   (text before, column name); the name is None after the last column
    """

    parts: tuple[tuple[str, str | None], ...]

    @classmethod
    def parse(cls, source: str) -> Template:
        """Plain column names in braces; `{{` and `}}` stand for braces.

        raises   InputError for broken braces, no column at all, attributes, indexes, conversions and format specs
        """
        try:
            pieces = list(string.Formatter().parse(source))
        except ValueError as error:
            raise _refused(f"the template {source!r} cannot be read ({error})") from None
        for _, name, spec, conversion in pieces:
            if name is not None and (not name.strip() or spec or conversion or set(name) & set(".[]{}!:")):
                raise _refused(f"the template {source!r} holds more than plain column names")
        if not any(name is not None for _, name, _, _ in pieces):
            raise _refused(f"the template {source!r} names no column")
        return cls(tuple((text, name) for text, name, _, _ in pieces))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it needs, each once, in order."""
        return tuple(dict.fromkeys(name for _, name in self.parts if name is not None))

    def fill(self, values: Mapping[str, str]) -> str:
        """The text of one row. values: every column of `columns`, an empty text for null."""
        return "".join(text + ("" if name is None else values[name]) for text, name in self.parts)


def _refused(what: str) -> InputError:
    return InputError(what, fix='use column names in braces: "{title} {text}"')
