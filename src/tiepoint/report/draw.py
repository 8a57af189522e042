"""Vega-Lite documents to SVG and PNG by vl-convert: without a browser and without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from tiepoint.errors import CannotRun
from tiepoint.report.table import Drawing

SIZE = re.compile(r' width="(\d+)" height="(\d+)"', re.ASCII)
"""The first is the picture's own size."""
LARGER = 1.05
"""In a page, so that three pictures fill a row."""
ROLES = re.compile(r' (role="graphics-[a-z]+"|aria-roledescription="[^"]*"|aria-hidden="true"|pointer-events="none")')
NO_OP = re.compile(r'<path class="(?:back|fore)ground"[^>]*d=""[^>]*/>')
PIXELS = 2


def inline_svg(drawing: Drawing) -> str:
    """The chart to stand in a page: without a background, its text alternative as its label."""
    return _inline(drawing.spec())


@lru_cache(maxsize=64)
def _inline(spec: str) -> str:
    return SIZE.sub(_larger, ROLES.sub("", NO_OP.sub("", _convert(spec))), count=1)


def _larger(size: re.Match[str]) -> str:
    return f' width="{LARGER * int(size[1]):.0f}" height="{LARGER * int(size[2]):.0f}"'


def svg(drawing: Drawing) -> str:
    """The chart as a file of its own, on white."""
    return _convert(_on_white(drawing.spec()))


def png(drawing: Drawing) -> bytes:
    """The chart as a picture, two pixels to each unit, on white."""
    import vl_convert

    with _translated_errors():
        return bytes(vl_convert.vegalite_to_png(_on_white(drawing.spec()), scale=PIXELS))


def _convert(spec: str) -> str:
    import vl_convert

    with _translated_errors():
        return str(vl_convert.vegalite_to_svg(spec))


@contextmanager
def _translated_errors() -> Iterator[None]:
    """What vl-convert raises where it cannot draw is a ValueError with the trace of its script."""
    try:
        yield
    except ValueError as error:
        raise CannotRun(
            f"a chart cannot be drawn: {str(error).partition(chr(10))[0]}",
            where="vl-convert",
            fix="install the versions of altair and vl-convert-python that constraints.txt names",
        ) from error


def _on_white(spec: str) -> str:
    document = json.loads(spec)
    return json.dumps({**document, "config": {**document["config"], "background": "white"}})
