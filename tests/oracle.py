"""Slices, rankings, measures, bounds and the decision in plain loops: one query, one document at a time, no array.

It is slow, and was written apart from the code: nothing of tiepoint is imported. A study is a plain dictionary here, see
test_differential.py.
"""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

K1, B = 1.5, 0.75
Hits = list[tuple[str, float]]


class Oracle:
    """Every figure of a made study, by the definitions."""

    def __init__(self, made: dict) -> None:
        self.made = made
        self.k = made["k"]
        self.measures = made["measures"]
        self.depth = max([self.k, *(split_name(m)[2] for m in self.measures)])
        self.judged: dict[str, dict[str, int]] = defaultdict(dict)
        for q, d, g in made["judgements"]:
            self.judged[q][d] = g
        self.queries = sorted(made["queries"], key=lambda q: q["_id"].encode())
        self.documents = {d["_id"]: d for d in made["documents"]}
        self._eligible: dict[tuple[str, str], list[str]] = {}
        self._over_unjudged: dict[tuple, list[tuple]] = {}

    # Who may find what

    def canonical(self, names: object) -> list[str]:
        names = [] if names is None else [names] if isinstance(names, str) else names
        return [self.made["aliases"].get(name, name) for name in names]

    def lies_in(self, region: str, wanted: str) -> bool:
        while region is not None:
            if region == wanted:
                return True
            region = self.made["parents"].get(region)
        return False

    def may_read(self, query: dict, document: str) -> bool:
        if self.made["public"]:
            return True
        return any(g in self.documents[document]["groups"] for g in query["groups"])

    def admits(self, query: dict, document: str, view: str) -> bool:
        wanted = self.canonical(query["region"])
        if view == "unfiltered" or not wanted:
            return True
        regions = self.canonical(self.documents[document]["region"])
        return any(self.lies_in(region, name) for region in regions for name in wanted)

    def eligible(self, query: dict, view: str) -> list[str]:
        key = query["_id"], view
        if key not in self._eligible:
            admitted = [d for d in self.documents if self.may_read(query, d) and self.admits(query, d, view)]
            self._eligible[key] = admitted
        return self._eligible[key]

    # Rankings: every hit, best first, beyond depth too

    def ranked(self, hits: Hits) -> Hits:
        return sorted(hits, key=lambda hit: (-hit[1], hit[0].encode()))

    def by_vectors(self, arm: dict, query: dict, view: str) -> Hits:
        asked = arm["vectors"][query["text"]]
        found = []
        for d in self.eligible(query, view):
            vector = arm["vectors"][self.documents[d]["text"]]
            if asked is not None and vector is not None:
                found.append((d, vector_score(asked, vector, arm["metric"])))
        return self.ranked(found)

    def by_bm25(self, query: dict, view: str) -> Hits:
        texts = {d: row["text"].split() for d, row in self.documents.items() if self.may_read(query, d)}
        if not texts:
            return []
        mean = sum(len(t) for t in texts.values()) / len(texts)
        found = []
        for d in self.eligible(query, view):
            total = 0.0
            for term in sorted(query["text"].split()):
                holding = sum(term in words for words in texts.values())
                count = texts[d].count(term)
                if count:
                    idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
                    total += idf * count / (K1 * (1 - B + B * len(texts[d]) / mean) + count)
            if total > 0:
                found.append((d, total))
        return self.ranked(found)

    # Measures

    def relevant(self, query: dict, view: str) -> dict[str, int]:
        """R with grades: eligible, or absent from the corpus where the query has no filter; grade 1 or better."""
        unfiltered = view == "unfiltered" or not self.canonical(query["region"])
        allowed = set(self.eligible(query, view))
        return {
            d: g
            for d, g in self.judged[query["_id"]].items()
            if g >= 1 and (d in allowed or (d not in self.documents and unfiltered))
        }

    def readable_gold(self, query: dict) -> dict[str, int]:
        return {
            d: g
            for d, g in self.judged[query["_id"]].items()
            if g >= 1 and d in self.documents and self.may_read(query, d)
        }

    def value(self, measure: str, grades: Sequence[int | None], relevant: Sequence[int]) -> tuple[float, float] | None:
        """Top and bottom of a query's ratio; grades: of the hits, None unjudged. None: the measure has no value."""
        name, options, cutoff = split_name(measure)
        rel = int(options.get("rel", 1))
        top = list(grades[:cutoff])
        good = sum(g >= rel for g in relevant)
        found = sum(g is not None and g >= rel for g in top)
        if name == "Judged":
            return (sum(g is not None for g in top) / len(top), 1.0) if top and relevant else None
        if name == "nDCG":
            linear = options.get("gain") == "linear"
            ideal = sorted(relevant, reverse=True)[:cutoff]
            if not ideal:
                return None
            return discounted(top, linear=linear) / discounted(ideal, linear=linear), 1.0
        if not good:
            return None
        if name == "recall":
            return found / good, 1.0
        if name == "P":
            return found / cutoff, 1.0
        if name == "AP":
            hits = [g is not None and g >= rel for g in top]
            return math.fsum(sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits) if hit) / good, 1.0
        if name == "pooled_recall":
            return float(found), float(good)
        first = next((i + 1 for i, g in enumerate(top) if g is not None and g >= rel), None)
        if name == "RR":
            return (0.0 if first is None else 1 / first), 1.0
        if name == "Success":
            return (0.0 if first is None else 1.0), 1.0
        raise ValueError(name)

    def grades(self, query: dict, hits: Hits) -> list[int | None]:
        return [self.judged[query["_id"]].get(d) for d, _ in hits]

    def extreme(self, query: dict, hits: Hits, *, best: bool) -> list[int | None]:
        """Grades with every group of tied documents in its best or worst order, where an unjudged document is worse than one
        of grade 0; a group holds what lies near its first."""
        result: list[int | None] = []
        for group in self.tied(hits):
            grades = self.grades(query, group)
            result += sorted(grades, key=lambda g: -1 if g is None else g, reverse=best)
        return result

    def tied(self, hits: Hits) -> Iterator[Hits]:
        group: Hits = []
        for hit in hits:
            if group and group[0][1] - hit[1] > self.made["tie_tolerance"]:
                yield group
                group = []
            group.append(hit)
        if group:
            yield group

    def pairs_at_the_cut(self, hits: Hits, k: int) -> int:
        place = 0
        for group in self.tied(hits):
            inside = min(max(k - place, 0), len(group))
            if 0 < inside < len(group):
                return inside * (len(group) - inside)
            place += len(group)
        return 0

    # Slices

    def scored(self, query: dict, view: str) -> bool:
        return bool(self.relevant(query, view)) and not query["no_answer"]

    @cached_property
    def slices(self) -> dict[str, tuple[str, list[dict]]]:
        placed = [q for q in self.queries if self.canonical(q["region"])]
        rare = [q for q in self.queries if q["rare"]]
        return {
            "unfiltered": ("unfiltered", self.queries),
            "filtered": ("filtered", placed),
            "unfiltered_same": ("unfiltered", placed),
            "rare": ("filtered", rare),
        }

    @cached_property
    def top(self) -> dict[str, int]:
        """The highest grade of the judgements that count, by view."""
        return {
            view: max([g for q in self.queries for g in self.relevant(q, view).values()], default=1)
            for view in ("unfiltered", "filtered")
        }

    def mean(self, measure: str, queries: list[dict], view: str, grades: dict[str, list]) -> tuple[float | None, int]:
        """The mean over the scored queries, and how many they are. grades: of every query's hits, by its id."""
        values = [
            value
            for q in queries
            if self.scored(q, view)
            and (value := self.value(measure, grades[q["_id"]], list(self.relevant(q, view).values()))) is not None
        ]
        bottom = math.fsum(b for _, b in values)
        return (math.fsum(t for t, _ in values) / bottom if bottom else None), len(values)

    def over_readable(self, measure: str, queries: list[dict], grades: dict[str, list]) -> tuple:
        values = [
            value[0]
            for q in queries
            if not q["no_answer"]
            and (value := self.value(measure, grades[q["_id"]], list(self.readable_gold(q).values()))) is not None
        ]
        return (math.fsum(values) / len(values) if values else None), len(values)

    def over_orders(self, measure: str, query: dict, view: str, hits: Hits) -> tuple[float, float] | None:
        """The mean top, and the bottom, over every order of tied documents. Slow: all of them are looked at."""
        relevant = list(self.relevant(query, view).values())
        seen = self.orders(query, hits, split_name(measure)[2])
        values = [(self.value(measure, order, relevant), n) for order, n in seen.items()]
        if any(value is None for value, _ in values):
            return None
        total = sum(seen.values())
        return math.fsum(value[0] * n for value, n in values) / total, values[0][0][1]

    def orders(self, query: dict, hits: Hits, cutoff: int) -> Counter[tuple]:
        """The grades of the first hits in every order of tied documents, and how many orders give them."""
        seen: Counter[tuple] = Counter([()])
        for group in self.tied(hits):
            left = max((cutoff - len(order) for order in seen), default=0)
            if left == 0:
                break
            grades = self.grades(query, group)
            firsts = Counter(itertools.permutations(grades, min(left, len(grades))))
            seen = Counter({before + after: n * m for before, n in seen.items() for after, m in firsts.items()})
        return seen

    def over_unjudged(self, measure: str, query: dict, view: str, grades: list, cutoff: int) -> list[tuple]:
        """The values for every choice of grades, the highest of the judgements at most, for the unjudged hits of the first k."""
        key = measure, tuple(grades[:cutoff]), tuple(sorted(self.relevant(query, view).values())), self.top[view]
        if key not in self._over_unjudged:
            self._over_unjudged[key] = list(self._every_grade(*key, cutoff))
        return self._over_unjudged[key]

    def _every_grade(self, measure: str, grades: tuple, relevant: tuple, top: int, cutoff: int) -> Iterator[tuple]:
        places = [i for i, g in enumerate(grades) if g is None]
        # Only nDCG tells more apart than relevant or not.
        choices = range(top + 1) if measure.startswith("nDCG") else (0, top)
        for chosen in itertools.product(choices, repeat=len(places)):
            new = dict(zip(places, chosen, strict=True))
            value = self.value(measure, [new.get(i, g) for i, g in enumerate(grades)], [*relevant, *new.values()])
            if value is not None:
                yield value

    def unjudged_best(
        self, measure: str, query: dict, view: str, orders: Collection[tuple], cutoff: int
    ) -> tuple | None:
        """The largest of over_unjudged in any of these orders; None where there is no value whatever the grades."""
        found = [value for grades in orders for value in self.over_unjudged(measure, query, view, grades, cutoff)]
        return max(found, key=lambda value: (value[0] / value[1], value[1]), default=None)

    def unjudged_worst(
        self, measure: str, query: dict, view: str, orders: Collection[tuple], cutoff: int
    ) -> tuple | None:
        """The smallest of over_unjudged in any of these orders; None where there is no value as ranked."""
        if any(self.value(measure, grades, list(self.relevant(query, view).values())) is None for grades in orders):
            return None
        found = [value for grades in orders for value in self.over_unjudged(measure, query, view, grades, cutoff)]
        return min(found, key=lambda value: (value[0] / value[1], value[1]))


def vector_score(q: Sequence[float], d: Sequence[float], metric: str) -> float:
    """Of small whole numbers, so that every sum is exact in any order."""
    if metric == "euclidean":
        return -math.sqrt(sum((a - b) ** 2 for a, b in zip(q, d, strict=True)))
    dot = sum(a * b for a, b in zip(q, d, strict=True))
    if metric == "dot":
        return float(dot)
    return dot / (math.sqrt(sum(a * a for a in q)) * math.sqrt(sum(b * b for b in d)))


def discounted(grades: Sequence[int | None], *, linear: bool) -> float:
    return math.fsum(((g or 0) if linear else 2 ** (g or 0) - 1) / math.log2(i + 2) for i, g in enumerate(grades))


def split_name(measure: str) -> tuple[str, dict[str, str], int]:
    head, _, cutoff = measure.partition("@")
    name, _, options = head.partition("(")
    pairs = [part.split("=") for part in options.rstrip(")").split(",") if part]
    return name, dict(pairs), int(cutoff)


def least_loss(sizes: Sequence[int], largest: int, confidence: float) -> float:
    """The gap at which equal values of all these units and one imagined loss leave a chance of 1 - confidence beyond it.

    With weights of an exponential distribution: the product over units of 1 / (1 + gap * size / ((1 - gap) * largest)).
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        gap = (low + high) / 2
        chance = math.prod(1 / (1 + gap * size / ((1 - gap) * largest)) for size in sizes)
        low, high = (gap, high) if chance > 1 - confidence else (low, gap)
    return high


def deficit_bounds(
    arms: Sequence[Sequence[Sequence[float]]],
    cluster: Sequence[str],
    largest: int,
    *,
    confidence: float,
    resamples: int = 1500,
) -> dict[tuple[int, int], tuple[float, float]]:
    """For candidate c against j, (upper, lower): c is in when every upper <= gap, out when one lower > gap.

    arms      of each arm its smallest and its largest value of every query
    largest   queries of the imagined unit

    Means under weights drawn from an exponential distribution, one imagined unit being lost whole.
    """
    rng = random.Random(5)  # noqa: S311
    units: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(cluster):
        units[name].append(i)
    groups = list(units.values())
    sizes = [*map(len, groups), largest]
    draws = [[rng.expovariate(1) for _ in sizes] for _ in range(resamples)]
    totals = [sum(map(operator.mul, draw, sizes)) for draw in draws]
    alpha, others = 1 - confidence, len(arms) - 1
    result = {}
    for c, (c_low, c_high) in enumerate(arms):
        for j, (j_low, j_high) in enumerate(arms):
            if j != c:
                up = [*(sum(j_high[i] - c_low[i] for i in group) for group in groups), largest]
                down = [*(sum(j_low[i] - c_high[i] for i in group) for group in groups), -largest]
                worst = sorted(
                    sum(map(operator.mul, draw, up)) / total for draw, total in zip(draws, totals, strict=True)
                )
                mild = sorted(
                    sum(map(operator.mul, draw, down)) / total for draw, total in zip(draws, totals, strict=True)
                )
                result[c, j] = (
                    worst[math.ceil((1 - alpha) * resamples) - 1],
                    mild[max(math.floor(alpha / others * resamples) - 1, 0)],
                )
    return result
