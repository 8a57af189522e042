"""A space in one Parquet file, made by anyone: id, vector, and what else is known of each row."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tiepoint.core.contract import Contract
from tiepoint.core.held import SCHEMA, Held
from tiepoint.core.id_columns import spelling_problems
from tiepoint.errors import InputError, Problems, did_you_mean, some
from tiepoint.formats.space_parquet.columns import Columns, mask
from tiepoint.formats.space_parquet.vectors import read_matrix

NEEDED = ("id", "vector")
OPTIONAL = ("text", "hash", "content_hash", "role", "acl", "source_revision", "version", "deleted")
BUFFER_BYTES = 1 << 20


def read_space_parquet(path: Path, contract: Contract) -> Held:
    """Everything that a file holds; a million rows of 384 numbers take little more memory than their vectors.

    Columns: id (text, or whole numbers), vector (lists of float16, float32 or float64, all of one length), and if they are there
    text, hash or content_hash (SHA-256 of the text after LF and NFC), role (document, query, or the contract's names for
    them; absent: documents), acl (lists of groups, or one group), source_revision, version, deleted. Null in acl,
    source_revision, version and in text or hash means not known; a row that is deleted needs no vector.
    An id may stand in several rows: the audit says so. Whether vectors are what the contract says is the audit's to tell.

    contract  what the vectors are said to be; a Parquet file does not say
    raises    InputError with everything that is wrong with the file, every bad row counted and the first ones named
    """
    if not path.is_file():
        raise InputError("there is no such file", where=str(path), fix="correct the path")
    try:
        with pq.ParquetFile(path, buffer_size=BUFFER_BYTES, pre_buffer=False) as file:
            return _read(file, path, contract)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path.name} is no Parquet file that can be read ({reason})",
            where=str(path),
            fix="write it again, texts in UTF-8, with columns id and vector",
        ) from None


def _read(file: pq.ParquetFile, path: Path, contract: Contract) -> Held:
    _check_columns(file.schema_arrow, path)
    names = [name for name in file.schema_arrow.names if name in {"id", *OPTIONAL}]
    table = file.read(columns=names)
    table.validate(full=True)
    if not table.num_rows:
        raise InputError(f"{path.name} holds no row", where=str(path), fix="write one row for each item")
    columns = Columns(table, str(path), contract)
    ids = columns.ids()
    columns.problems.extend(spelling_problems(ids, what="rows", where=str(path)))
    texts = columns.texts()
    deleted = columns.deleted()
    held = pa.table(
        [
            ids,
            columns.roles(),
            columns.hashes(texts),
            columns.acl(),
            columns.labels("source_revision"),
            columns.labels("version"),
            deleted,
        ],
        schema=SCHEMA,
    )
    vectors = read_matrix(file, columns, mask(deleted))
    columns.problems.raise_if_any()
    unread = [name for name in file.schema_arrow.names if name not in {*NEEDED, *OPTIONAL}]
    said = (f"{path.name}: Parquet, {len(held):,} x {vectors.shape[1]:,} {vectors.dtype}", *columns.notes)
    return Held(
        name=path.stem,
        where=str(path),
        contract=contract,
        table=held,
        vectors=vectors,
        texts=texts,
        notes=(*said, *(f"the column {name!r} is not read{_hint(name)}" for name in unread)),
    )


def _hint(name: str) -> str:
    hint = did_you_mean(name, [*NEEDED, *OPTIONAL])
    return f" ({hint})" if hint else ""


def _check_columns(schema: pa.Schema, path: Path) -> None:
    problems = Problems()
    if repeated := [name for name, count in Counter(schema.names).items() if count > 1]:
        problems.add(f"{path.name}: columns named twice: {some(repeated)}", where=str(path), fix="rename one of them")
    for name in NEEDED:
        if name not in schema.names:
            hint = did_you_mean(name, schema.names) or f"its columns are {some(schema.names)}"
            problems.add(f"{path.name} has no column {name!r}", where=str(path), fix=hint)
    problems.raise_if_any()
    kind = schema.field("vector").type
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if not lists or not pa.types.is_floating(kind.value_type):
        problems.add(
            f"{path.name}: the column vector holds {kind}, not lists of float16, float32 or float64",
            where=str(path),
            fix="write a list of floats in each row",
        )
    problems.raise_if_any()
