"""A contract in a TOML file of its own, for vectors that no study describes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from tiepoint.core.contract import Contract
from tiepoint.core.rows import utf8_text
from tiepoint.errors import InputError, Problem, Problems

FIX = (
    'write the fields one a line: provider = "...", model = "...", revision = "...", dimension = 384, metric = "cosine"'
)

TEXTS = frozenset(
    {
        "query_prompt",
        "document_prompt",
        "query_task",
        "document_task",
        "pooling",
        "tokenizer_revision",
        "truncation",
        "preprocessing",
        "sdk",
        "verified_on",
    }
)
"""Fields that a contract may leave out and that are texts where it does not; the others are checked by Contract itself."""


def read_contract_toml(path: Path) -> Contract:
    """The contract that a file states: its fields at the top, or all of them under [contract].

    returns   a contract whose space_id is the file's stem where it names none
    raises    InputError: no such file, not UTF-8, not TOML, an unknown key (with a hint), a missing field, a wrong value;
              every one of them at once as far as they can be told
    """
    if not path.is_file():
        raise InputError(
            "there is no such contract", where=str(path), fix="name a TOML file with the contract's fields"
        )
    text = utf8_text(path.read_bytes(), name=path.name)
    try:
        said: Mapping[str, object] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path.name} is not TOML: {error}", where=str(path), fix=FIX) from None
    inner = said.get("contract")
    if isinstance(inner, dict) and len(said) == 1:
        said = inner
    problems = Problems()
    sound = dict(said)
    for name, value in said.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        wrong = (name in TEXTS and not isinstance(value, str)) or (name == "norm_tolerance" and not number)
        if wrong:
            kind = "a text" if name in TEXTS else "a number"
            problems.add(f"{name} must be {kind}, is {value!r}", where=str(path), fix=f"correct {name}")
            del sound[name]
    contract: Contract | None = None
    try:
        contract = Contract.from_claims(str(sound.get("space_id", path.stem)), sound)
    except InputError as error:
        problems.extend(Problem(p.what, f"{path}: {p.where}", p.fix) for p in error.problems)
    problems.raise_if_any()
    if contract is None:
        raise InputError("the contract is missing", where=str(path), fix=FIX)
    return contract
