"""What the first d hits of two rankings can share where a tie group is cut, in closed form."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The first d hits of two rankings, the one and the other, of which the last tie group may be cut: int64 columns.

    sure           documents that both surely hold
    sure_cut       those that the one surely holds and that stand in the other's cut group; cut_sure: the reverse
    both_cut       those in the cut groups of both
    inside, size   places of the one's cut group within the first d, and its documents; 0 where no group is cut
    other_inside, other_size   the same of the other
    """

    sure: NDArray[np.int64]
    sure_cut: NDArray[np.int64]
    cut_sure: NDArray[np.int64]
    both_cut: NDArray[np.int64]
    inside: NDArray[np.int64]
    size: NDArray[np.int64]
    other_inside: NDArray[np.int64]
    other_size: NDArray[np.int64]

    @property
    def smallest(self) -> NDArray[np.int64]:
        """The least that both can hold: places go to what the other lacks first, then to what it holds only by chance."""
        need = np.maximum(self.inside - (self.size - self.cut_sure - self.both_cut), 0)
        other_need = np.maximum(self.other_inside - (self.other_size - self.sure_cut - self.both_cut), 0)
        apart, other_apart = np.minimum(need, self.both_cut), np.minimum(other_need, self.both_cut)
        met = np.maximum(apart + other_apart - self.both_cut, 0)
        least: NDArray[np.int64] = self.sure + (need - apart) + (other_need - other_apart) + met
        return least

    @property
    def largest(self) -> NDArray[np.int64]:
        """The most that both can hold: places go to what the other surely holds, then to what both may hold."""
        taken, other_taken = np.minimum(self.cut_sure, self.inside), np.minimum(self.sure_cut, self.other_inside)
        met = np.minimum(self.both_cut, np.minimum(self.inside - taken, self.other_inside - other_taken))
        most: NDArray[np.int64] = self.sure + taken + other_taken + met
        return most

    @property
    def columns(self) -> tuple[NDArray[np.int64], ...]:
        """In the order of the fields."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def at(self, depth: int) -> Cut:
        """(queries,) columns at one depth, of (queries, depth) columns."""
        return Cut(*(column[:, depth - 1] for column in self.columns))

    def chances(self, row: int) -> NDArray[np.float64]:
        """(most + 1,) the chance that both hold 0, 1, ... documents, every order of tied documents as likely; of one row.

        The one's cut group first draws how many of both_cut it takes, then how many of cut_sure. The other's group draws
        from documents of which the one now holds its sure_cut and what was taken.
        """
        sure, sure_cut, cut_sure, both_cut, inside, size, other_inside, other_size = (int(c[row]) for c in self.columns)
        taken = np.arange(min(both_cut, inside) + 1)
        chance = drawn(np.array([size]), np.array([both_cut]), np.array([inside]))[0]
        one = drawn(size - both_cut + 0 * taken, np.full_like(taken, cut_sure), inside - taken) * chance[:, None]
        other = drawn(np.full_like(taken, other_size), sure_cut + taken, np.full_like(taken, other_inside))
        found = np.zeros(sure + one.shape[1] + other.shape[1] - 1)
        for more in range(one.shape[1]):
            found[sure + more : sure + more + other.shape[1]] += (one[:, more, None] * other).sum(axis=0)
        return found


def drawn(total: NDArray[np.int64], good: NDArray[np.int64], draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """(rows, most + 1) the hypergeometric chances of 0, 1, ... good ones among so many drawn of a total; (rows,) each.

    A row that is impossible (more drawn than there are) is all 0. Each chance is a product of ratios from the least possible
    number up, scaled to the sum 1: no factorial that loses digits.
    """
    least, most = np.maximum(draws - (total - good), 0)[:, None], np.minimum(good, draws)[:, None]
    found = np.arange(int(most.max(initial=0)) + 1)
    possible = (found >= least) & (found <= most) & (draws <= total)[:, None]
    up = np.where(possible, (good[:, None] - found) * (draws[:, None] - found), 1).astype(np.float64)
    down = np.where(possible, (found + 1) * ((total - good - draws)[:, None] + found + 1), 1).astype(np.float64)
    step = np.where((found >= least) & (found < most), np.log(np.maximum(up, 1)) - np.log(np.maximum(down, 1)), 0.0)
    logs = np.zeros(step.shape)
    np.cumsum(step[:, :-1], axis=1, out=logs[:, 1:])
    logs = np.where(possible, logs, -np.inf)
    highest = np.where(possible.any(axis=1), logs.max(axis=1), 0.0)
    raw = np.exp(logs - highest[:, None])
    chances: NDArray[np.float64] = raw / np.maximum(raw.sum(axis=1, keepdims=True), 1.0)
    return chances
