"""Any Python function as an embedder: `module:function` in the study, or a function given from Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module, invalidate_caches
from inspect import signature
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.candidate import Candidate, EncodeFunction
from tiepoint.core.contract import Contract, Role
from tiepoint.encoding.embedder import BatchLimit
from tiepoint.errors import CannotRun, InputError

OPTIONS = frozenset({"function"})
NEEDS: tuple[str, ...] = ()
INSTALL = ""


@dataclass(slots=True)
class CallableEmbedder:
    """A function from texts to vectors. Tokens cannot be counted: what it cuts, it cuts unseen, and the report says so.

    name      `module:function`, imported by load(); "" where the function itself was given
    folder    the study's
    """

    contract: Contract
    name: str
    folder: Path
    function: EncodeFunction | None
    batch: BatchLimit = BatchLimit(texts=32)
    _takes_role: bool = False

    def load(self) -> None:
        """Import the function: this runs the module's own code, with this process's rights.

        The module is looked for in the study's folder first, then in the environment. The folder stands on the import path
        only meanwhile, so the module imports its neighbours at its top and not inside the function.
        """
        if self.function is None:
            self.function = imported(self.name, self.folder)
        self._takes_role = takes_role(self.function)

    def count_tokens(self, texts: Sequence[str]) -> None:
        """None: a function does not say how it reads a text."""

    def encode(self, texts: Sequence[str], role: Role) -> NDArray[np.floating]:
        """What the function returns, as an array; the role is passed by name where it has a parameter `role`."""
        if self.function is None:
            raise CannotRun("the function is not loaded", fix="call load() first")
        return np.asarray(self.function(list(texts), role=role) if self._takes_role else self.function(list(texts)))


def embedder(candidate: Candidate, *, folder: Path, threads: int) -> CallableEmbedder:  # noqa: ARG001 one protocol
    """Open a function; its whole contract is the study's to state. Raises InputError."""
    name = candidate.options.get("function", "")
    where = f"candidate {candidate.id!r}"
    if candidate.encode is None:
        module, _, function = name.partition(":") if isinstance(name, str) else ("", "", "")
        if not module or not function:
            raise InputError(
                f"function = {name!r} names no function", where=where, fix='options = { function = "module:function" }'
            )
    contract = candidate.contract
    if not isinstance(contract, Contract):
        contract = Contract.from_claims(candidate.id, contract)
    return CallableEmbedder(contract, str(name), folder, candidate.encode)


def installed() -> list[Candidate]:
    """None: nobody's function is guessed."""
    return []


def imported(name: str, folder: Path) -> Callable[..., NDArray[np.floating]]:
    """The function that `module:function` names. Raises what the import raises, or CannotRun."""
    module_name, _, function_name = name.partition(":")
    path = sys.path[:]
    sys.path.insert(0, str(folder.resolve()))
    invalidate_caches()
    try:
        module = import_module(module_name)
    finally:
        sys.path[:] = path
    own = folder / f"{module_name.replace('.', '/')}.py"
    if own.is_file() and module.__file__ and not own.samefile(module.__file__):
        raise CannotRun(
            f"another module {module_name} is already imported",
            where=str(module.__file__),
            fix="rename the study's module",
        )
    function = getattr(module, function_name, None)
    if not callable(function):
        raise CannotRun(f"the module {module_name} has no function {function_name}", fix="name one that it defines")
    return function  # type: ignore[no-any-return]  # what it returns is checked, vector by vector


def takes_role(function: EncodeFunction) -> bool:
    """Whether a function has a parameter called role that can be passed by name."""
    try:
        parameter = signature(function).parameters.get("role")
    except (TypeError, ValueError):  # some compiled functions tell nothing about themselves
        return False
    return parameter is not None and parameter.kind is not parameter.POSITIONAL_ONLY
