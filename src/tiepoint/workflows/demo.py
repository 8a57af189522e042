"""The demonstration study, copied out of the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tiepoint.errors import InputError

FILES = (
    "study.toml", "corpus.jsonl", "queries.jsonl", "qrels.tsv", "regions.csv", "traps.tsv", "pairs.tsv", "gitignore",
)  # fmt: skip


def write_demo(folder: str | Path) -> list[Path]:
    """Write the demonstration study into a folder.

    returns   the files written
    raises    InputError when the folder holds any of them; nothing is then changed
    """
    target = Path(folder)
    source = files("tiepoint") / "demo_study"
    places = {name: target / (".gitignore" if name == "gitignore" else name) for name in FILES}
    if held := [str(place) for place in places.values() if place.exists()]:
        raise InputError("the folder holds a study already", where=", ".join(held), fix="name another folder")
    target.mkdir(parents=True, exist_ok=True)
    # study.toml goes last: a folder with it is a whole study.
    for name in (*FILES[1:], FILES[0]):
        beside = places[name].with_name(f".writing-{name}")
        beside.write_bytes((source / name).read_bytes())
        beside.replace(places[name])
    return list(places.values())
