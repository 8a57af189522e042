"""What the files of a model say of it, read before anything heavy is imported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from tiepoint.encoding.packaged import sha256_of
from tiepoint.errors import InputError

NO_WEIGHT = frozenset({".md", ".png", ".jpg", ".svg"})
"""Endings of files that say something about a model and change no vector."""


def folder_sha256(folder: Path) -> str:
    """`sha256:<hex>` over the paths and bytes of a model's files, hidden ones and NO_WEIGHT left out.

    The files are taken in the order of their paths, so that two copies of one model have one revision.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda p: p.relative_to(folder).as_posix()):
        inner = path.relative_to(folder)
        if path.is_file() and path.suffix.lower() not in NO_WEIGHT and not any(p.startswith(".") for p in inner.parts):
            digest.update(f"{inner.as_posix()}\0{sha256_of(path)}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def read_json(path: Path) -> object:
    """What a JSON file of a model says; None where it is not there. Raises InputError where it cannot be read."""
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(
            f"{path.name} is not JSON ({error})", where=str(path), fix="restore the model's file"
        ) from None


def read_table(path: Path) -> Mapping[str, object]:
    """A JSON object; empty where the file is not there. Raises InputError where it is something else."""
    found = read_json(path)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InputError(f"{path.name} is no JSON object", where=str(path), fix="restore the model's file")
    return found


def tensor_shape(path: Path, name: str) -> tuple[int, ...] | None:
    """The shape of a tensor in a safetensors file, from its header alone; None: the file has no such tensor.

    raises   InputError where the file is no safetensors file
    """
    with path.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        head = stream.read(size) if size <= path.stat().st_size else b""
    try:
        found = json.loads(head).get(name)
        return None if found is None else tuple(int(n) for n in found["shape"])
    except (ValueError, AttributeError, KeyError, TypeError):
        raise InputError(
            f"{path.name} is no safetensors file", where=str(path), fix="restore the model's file"
        ) from None
