"""A folder of results that appears whole or not at all: written beside, renamed once."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tiepoint.errors import InputError

BESIDE = ".writing-"
LEFT_OVER_S = 3600
"""A folder written beside that is older was left by a run that was killed."""


def written_beside(results: Path, write: Callable[[Path], str]) -> Path:
    """Write a new folder under a folder of results.

    write     puts every file into the folder that it is given, and returns the name that the folder is to have
    returns   the new folder. What is there already is never touched; a name that is taken gets a number
    """
    results.mkdir(parents=True, exist_ok=True)
    _sweep(results)
    beside = Path(tempfile.mkdtemp(prefix=BESIDE, dir=results))
    try:
        name = write(beside)
        beside.chmod(0o755)
        target = _free(results / name)
        beside.rename(target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return target


def name_of(created: str, content: bytes) -> str:
    """`20261130T090000Z-1a2b3c4d`: when in UTC, and the first of the SHA-256 of the main document.

    created   ISO 8601 with seconds, in UTC
    """
    moment = created.replace("-", "").replace(":", "").replace("+0000", "Z")
    return f"{moment}-{hashlib.sha256(content).hexdigest()[:8]}"


def read_table(path: Path, schema: pa.Schema) -> pa.Table:
    """One of the owner's tables in rows/; empty where it is not there.

    raises   InputError naming the file where it cannot be read
    """
    if not path.is_file():
        return schema.empty_table()
    try:
        return pq.read_table(path, schema=schema)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path.name} cannot be read: {str(error).partition(chr(10))[0]}",
            where=str(path),
            fix="restore it from a copy, or move rows/ away: the figures are whole without it",
        ) from error


def _free(target: Path) -> Path:
    """The target, or the first of target-2, target-3, ... that does not exist."""
    number, free = 1, target
    while free.exists():
        number += 1
        free = target.with_name(f"{target.name}-{number}")
    return free


def _sweep(results: Path) -> None:
    """Remove what runs that were killed left beside the results."""
    for left in results.glob(f"{BESIDE}*"):
        if time.time() - left.stat().st_mtime > LEFT_OVER_S:
            shutil.rmtree(left, ignore_errors=True)
