"""The decision rule: cost order, walk, and what stands beside the verdict. docs/decision.md states the rule."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.result import Decision, Standing, State, Verdict
from tiepoint.core.rounding import bound_above
from tiepoint.core.study import Rule
from tiepoint.measures import parse
from tiepoint.stats.enough import FEWEST, fewest
from tiepoint.stats.paired import DeficitBounds, deficit_bounds
from tiepoint.stats.settle import Settling, settling
from tiepoint.stats.units import ArmValues, Units
from tiepoint.stats.walk import walk

TIMED = ("documents_per_s", "queries_per_s", "rebuild_s")
"""Cost keys that are measured times: within 10 % of the best of a tier they tie."""
TIER = 0.10
SAME = 1e-12
STATES: tuple[State, ...] = ("not tested", "in", "out", "open")
"""By the numbers that stats.walk gives them."""


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """A measured candidate before the rule.

    low, mid, high   (queries,) float64 values of the rule's measure, see ArmValues; the same queries for every arm. Of a
                     pooled measure: each query's share of the pooled ratio, times the number of queries, which may be above 1
    costs            by the names of core.study.PREFER; None: unknown, ranks last
    """

    id: str
    low: NDArray[np.float64]
    mid: NDArray[np.float64]
    high: NDArray[np.float64]
    costs: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What the rule decides on.

    arms       the measured candidates; may be none
    cluster    (queries,) int64 from 0, of the queries that can be scored
    largest    queries of the largest cluster of the study's slice, whatever its split: no seed question of the population is
               taken to have more
    split      the split that the queries are of; None: all queries of the slice
    excluded   failed and unexecuted candidates with their reasons
    bm25       the lexical baseline's mean on the same queries; None: not measured
    runs       rankings made elsewhere, which are never chosen, with their means likewise
    """

    arms: Sequence[Arm]
    cluster: NDArray[np.int64]
    largest: int
    split: str | None
    excluded: Mapping[str, str]
    bm25: float | None
    runs: Mapping[str, float | None] = field(default_factory=dict)


def cost_order(arms: Sequence[Arm], prefer: Sequence[str]) -> list[Arm]:
    """Arms from the cheapest, by the keys of prefer in turn, then by id.

    A key with a leading "-" is better when larger. Times within 10 % of the best of their tier tie, other keys only when
    equal; an unknown cost ranks last.
    """
    if not prefer or len(arms) < 2:
        return sorted(arms, key=lambda arm: arm.id)
    return [arm for tier in _tiers(arms, prefer[0]) for arm in cost_order(tier, prefer[1:])]


def timing_alone(arms: Sequence[Arm], prefer: Sequence[str]) -> bool:
    """True where two arms that tie in every key before fall into different tiers of a measured time."""
    if not prefer or len(arms) < 2:
        return False
    tiers = _tiers(arms, prefer[0])
    name = prefer[0].removeprefix("-")
    measured = sum(tier[0].costs.get(name) is not None for tier in tiers)
    return (name in TIMED and measured > 1) or any(timing_alone(tier, prefer[1:]) for tier in tiers)


def _tiers(arms: Sequence[Arm], key: str) -> list[list[Arm]]:
    """Arms that tie in one key, the best first; those whose cost is unknown come last."""
    name = key.removeprefix("-")
    known = [arm for arm in arms if arm.costs.get(name) is not None]
    unknown = [arm for arm in arms if arm.costs.get(name) is None]
    known.sort(key=lambda arm: _cost(arm, name), reverse=key.startswith("-"))
    tiers: list[list[Arm]] = []
    for arm in known:
        if tiers and _tie(_cost(tiers[-1][0], name), _cost(arm, name), timed=name in TIMED):
            tiers[-1].append(arm)
        else:
            tiers.append([arm])
    return [*tiers, unknown] if unknown else tiers


def decide(evidence: Evidence, rule: Rule, *, rng: np.random.Generator) -> Decision:
    """Apply the rule. Fewer than two measured candidates: no decision.

    returns   a Decision whose verdict is decided, undecided or not executed; nothing here raises for a bad result. The order
              in which queries stand moves no bit of it
    """
    order = cost_order(evidence.arms, rule.prefer)
    queries = len(evidence.cluster)
    clusters = int(evidence.cluster.max(initial=-1)) + 1
    means = {arm.id: _mean(arm.mid) for arm in order}
    point = _point_choice(order, means, rule.gap) if queries else None
    units = _units(order, evidence) if len(order) > 1 and queries else None
    pooled = parse(rule.measure).kind.pooled
    # Of a pooled measure a query may weigh more than the imagined one, so what is lost at most is not known.
    by_query = None if pooled else units
    bounds = None if by_query is None else deficit_bounds(by_query, confidence=rule.level)
    settled = Settling() if by_query is None else settling(by_query, gap=rule.gap, confidence=rule.level, rng=rng)
    verdict, choice, states = _verdict(order, rule, units, point)
    standings = tuple(
        Standing(
            id=arm.id,
            state=states.get(arm.id, "not tested"),
            mean=means[arm.id] if queries else None,
            may_lose_at_most=_may_lose(bounds, c),
        )
        for c, arm in enumerate(order)
    )
    decision = Decision(
        verdict=verdict,
        choice=choice,
        point_choice=point,
        open=tuple(arm.id for arm in order if states.get(arm.id) == "open"),
        sentence="",
        rule=rule_in_words(rule),
        measure=rule.measure,
        slice=rule.slice,
        split=evidence.split,
        gap=rule.gap,
        confidence=rule.confidence,
        queries=queries,
        clusters=clusters,
        order=tuple(arm.id for arm in order),
        standings=standings,
        least_queries=None if pooled else _least(evidence, rule),
        settle_gap=_settle_gap(bounds) if clusters >= FEWEST or rule.confidence == "point" else None,
        largest_cluster=evidence.largest,
        settle_queries=settled.queries,
        settle_low=settled.low,
        settle_high=settled.high,
        warnings=_warnings(order, means, choice, point, evidence, rule),
        tests=0 if clusters < FEWEST else 2 * (len(order) - 1) * sum(s != "not tested" for s in states.values()),
    )
    return replace(decision, sentence=_sentence(decision, evidence, timing=timing_alone(order, rule.prefer)))


def rule_in_words(rule: Rule) -> str:
    """The rule as written before the run, in one sentence."""
    order = ", then ".join(f"{'most' if k.startswith('-') else 'least'} {k.removeprefix('-')}" for k in rule.prefer)
    how = "by point estimate" if rule.confidence == "point" else f"with {100 * rule.confidence:g}% confidence"
    return (
        f"Take the first candidate in the order of {order}, then id, that loses at most {rule.gap:g} of {rule.measure} "
        f"({rule.slice}) against every other candidate, {how}."
    )


def _units(order: Sequence[Arm], evidence: Evidence) -> Units:
    """In the order of their values, since sums and draws go by position: no id and no line of a file says whose is where.

    Values as ranked hang on ids where documents tie, so the middle of each range stands for them.
    """
    low, high = (np.stack([getattr(arm, part) for arm in order], axis=1) for part in ("low", "high"))
    first = _ascending(low, high)
    low, high, cluster = low[first], high[first], evidence.cluster[first]
    units = Units.of(ArmValues(low, (low + high) / 2, high), cluster, float(evidence.largest))
    then = _ascending(units.size[:, None], units.low, units.high)
    return Units(units.size[then], units.low[then], units.mid[then], units.high[then], units.cap)


def _ascending(*columns: NDArray[np.float64]) -> NDArray[np.int64]:
    """(rows,) positions in ascending order of the columns, the first one first. columns: (rows, any) each."""
    return np.lexsort(np.concatenate(columns, axis=1).T[::-1])


def _least(evidence: Evidence, rule: Rule) -> int | None:
    sizes = np.sort(np.bincount(evidence.cluster)).astype(np.float64)
    return fewest(rule.gap, rule.level, sizes, float(evidence.largest))


def _verdict(
    order: Sequence[Arm], rule: Rule, units: Units | None, point: str | None
) -> tuple[Verdict, str | None, dict[str, State]]:
    """The verdict, the choice, and the state of each candidate that the walk came to; with fewer than FEWEST independent
    queries there is no walk, and the first is open untested.
    """
    if units is None:
        return "not executed", None, {}
    if rule.confidence == "point":
        choices = {_point_choice(order, _range_means(order, c), rule.gap) for c in range(-1, len(order))}
        return ("decided", point, {}) if len(choices) == 1 else ("undecided", None, {})
    if len(units.size) < FEWEST:
        return "undecided", None, {order[0].id: "open"}
    (walked,) = walk(units, gap=rule.gap, confidence=rule.level)
    states = {arm.id: STATES[state] for arm, state in zip(order, walked, strict=True)}
    choice = next((name for name, state in states.items() if state == "in"), None)
    return "undecided" if choice is None else "decided", choice, states


def _range_means(order: Sequence[Arm], favoured: int) -> dict[str, float]:
    """Means with one arm at its largest and the others at their smallest; -1: as ranked."""
    if favoured < 0:
        return {arm.id: _mean(arm.mid) for arm in order}
    return {arm.id: _mean(arm.high if i == favoured else arm.low) for i, arm in enumerate(order)}


def _may_lose(bounds: DeficitBounds | None, c: int) -> float | None:
    return None if bounds is None else min(1.0, max(0.0, float(bounds.upper[c])))


def _point_choice(order: Sequence[Arm], means: Mapping[str, float], gap: float) -> str | None:
    """The cheapest arm whose mean is within the gap of the best mean."""
    best = max(means.values(), default=math.nan)
    return next((arm.id for arm in order if best - means[arm.id] <= gap + SAME), None)


def _settle_gap(bounds: DeficitBounds | None) -> float | None:
    """The smallest gap, rounded up to 0.0001, at which the walk ends in a choice."""
    if bounds is None:
        return None
    passed = math.inf
    found: list[float] = []
    for upper, lower in zip(bounds.upper.tolist(), bounds.lower.tolist(), strict=True):
        if upper < min(passed, 1.0):
            found.append(upper)
        passed = min(passed, lower)
    return bound_above(max(min(found), 0.0)) if found else None


def _warnings(
    order: Sequence[Arm],
    means: Mapping[str, float],
    choice: str | None,
    point: str | None,
    evidence: Evidence,
    rule: Rule,
) -> tuple[str, ...]:
    lines: list[str] = []
    named = choice or point
    if named is not None and evidence.bm25 is not None and means[named] <= evidence.bm25:
        lines.append(
            f"{named} does not beat BM25 on {rule.measure} ({means[named]:.4f} against {evidence.bm25:.4f}): "
            "a lexical search may serve these questions as well"
        )
    for run, mean in evidence.runs.items():
        if named is not None and mean is not None and means[named] <= mean:
            lines.append(
                f"{named} does not beat {run}, the rankings made elsewhere, on {rule.measure} "
                f"({means[named]:.4f} against {mean:.4f})"
            )
    if rule.confidence == "point":
        lines.append('confidence is "point": the choice rests on point estimates, and chance may have made it')
    moved = [arm.id for arm in order if not (np.array_equal(arm.low, arm.mid) and np.array_equal(arm.high, arm.mid))]
    if moved:
        lines.append(
            f"tied or unjudged documents can move {', '.join(moved)}; the verdict holds over that range or is withheld"
        )
    return tuple(lines)


def _sentence(decision: Decision, evidence: Evidence, *, timing: bool) -> str:
    """What a manager reads: the verdict, how sure it is, what was left out."""
    asked = f"{decision.queries:,} {decision.slice} queries" + (
        f" of the {decision.split} split" if decision.split else ""
    )
    parts: list[str] = []
    if decision.verdict == "not executed":
        parts.append(_no_decision(decision))
    elif decision.choice is not None:
        at_most = next(s.may_lose_at_most for s in decision.standings if s.id == decision.choice)
        out = [s.id for s in decision.standings if s.state == "out"]
        sure = (
            "by point estimate alone"
            if decision.confidence == "point"
            else f"at {100 * decision.confidence:g}% confidence it loses at most {bound_above(at_most or 0):.4f} of "
            f"{decision.measure}"
        )
        parts.append(
            f"Choose {decision.choice}: on {asked} it is the cheapest candidate within the gap of {decision.gap:g}; {sure}."
        )
        if out:
            parts.append(
                f"{', '.join(out)} {'is' if len(out) == 1 else 'are'} cheaper but {_loses(out)} more than the gap."
            )
    else:
        parts.append(_undecided(decision, asked))
    if timing and decision.order:
        parts.append("Measured times alone parted candidates of equal cost.")
    if evidence.excluded:
        named = "; ".join(f"{i} ({reason})" for i, reason in evidence.excluded.items())
        parts.append(f"Not measured, so never chosen: {named}.")
    if evidence.runs:
        made = f"{', '.join(evidence.runs)} {'is a run' if len(evidence.runs) == 1 else 'are runs'} made elsewhere"
        parts.append(f"{made}, BM25 and random are baselines: none of these is ever chosen.")
    else:
        parts.append("BM25 and random are baselines and are never chosen.")
    return " ".join(parts)


def _no_decision(decision: Decision) -> str:
    if len(decision.order) > 1:
        return f"No decision: no query of the slice {decision.slice} has a relevant document that counts."
    only = f" Only {decision.order[0]} was measured." if decision.order else ""
    return f"No decision: a choice needs at least two measured candidates.{only}"


def _loses(ids: Sequence[str]) -> str:
    return "loses" if len(ids) == 1 else "lose"


def _undecided(decision: Decision, asked: str) -> str:
    few = decision.least_queries is None or decision.clusters < decision.least_queries
    if decision.open:
        why = f"{', '.join(decision.open)} can be called neither inside nor outside the gap of {decision.gap:g}"
    else:
        why = "the choice changes with the order of tied or unjudged documents"
    even = if_clusters_were_even(
        decision.least_queries, gap=decision.gap, confidence=decision.confidence, largest=decision.largest_cluster
    )
    text = f"Undecided: on {asked} {why}."
    if decision.clusters < FEWEST and decision.confidence != "point":
        text += (
            f" Fewer than {FEWEST} independent queries decide nothing, since the rule's error rate is not shown there"
        )
        if decision.least_queries is not None and decision.least_queries > FEWEST:
            text += f", and this gap takes at least {decision.least_queries:,}{even}"
        text += f"; here are {decision.clusters:,}."
    elif few and decision.confidence != "point":
        if decision.least_queries is None:
            text += f" No number of queries can show a candidate inside a gap of {decision.gap:g}."
        else:
            text += f" So few cannot show any candidate inside it: that takes at least {decision.least_queries:,} independent "
            text += f"queries{even}, here are {decision.clusters:,}."
    if decision.settle_queries is not None:
        text += f" {decision.settling()}"
        text += f"; these do at a gap of {decision.settle_gap:.4f}." if decision.settle_gap is not None else "."
    elif decision.settle_gap is not None:
        text += f" These queries settle it at a gap of {decision.settle_gap:.4f}."
    return text + f" By point estimate alone the choice would be {decision.point_choice}."


def if_clusters_were_even(least: int | None, *, gap: float, confidence: float | str, largest: int) -> str:
    """What large clusters cost, to stand behind the least number of independent queries; empty where they cost nothing.

    least     independent queries that the gap takes at least; None: no number would do
    largest   queries of the slice's largest cluster, of whatever split
    """
    if isinstance(confidence, str):  # "point": no number is asked for
        return ""
    plain = fewest(gap, confidence)
    if plain is None or least in (None, plain):
        return ""
    return f" ({plain:,} if no cluster were larger than the others; the largest here holds {largest:,})"


def _cost(arm: Arm, name: str) -> float:
    value = arm.costs.get(name)
    return math.inf if value is None else float(value)


def _tie(best: float, other: float, *, timed: bool) -> bool:
    if not timed or best == other:
        return best == other
    smaller, larger = sorted((best, other))
    return smaller >= (1 - TIER) * larger


def _mean(values: NDArray[np.float64]) -> float:
    """Added up in the order of the values, so that no order of the queries moves a bit."""
    return float(np.sort(values).mean()) if len(values) else math.nan
