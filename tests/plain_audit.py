"""What an audit says of a made study's ranking, in plain loops: one query at a time, over tests/oracle.py."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

from oracle import Oracle, split_name

SEEDS = range(6)


class Plain:
    """One made study's audit in loops: every value of every query on both sides."""

    def __init__(self, made: dict) -> None:
        self.made, self.oracle = made, Oracle(made)
        views = ("unfiltered", "filtered")
        self.hits = [
            {v: {q["_id"]: self.oracle.by_vectors(arm, q, v) for q in self.oracle.queries} for v in views}
            for arm in made["arms"][:2]
        ]

    def group(self, part: str, subgroup: str | None, region: str | None = None) -> list[dict]:
        queries = self.oracle.slices[part][1]
        return [
            q
            for q in queries
            if (not self.made["split"] or q["split"] == "test")
            and (subgroup is None or subgroup in q["subgroups"])
            and (region is None or region in self.oracle.canonical(q["region"]))
        ]

    def regions(self, part: str) -> set[str]:
        return {name for q in self.group(part, None) for name in self.oracle.canonical(q["region"])}

    def largest(self, part: str) -> int:
        """Scored queries of the slice's largest cluster, of whatever split."""
        view, queries = self.oracle.slices[part]
        sizes = Counter(cluster(q) for q in queries if self.oracle.scored(q, view))
        return max(sizes.values(), default=1)

    def value(self, measure: str, part: str, q: dict, side: int, order: str = "mid") -> tuple[float, float] | None:
        view = self.oracle.slices[part][0]
        if not self.oracle.scored(q, view):
            return None
        hits = self.hits[side][view][q["_id"]]
        relevant = list(self.oracle.relevant(q, view).values())
        if order == "unjudged":
            cutoff = split_name(measure)[2]
            return self.oracle.unjudged_best(measure, q, view, self.oracle.orders(q, hits, cutoff), cutoff)
        grades = self.oracle.grades(q, hits) if order == "mid" else self.oracle.extreme(q, hits, best=order == "high")
        return self.oracle.value(measure, grades, relevant)

    def pairs(self, measure: str, part: str, queries: list[dict]) -> list[tuple[dict, float, float, float]]:
        """(query, source, target, weight) of those that both sides score."""
        found = []
        for q in queries:
            one, other = (self.value(measure, part, q, side) for side in (0, 1))
            if one is not None and other is not None:
                found.append((q, one[0] / one[1], other[0] / other[1], one[1]))
        return found

    def questioned(self, part: str, measure: str) -> bool:
        judged = f"Judged@{split_name(measure)[2]}"
        means = [
            [v[0] for q in self.group(part, None) if (v := self.value(judged, part, q, side)) is not None]
            for side in (0, 1)
        ]
        return self.made["pooled"] and len({math.fsum(m) / len(m) if m else None for m in means}) > 1


def cluster(q: dict) -> str:
    return q["cluster"] or q["_id"]


def plain_p(away: dict[str, float]) -> float:
    """Every exchange of whole clusters, or many drawn ones."""
    moved = [a for a in away.values() if abs(a) > 1e-12]
    observed = abs(math.fsum(moved)) - 1e-9
    if len(moved) <= 12:
        signs = list(itertools.product([1, -1], repeat=len(moved)))
    else:
        rng = random.Random(4)  # noqa: S311
        signs = [[rng.choice([1, -1]) for _ in moved] for _ in range(4000)]
    return sum(abs(math.fsum(s * m for s, m in zip(row, moved, strict=True))) >= observed for row in signs) / len(signs)


def plain_holm(p: list[float]) -> list[float]:
    order = sorted(range(len(p)), key=lambda i: p[i])
    found, before = [0.0] * len(p), 0.0
    for place, i in enumerate(order):
        before = max(before, min(1.0, p[i] * (len(p) - place)))
        found[i] = before
    return found


def plain_chance(units: list[tuple[float, int]], least: float, largest: int) -> float:
    """How often the mean of units (sum, queries) reaches `least` under drawn weights, beside one imagined unit of ones."""
    rng = random.Random(5)  # noqa: S311
    off = [total - least * size for total, size in units] + [(1 - least) * largest]
    draws = 10_000
    return sum(sum(rng.expovariate(1) * one for one in off) >= 0 for _ in range(draws)) / draws
