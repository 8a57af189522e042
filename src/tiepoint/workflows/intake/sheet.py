"""A sheet: the rows of one file under check, and its columns once they have a type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.ids import id_problems
from tiepoint.core.rows import Rows
from tiepoint.errors import Problems, some


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Rows with their ids. Every check notes all its offenders in `problems` and goes on.

    what       what a row is, in the plural: "documents", "queries"
    ids        one for each row; where an id is unfit, the row's line stands for it
    integers   positions of the ids that the file holds as integers; they are read as their decimal text
    """

    rows: Rows
    what: str
    ids: tuple[str, ...]
    integers: tuple[int, ...]
    problems: Problems

    @classmethod
    def of(cls, rows: Rows, id_column: str, *, what: str, problems: Problems) -> Sheet:
        """The sheet of a file whose ids stand in this column. Notes every id that is unfit or repeated."""
        raw = rows.columns.get(id_column, [None] * len(rows))
        unfit = [i for i, value in enumerate(raw) if isinstance(value, bool) or not isinstance(value, str | int)]
        if unfit:
            problems.add(
                f"{len(unfit):,} of {len(rows):,} {what} have an id that is neither text nor a whole number",
                where=f"{rows.name}, {rows.counted} {some(rows.lines[i] for i in unfit)}",
                fix=f"give every row a text in the column {id_column!r}",
            )
        out = set(unfit)
        fit = [i for i in range(len(rows)) if i not in out]
        lines = [rows.lines[i] for i in fit]
        written = [str(raw[i]) for i in fit]
        problems.extend(id_problems(written, what=what, where=rows.name, lines=lines, counted=rows.counted))
        ids = tuple(f"({rows.counted[:-1]} {rows.lines[i]})" if i in out else str(raw[i]) for i in range(len(rows)))
        return cls(rows, what, ids, tuple(i for i in fit if isinstance(raw[i], int)), problems)

    def __len__(self) -> int:
        return len(self.rows)

    def refuse(self, positions: Sequence[int], sentence: str, fix: str) -> None:
        """Note that these rows are wrong, by count and id. Says nothing where there are none."""
        if len(positions):
            self.problems.add(
                f"{len(positions):,} of {len(self):,} {self.what} {sentence}",
                where=f"{self.rows.name}, ids {some(self.ids[i] for i in positions)}",
                fix=fix,
            )

    def raw(self, column: str) -> Sequence[object]:
        """The column as it stands; None in every row where the file has no such column."""
        return self.rows.columns.get(column, [None] * len(self))

    def texts(self, column: str) -> list[str | None]:
        """A column of text or whole numbers; None where a row has none. Anything else is refused."""
        raw = self.raw(column)
        bad = [i for i, v in enumerate(raw) if v is not None and (isinstance(v, bool) or not isinstance(v, str | int))]
        self.refuse(bad, f"have something in {column!r} that is neither text nor a whole number", "write text there")
        refused = set(bad)
        return [None if value is None or i in refused else str(value) for i, value in enumerate(raw)]

    def lists(self, column: str, *, blank_is_null: bool = False) -> list[tuple[str, ...] | None]:
        """A column of lists of text; one text means one value and is never split; None where a row has none.

        blank_is_null   an empty text alone counts as none; else it is refused, as an empty text in a list always is
        """
        raw = self.raw(column)
        lists: list[tuple[str, ...] | None] = []
        bad = []
        for i, value in enumerate(raw):
            listed = [value] if isinstance(value, str) else value
            if value is None or (blank_is_null and isinstance(value, str) and not value.strip()):
                lists.append(None)
            elif isinstance(listed, list) and all(isinstance(entry, str) and entry.strip() for entry in listed):
                lists.append(tuple(listed))
            else:
                bad.append(i)
                lists.append(())
        self.refuse(
            bad,
            f"have something in {column!r} that is neither a text nor a list of texts",
            'write a list of texts, ["a", "b"]; numbers and empty texts are not read as names',
        )
        return lists

    def flags(self, column: str) -> NDArray[np.bool_]:
        """(rows,) a column of true and false; null is false."""
        raw = self.raw(column)
        bad = [i for i, value in enumerate(raw) if value is not None and not isinstance(value, bool)]
        self.refuse(bad, f"have something in {column!r} that is neither true nor false", "write true, false or null")
        return np.array([value is True for value in raw], dtype=bool)
