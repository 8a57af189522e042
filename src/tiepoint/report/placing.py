"""Where things go on a chart: the ends of its axes, and names moved so far apart that none lies over another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

Domain: TypeAlias = list[float]
Scale: TypeAlias = Literal["linear", "log"]
MOST_TICKS = 5
CHARACTER = 6.7
"""Pixels that a character of a name takes at most."""


def padded(values: Sequence[float], *, least: float = 0.1) -> Domain:
    """From a little below the least to a little above the greatest; never narrower than `least`."""
    low, high = min(values), max(values)
    pad = max(0.08 * (high - low), (least - (high - low)) / 2)
    return [low - pad, high + pad]


def cost_scale(costs: Sequence[float]) -> tuple[Domain, Scale]:
    """The range of an axis of cost, and its kind: logarithmic where costs lie far apart."""
    low, high = min(costs), max(costs)
    if low > 0 and high / low >= 4:
        return [low / 1.4, high * 1.4], "log"
    pad = 0.12 * (high - low) or 0.1 * abs(high) or 1.0
    return [low - pad, high + pad], "linear"


def share(value: float, domain: Sequence[float], scale: Scale = "linear") -> float:
    """How far along an axis a value lies, 0 to 1."""
    if scale == "log":
        return (math.log(value) - math.log(domain[0])) / (math.log(domain[1]) - math.log(domain[0]))
    return (value - domain[0]) / (domain[1] - domain[0])


def apart(at: Sequence[tuple[float, float, str]], width: float, height: float) -> list[tuple[float, float, str]]:
    """Where each point's name goes: beside it, moved until it lies over no other name, point or edge; "" where it cannot."""
    placed: list[tuple[float, float, float, float]] = [(x - 6, y - 6, x + 6, y + 6) for x, y, _ in at]
    found = []
    for x, y, text in at:
        wide = CHARACTER * len(text)
        spots = [(x + side, y + down) for down in (0, -13, 13, -26, 26, -39, 39) for side in (9, -9 - wide)]
        for left, middle in spots:
            box = (left, middle - 6, left + wide, middle + 6)
            inside = box[0] >= 0 and box[2] <= width + 40 and box[1] >= -4 and box[3] <= height
            if inside and not any(_overlap(box, other) for other in placed):
                placed.append(box)
                found.append((left, middle, text))
                break
        else:
            found.append((x, y, ""))
    return found


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def spread(at: Sequence[float], least: float, height: float) -> list[float]:
    """The same places, moved as little as keeps them in order and so far apart."""
    order = sorted(range(len(at)), key=lambda i: at[i])
    moved = list(at)
    for before, i in pairwise(order):
        moved[i] = max(moved[i], moved[before] + least)
    if order and moved[order[-1]] > height:
        moved[order[-1]] = height
        for after, i in pairwise(reversed(order)):
            moved[i] = min(moved[i], moved[after] - least)
    return moved


def ticks(domain: Sequence[float], scale: Scale = "linear") -> list[float]:
    """Two to six round values of an axis, evenly spread."""
    low, high = domain
    if scale == "log":
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for steps in ((1, 2, 5), (1, 3), (1,)):
            found = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
            if len(found) <= MOST_TICKS:
                return found
        return found[:: math.ceil(len(found) / MOST_TICKS)]
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * times for times in (1, 2, 2.5, 5, 10) if unit * times >= rough)
    return [round(step * i, 12) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def value_at(part: float, domain: Sequence[float], scale: Scale = "linear") -> float:
    """What lies so far along an axis."""
    if scale == "log":
        return float(domain[0] * (domain[1] / domain[0]) ** part)
    return domain[0] + part * (domain[1] - domain[0])
