"""One side's vectors against its contract and against each other: every row, nothing sampled."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tiepoint.core.audit_findings import Offenders, VectorCheck
from tiepoint.core.held import Held
from tiepoint.core.ids import content_hash
from tiepoint.encoding.check import Checked, check_vectors
from tiepoint.encoding.same import blocks, same_vector, spread, vector_numbers
from tiepoint.workflows.audit.bounds import Bounds, Seen
from tiepoint.workflows.audit.findings import Side, item_findings, plain_findings, together
from tiepoint.workflows.audit.items import Items
from tiepoint.workflows.bench.arms import NORM_DIGITS

COLLAPSED = 1e-6
"""A dimension whose spread is under this share of the largest one's says nothing."""
TEXTS_AT_ONCE = 65_536
KINDS = ("not finite", "zero", "off norm", "vector of several texts", "text of several vectors")


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What is wrong with one side, as positions of live rows, ascending; one row for each item that is wrong.

    beside   (rows,) what the owner's table says of each
    """

    rows: NDArray[np.int64]
    beside: list[str]


def audit_vectors(held: Held, side: Side, bounds: Bounds) -> Seen[VectorCheck]:
    """Shape, dtype, finite values, norms, vectors that several texts share, texts that have several vectors, dead dimensions.

    Two items share a vector where every value is equal and their texts are not: a cut text, an order of words that a static
    model does not see, or a fault. A text is split where two of its vectors in one role agree by less than
    encoding.same.AGREEMENT. A text is what the content hash says; where there is none, the text that the vector is said to be
    of; items without either, and vectors that are not finite or zero, stand outside both. Dimensions are looked at over the
    documents (over the queries where there are none), from two usable vectors on, and always over every row. Under bounds all
    else is of the rows that the readers may see: a vector shared with a hidden document is none.
    """
    contract, array = held.contract, held.vectors
    checked = check_vectors(array, replace(contract, dimension=array.shape[1]))
    vector = held.vector_of
    rows = np.flatnonzero(held.live & (vector >= 0))
    item = Items.of(held, held).source
    bad = {"not finite": checked.not_finite, "zero": checked.zero, "off norm": checked.off_norm}
    found = {name: _of_vectors(checked, at, rows, vector, item) for name, at in bad.items()}
    usable = rows[~np.isin(vector[rows], checked.broken)]
    codes = _text_codes(held)
    told = usable[codes[usable] >= 0]
    numbers = _numbers(held, told) if len(told) else told
    if len(told):
        found[KINDS[3]] = _shared(held, told, numbers, codes, item)
        found[KINDS[4]] = _split(held, told, numbers, codes, item)
    constant, collapsed = _dead(held, usable)
    ids, documents = held.table.column("id"), held.documents

    def offenders(chosen: NDArray[np.int64], seen: Bounds) -> Offenders:
        return seen.offenders(ids.take(pa.array(chosen)), documents[chosen])

    def build(seen: Bounds) -> VectorCheck:
        wrong = array.shape[1] != contract.dimension
        may = seen.shown(ids, documents)
        known = may[told]
        shared, split = (
            (found[KINDS[3]].rows, found[KINDS[4]].rows)
            if seen.whole and len(told)
            else (
                _shared(held, told[known], numbers[known], codes, item).rows,
                _split(held, told[known], numbers[known], codes, item).rows,
            )
        )
        low, middle, high = _norms(checked, vector[rows[may[rows]]])
        return VectorCheck(
            shape=f"{array.shape[1]} numbers a vector where the contract says {contract.dimension}" if wrong else None,
            dtype=checked.dtype,
            not_finite=offenders(found["not finite"].rows, seen),
            zero=offenders(found["zero"].rows, seen),
            off_norm=offenders(found["off norm"].rows, seen),
            norm_min=low,
            norm_median=middle,
            norm_max=high,
            shared_vector=offenders(shared, seen) if len(told) else None,
            split_text=offenders(split, seen) if len(told) else None,
            texts_known=bool(len(told)),
            constant=constant,
            collapsed=collapsed,
        )

    return Seen.of(build, bounds, _findings(held, side, found, constant, collapsed))


def _norms(checked: Checked, at: NDArray[np.int64]) -> tuple[float | None, float | None, float | None]:
    """Least, middle and greatest length of the vectors at these places; None without one that is a number."""
    norms = checked.norms[at] if len(checked.norms) else np.empty(0)
    norms = norms[np.isfinite(norms)]
    if not len(norms):
        return None, None, None
    low, middle, high = (round(float(v), NORM_DIGITS) for v in np.percentile(norms, [0, 50, 100]))
    return low, middle, high


def _of_vectors(
    checked: Checked, at: NDArray[np.int64], rows: NDArray[np.int64], vector: NDArray[np.int64], item: NDArray[np.int64]
) -> _Found:
    """The live rows whose vector stands at one of these places, one for each item."""
    chosen = _one_each(rows[np.isin(vector[rows], at)], item)
    return _Found(chosen, [f"length {norm:.9g}" for norm in checked.norms[vector[chosen]].tolist()])


def _one_each(rows: NDArray[np.int64], item: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first of these rows of each item."""
    return np.sort(rows[np.unique(item[rows], return_index=True)[1]])


def _text_codes(held: Held) -> NDArray[np.int64]:
    """(rows,) a number for each text, -1 where it is not known."""
    hashes = held.table.column("content_hash").cast(pa.binary())
    if held.texts is not None and hashes.null_count:
        made: list[pa.Array] = []
        for start in range(0, len(held), TEXTS_AT_ONCE):
            stated = hashes.slice(start, TEXTS_AT_ONCE)
            if stated.null_count:
                texts = held.texts.slice(start, TEXTS_AT_ONCE).to_pylist()
                stated = pc.coalesce(
                    stated, pa.array([None if t is None else content_hash(t) for t in texts], pa.binary())
                )
            made += stated.chunks if isinstance(stated, pa.ChunkedArray) else [stated]
        hashes = pa.chunked_array(made, pa.binary())
    codes = hashes.combine_chunks().dictionary_encode().indices
    return np.array(pc.fill_null(codes, -1).to_numpy(), dtype=np.int64)


def _numbers(held: Held, told: NDArray[np.int64]) -> NDArray[np.int64]:
    """(told,) the number of each row's vector; a vector that rows share in the array is looked at once."""
    places, back = np.unique(held.vector_of[told], return_inverse=True)
    return vector_numbers(held.vectors, places)[back]


def _ends(groups: NDArray[np.int64], values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(groups,) for each member the least and the greatest value in its group."""
    count = int(groups.max(initial=-1)) + 1
    least, most = np.full(count, np.iinfo(np.int64).max), np.full(count, -1, dtype=np.int64)
    np.minimum.at(least, groups, values)
    np.maximum.at(most, groups, values)
    return least[groups], most[groups]


def _shared(
    held: Held, told: NDArray[np.int64], numbers: NDArray[np.int64], codes: NDArray[np.int64], item: NDArray[np.int64]
) -> _Found:
    """Items whose vector an item of another text has, with the first item that has it."""
    least, most = _ends(numbers, codes[told])
    first = _ends(numbers, told)[0]
    at = np.flatnonzero(least != most)
    chosen = _one_each(told[at], item)
    of_row = dict(zip(told[at].tolist(), first[at].tolist(), strict=True))
    names = held.table.column("id").take(pa.array([of_row[row] for row in chosen.tolist()], pa.int64())).to_pylist()
    return _Found(chosen, [f"the vector of {name}" for name in names])


def _split(
    held: Held, told: NDArray[np.int64], numbers: NDArray[np.int64], codes: NDArray[np.int64], item: NDArray[np.int64]
) -> _Found:
    """Items of a text and role of which one vector is further from the first one than rounding, with that first item."""
    groups = np.unique(codes[told] * 2 + held.documents[told], return_inverse=True)[1]
    least, most = _ends(groups, numbers)
    first = _ends(groups, told)[0]
    at = np.flatnonzero(least != most)
    vector = held.vector_of
    far = np.zeros(len(at), dtype=bool)
    for block in blocks(at, held.vectors.shape[1]):
        ours = held.vectors[vector[told[at[block]]]]
        theirs = held.vectors[vector[first[at[block]]]]
        far[block] = ~same_vector(ours, theirs, length_matters=not held.contract.normalized)
    broken = np.isin(groups, groups[at[far]])
    chosen = _one_each(told[broken], item)
    of_row = dict(zip(told[broken].tolist(), first[broken].tolist(), strict=True))
    names = held.table.column("id").take(pa.array([of_row[row] for row in chosen.tolist()], pa.int64())).to_pylist()
    return _Found(chosen, [f"the text of {name}" for name in names])


def _dead(held: Held, usable: NDArray[np.int64]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Constant dimensions, and collapsed ones with them."""
    own = usable[held.documents[usable]]
    places = np.unique(held.vector_of[own if len(own) else usable])
    if len(places) < 2:
        return (), ()
    deviation = spread(held.vectors, places)
    constant = np.flatnonzero(deviation == 0)
    collapsed = np.flatnonzero((deviation == 0) | (deviation < COLLAPSED * deviation.max()))
    return tuple(constant.tolist()), tuple(collapsed.tolist())


def _findings(
    held: Held, side: Side, found: dict[str, _Found], constant: tuple[int, ...], collapsed: tuple[int, ...]
) -> pa.Table:
    tables = []
    for name, one in found.items():
        if len(one.rows):
            ids = held.table.column("id").take(pa.array(one.rows))
            said = {side: one.beside}
            tables.append(
                item_findings(
                    "vectors",
                    name,
                    ids,
                    held.documents[one.rows],
                    side=side,
                    field="vector",
                    source=said.get("source"),
                    target=said.get("target"),
                )
            )
    for name, dimensions in (("constant", constant), ("collapsed", collapsed)):
        if dimensions:
            rows = [(f"dimension {d}", None, None) for d in dimensions]
            tables.append(plain_findings("vectors", name, rows, side=side))
    return together(tables)
