"""What an id may be, for columns of millions: the rules of core.ids, held by Arrow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.errors import Problem, some


def spelling_problems(ids: pa.Array, *, what: str, where: str) -> list[Problem]:
    """Ids that are null, empty, padded, hold control characters, or stand in two Unicode forms. A repeated id is none of these.

    ids      (rows,) string, in file order
    what     what they name, in the plural
    where    the file, for the message; rows count from 1
    """
    problems = []
    missing = _mask(pc.or_kleene(pc.is_null(ids), pc.equal(ids, "")))
    padded = _mask(pc.not_equal(pc.utf8_trim_whitespace(ids), ids))
    control = _mask(pc.match_substring_regex(ids, r"\p{Cc}"))
    for bad, sentence, fix in (
        (missing, "have no id", "give every row an id"),
        (padded & ~control, "have an id that is padded", "trim the id column"),
        (control, "have an id with a control character", "remove tabs, newlines and the like from the id"),
    ):
        if bad.any():
            problems.append(
                Problem(f"{int(bad.sum()):,} of {len(ids):,} {what} {sentence}", _rows(where, bad, ids), fix)
            )
    if collide := _two_forms(ids):
        problems.append(
            Problem(
                f"{len(collide):,} ids of {what} are spelt in two Unicode forms",
                f"{where}, ids {some(collide)}",
                "use one form (NFC) for each id",
            )
        )
    return problems


def _two_forms(ids: pa.Array) -> list[str]:
    """The ids that are not NFC and equal another id once they are, sorted."""
    distinct = pc.unique(ids).drop_null()
    foreign = distinct.filter(pc.invert(pc.string_is_ascii(distinct)))
    normal = pc.utf8_normalize(foreign, "NFC")
    forms = pc.value_counts(normal)
    double = forms.field("values").filter(pc.greater(forms.field("counts"), 1))
    return sorted(pc.unique(normal.filter(pc.is_in(normal, value_set=double))).to_pylist())


def _rows(where: str, bad: NDArray[np.bool_], ids: pa.Array) -> str:
    """The offending rows by number, with the id as Python writes it where there is one."""
    rows = np.flatnonzero(bad)
    return f"{where}, rows {some(_named(int(row), ids) for row in rows)}"


def _named(row: int, ids: pa.Array) -> str:
    value = ids[row].as_py()
    return f"{row + 1} ({value!r})" if value else f"{row + 1}"


def _mask(found: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    values: NDArray[np.bool_] = pc.fill_null(found, fill_value=False).to_numpy(zero_copy_only=False)
    return values
