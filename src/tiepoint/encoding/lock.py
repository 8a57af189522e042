"""One run at a time in a store: a lock that the system takes back when its holder ends, killed or not."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tiepoint.errors import CannotRun

WAIT_S = 10.0
"""How long another run is waited for: enough for one that only reads, not for one that encodes."""
AGAIN_S = 0.1

if sys.platform == "win32":
    import msvcrt

    BUSY: tuple[type[OSError], ...] = (PermissionError, BlockingIOError)

    def _take(file: BinaryIO) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    BUSY = (BlockingIOError,)

    def _take(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def alone_in(store: Path, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the store of this folder; no other process that asks gets it meanwhile.

    The lock is the empty file `.<store>.lock` beside it, which stays: a lock file that is removed locks nothing.
    raises   CannotRun when another run still holds it after wait_s; OSError where the disk does not let it write
    """
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.with_name(f".{store.name}.lock").open("ab") as file:
        until = time.monotonic() + wait_s
        while True:
            try:
                _take(file)
                break
            except BUSY:
                if time.monotonic() > until:
                    raise CannotRun(
                        f"another run is at work in the store {store.name}",
                        where=str(store),
                        fix="wait until it has ended and run again: what it encoded is then used",
                    ) from None
            time.sleep(AGAIN_S)
        yield
