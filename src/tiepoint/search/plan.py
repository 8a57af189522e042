"""The cost model: which products of queries and rows a search makes, so that every eligible pair is in exactly one.

Queries that ask under the same filters form a cell. In a cell three ways are open: one product for each distinct permission
over the rows it may read; one for each group over that group's queries and rows, where a pair counts only at the lowest
group that both share; or one product of all, with the permission asked of what survives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiepoint.filters import Filter
from tiepoint.filters.readable import ReadableBy
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.readers import NONE, Readers, expanded

BRING, GATHER = 15, 18
"""What it costs to bring a row to a product, and besides to gather it where rows do not lie together: in scores of 384
columns (measured: 22 ns a score, 330 ns and 390 ns a row)."""
ASK = 3
"""What it costs to ask whether a pair may count, in scores."""

PRODUCT = 20_000
"""What a product costs however small it is, in scores."""

Way = Literal["each permission", "each group", "one product"]


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """Some queries against some rows.

    queries   positions, in the plan's order
    cell      number of the cell
    way       "each permission": every pair counts; "each group": where `key` is the pair's lowest group; "one product":
              where the principal may read the row
    key       the principal, or the group; -1 for one product
    share     about how many of its pairs count
    """

    queries: NDArray[np.int64]
    cell: int
    way: Way
    key: int
    share: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The products of one search.

    row         (documents,) which vector a document has, -1: none; found: where it has one
    filters     of each cell
    products    in the order of their cells
    order       queries to be searched, so ordered that those of a cell and of a permission stand together
    principal   (queries,) which permission each query has
    principals  the permissions
    left_out    (queries,) the unit that is never an answer to the query, -1: none; leaves_out: whether any has one
    readers     None where everybody may read everything
    explained   the choice of each way in sentences, with the estimated cost of the others
    scores      how many scores the products make
    """

    eligibility: Eligibility
    row: NDArray[np.int64]
    found: NDArray[np.bool_]
    filters: tuple[tuple[Filter, ...], ...]
    products: tuple[Product, ...]
    order: NDArray[np.int64]
    principal: NDArray[np.int64]
    principals: tuple[ReadableBy, ...]
    left_out: NDArray[np.int64]
    leaves_out: bool
    readers: Readers | None
    explained: tuple[str, ...]
    scores: float

    @classmethod
    def of(cls, eligibility: Eligibility, row: NDArray[np.int64], asked: NDArray[np.int64], *, depth: int) -> Plan:
        """Choose for every cell.

        row     (documents,) which vector a document has, -1: none
        asked   the queries to search
        depth   hits wanted
        """
        cells: dict[tuple[Filter, ...], list[int]] = {}
        numbers: dict[ReadableBy, int] = {}
        of_entry = np.empty(len(eligibility.distinct), dtype=np.int64)
        for entry, admission in enumerate(eligibility.distinct):
            of_entry[entry] = numbers.setdefault(admission.permission, len(numbers))
        principal = of_entry[eligibility.group]
        for query in asked:
            cells.setdefault(eligibility.distinct[eligibility.group[query]].filters, []).append(int(query))
        masks = eligibility.masks
        readers = None if masks.corpus.public else Readers.of_principals(masks.columns, tuple(numbers))
        needed = () if readers is None else readers.needed()
        left_out, found = _left_out(eligibility), row >= 0
        made: list[Product] = []
        choices: list[_Choice] = []
        order: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        for number, (filters, members) in enumerate(cells.items()):
            queries = np.array(members, dtype=np.int64)
            queries = queries[np.argsort(principal[queries], kind="stable")]
            order.append(queries)
            admitted = masks.every(filters) & found
            if readers is None:
                choice = _whole(number, queries, int(np.count_nonzero(admitted)), int(principal[queries[0]]))
            else:
                cell = _Cell(number, queries, np.flatnonzero(admitted), principal, eligibility.eligible, depth)
                choice = cell.choose(readers, needed)
            choices.append(choice)
            made += choice.products
        return cls(
            eligibility, row, found, tuple(cells), tuple(made), np.concatenate(order), principal, tuple(numbers),
            left_out, bool((left_out >= 0).any()), readers,
            tuple(_explained(choices)), sum(choice.scores for choice in choices),
        )  # fmt: skip

    def admitted(self, cell: int) -> NDArray[np.bool_]:
        """(documents,) True where a document has a vector and the filters of a cell admit it."""
        return self.eligibility.masks.every(self.filters[cell]) & self.found

    def rows(self, product: Product, admitted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The corpus rows of a product, ordered by their vectors. admitted: those of its cell."""
        corpus = self.eligibility.corpus
        if self.readers is not None and product.way == "each permission":
            readable = self.eligibility.masks.mask(self.principals[product.key])
            admitted = admitted & readable
            if not corpus.units.plain:
                admitted &= corpus.units_readable(readable)[corpus.units.of_row]
        if self.readers is not None and product.way == "each group":
            rows = self.readers.rows_of[product.key]
            rows = rows[admitted[rows]]
        else:
            rows = np.flatnonzero(admitted)
        if self.readers is not None and product.way == "one product":
            rows = rows[self.readers.read_by_any(self.principal[product.queries], rows)]
        vectors = self.row[rows]
        return rows if (np.diff(vectors) > 0).all() else rows[np.argsort(vectors, kind="stable")]

    def counts(self, product: Product, query: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(pairs,) True where a query may be answered with a row, and the pair counts in this product."""
        result = np.ones(len(query), dtype=bool)
        if self.leaves_out:
            result = self.eligibility.corpus.units.of_row[row] != self.left_out[query]
        if self.readers is not None and product.way != "each permission":
            principal = self.principal[query]
            lowest = self.readers.lowest(principal, row)
            result &= lowest == product.key if product.way == "each group" else lowest != NONE
            result[result] = self.readers.opens(principal[result], row[result])
        return result


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """What was chosen for a cell. costs: of every way that was open, in scores; scores: those that the products make."""

    way: Way
    products: list[Product]
    costs: dict[Way, float]
    queries: int
    scores: float


def _whole(cell: int, queries: NDArray[np.int64], rows: int, principal: int) -> _Choice:
    """Everybody may read everything: one product in which every pair counts."""
    scores = float(rows) * len(queries)
    products = [Product(queries, cell, "each permission", principal)]
    return _Choice("each permission", products, {"each permission": scores + rows * BRING}, len(queries), scores)


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    number: int
    queries: NDArray[np.int64]
    rows: NDArray[np.int64]
    principal: NDArray[np.int64]
    eligible: NDArray[np.int64]
    depth: int

    def choose(self, readers: Readers, needed: Sequence[NDArray[np.int64]]) -> _Choice:
        """The cheapest way by the estimate."""
        who, first, many = np.unique(self.principal[self.queries], return_index=True, return_counts=True)
        # How many rows a permission leaves is known from the counts of its units.
        readable = self.eligible[self.queries[first]] * ((len(readers.start) - 1) / max(1, len(readers.units.ids)))
        of_group: dict[int, list[int]] = {}
        for at, p in enumerate(who):
            for group in needed[p]:
                of_group.setdefault(int(group), []).append(at)
        flat, _ = expanded(readers.start[self.rows], readers.start[self.rows + 1] - readers.start[self.rows])
        size = np.bincount(readers.of[flat], minlength=len(readers.size))
        groups = [group for group in sorted(of_group) if size[group]]
        union = int(np.count_nonzero(readers.read_by_any(who, self.rows)))
        share = max(readable.mean() / union, 1e-9) if union else 1.0
        asking = {group: int(many[of_group[group]].sum()) for group in groups}
        scores: dict[Way, float] = {
            "each permission": float((readable * many).sum()),
            "each group": float(sum(size[group] * asking[group] for group in groups)),
            "one product": float(union) * len(self.queries),
        }
        costs: dict[Way, float] = {
            "each permission": scores["each permission"]
            + float(readable.sum()) * (BRING + GATHER)
            + PRODUCT * len(who),
            "each group": scores["each group"] + float(size[groups].sum()) * (BRING + GATHER) + PRODUCT * len(groups),
            "one product": scores["one product"]
            + PRODUCT
            + union * (BRING + GATHER)
            + ASK * len(self.queries) * min(float(union), 4 * self.depth / share),
        }
        way = cheapest(costs)
        return _Choice(
            way,
            list(self._products(way, who, groups, of_group, share)),
            costs,
            len(self.queries),
            scores[way],
        )

    def _products(
        self, way: Way, who: NDArray[np.int64], groups: Sequence[int], of_group: dict[int, list[int]], share: float
    ) -> Iterator[Product]:
        mine = self.principal[self.queries]
        if way == "one product":
            yield Product(self.queries, self.number, way, -1, share)
        elif way == "each group":
            for group in groups:
                yield Product(self.queries[np.isin(mine, who[of_group[group]])], self.number, way, group, 0.5)
        else:
            for p in who:
                yield Product(self.queries[mine == p], self.number, way, int(p))


def cheapest(costs: Mapping[Way, float]) -> Way:
    """The way with the least estimated cost; the first of those that cost the same."""
    return min(costs, key=lambda way: costs[way])


def _left_out(eligibility: Eligibility) -> NDArray[np.int64]:
    units = eligibility.corpus.units
    of_entry = [-1 if a.without is None else a.without.unit(units) for a in eligibility.distinct]
    return np.array(of_entry, dtype=np.int64)[eligibility.group]


def _explained(choices: Sequence[_Choice]) -> Iterator[str]:
    """A sentence for each way that was chosen, over all of its cells."""
    for way in ("each permission", "each group", "one product"):
        mine = [choice for choice in choices if choice.way == way]
        if not mine:
            continue
        cost = {name: sum(c.costs.get(name, np.nan) for c in mine) for name in mine[0].costs}
        others = ", ".join(f"{name} {value / max(cost[way], 1):.1f}" for name, value in cost.items() if name != way)
        yield (
            f"{way}: {sum(c.queries for c in mine):,} queries under {len(mine):,} filters, "
            f"{sum(len(c.products) for c in mine):,} products, {sum(c.scores for c in mine):,.0f} scores"
            + (f"; estimated cost of the other ways, this one being 1: {others}" if others else "")
        )
