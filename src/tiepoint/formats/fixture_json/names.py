"""What a name may be: of a space, an item, a case, a group, a subgroup, a revision."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from tiepoint.formats.fixture_json.findings import Findings, Layer, shown


def fault(name: str) -> str | None:
    """Why this cannot be a name: `is empty`, `is padded`, `holds a control character`; None: it can."""
    if any(unicodedata.category(character) == "Cc" for character in name):
        return "holds a control character"
    return "is empty" if not name else "is padded" if name != name.strip() else None


def check_name(name: str, what: str, *, layer: Layer, place: str, found: Findings) -> bool:
    """Note what is wrong with one name; True: nothing."""
    wrong = fault(name)
    if wrong:
        found.add(layer, f"{what} {wrong}", place=f"{place}: {ascii(name)[:80]}", fix=f"correct {what}")
    return not wrong


def check_names(names: Sequence[str], what: str, *, layer: Layer, place: str, found: Findings) -> None:
    """Note every name of a list that is wrong or repeated."""
    for name in dict.fromkeys(names):
        check_name(name, f"a name in {what}", layer=layer, place=place, found=found)
    for name in (name for name, count in Counter(names).items() if count > 1):
        found.add(layer, f"a name in {what} is repeated", place=f"{place}: {shown(name)}", fix="name it once")


def check_repeats(named: Iterable[tuple[tuple[str, ...], str]], what: str, *, layer: Layer, found: Findings) -> None:
    """Note every name that several entries bear, with all their places; of equal entries none wins.

    named   names of each entry (an item is named by its space and itself), with its place
    """
    places: dict[tuple[str, ...], list[str]] = {}
    for names, place in named:
        places.setdefault(names, []).append(place)
    for at in places.values():
        if len(at) > 1:
            found.add(
                layer, f"{what} stands more than once", place=" and ".join(at), fix="keep one; the last does not win"
            )


def check_forms(names: Iterable[str], what: str, *, layer: Layer, found: Findings) -> None:
    """Note names that are equal under NFC and spelt in two Unicode forms: nobody could tell them apart."""
    forms: dict[str, set[str]] = {}
    for name in names:
        forms.setdefault(unicodedata.normalize("NFC", name), set()).add(name)
    for form, spellings in forms.items():
        if len(spellings) > 1:
            what_is = f"{what} is spelt in {len(spellings)} Unicode forms"
            found.add(layer, what_is, place=shown(form), fix="use one form (NFC) throughout")
