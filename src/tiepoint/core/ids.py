"""Identifiers and text hashes: what an id may be, the order of ids, and what makes two texts equal."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tiepoint.errors import Problem, some


def id_order(ids: Sequence[str]) -> NDArray[np.int64]:
    """Positions that sort ids by the byte order of their UTF-8 (which is code point order)."""
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)


def numbered(names: Iterable[Hashable]) -> NDArray[np.int64]:
    """A number for each name, equal ones alike: from 0, in the order in which they first appear."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def id_problems(
    ids: Sequence[str], *, what: str, where: str, lines: Sequence[int] = (), counted: str = "lines"
) -> list[Problem]:
    """Everything that is wrong with one column of ids: empty, padded, control characters, repeated, equal under NFC.

    ids       as written, in file order
    what      what they name, in the plural: "documents", "queries"
    where     the file, for the message
    lines     the line of each id in that file; empty: not known, and a repeated id is named without its lines
    counted   what `lines` counts, as messages say it
    """
    problems: list[Problem] = []

    def add(offenders: list[str], sentence: str, fix: str) -> None:
        if offenders:
            problems.append(
                Problem(f"{len(offenders):,} of {len(ids):,} {what} {sentence}", f"{where}, ids {some(offenders)}", fix)
            )

    add([repr(i) for i in ids if not i or i != i.strip()], "have an id that is empty or padded", "trim the id column")
    add(
        [repr(i) for i in ids if any(unicodedata.category(c) == "Cc" for c in i)],
        "have an id with a control character",
        "remove tabs, newlines and other control characters from the id",
    )
    repeated = [i for i, count in Counter(ids).items() if count > 1]
    if lines:
        places: dict[str, list[int]] = {i: [] for i in repeated}
        for i, line in zip(ids, lines, strict=True):
            if i in places:
                places[i].append(line)
        repeated = [f"{i} ({counted} {some(at)})" for i, at in places.items()]
    add(repeated, "ids are repeated", "give every row an id of its own; nothing is merged and the last does not win")
    forms: dict[str, set[str]] = {}
    for i in set(ids):
        forms.setdefault(unicodedata.normalize("NFC", i), set()).add(i)
    collide = sorted(min(group) for group in forms.values() if len(group) > 1)
    add(collide, "ids are spelt in two Unicode forms", "use one form (NFC) for each id")
    return problems


def content_hash(text: str) -> bytes:
    """SHA-256 of a text after LF and NFC: equal for texts that differ only in line ends or Unicode form."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(unicodedata.normalize("NFC", plain).encode()).digest()


def input_hash(text: str) -> bytes:
    """SHA-256 of the exact bytes sent to a model, prompt included."""
    return hashlib.sha256(text.encode()).digest()
