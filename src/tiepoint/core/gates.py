"""What a move must hold, written in [gates] of the study before the run."""

from __future__ import annotations

from dataclasses import dataclass

SUBGROUP = "subgroup:"
"""Before a subgroup's name among the critical queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """The thresholds of an audit. None: the study's own rule stands in, or the gate is not asked for.

    measure            the measure that the quality gates look at; None: [decision] measure
    slice              None: [decision] slice
    loss               how much of its mean the target may lose; None: [decision] gap
    confidence         of every bound, between 0.5 and 1
    least_mean         the target's mean must lie at or above it; None: not asked for
    subgroup_loss      how much each subgroup and each region may lose; None: as `loss`
    subgroup_queries   a subgroup or region of fewer independent queries is too small to decide; so it is below the number that
                       it takes to rule out its tolerated loss, and below 20, whatever stands here
    critical           ids of queries that must not fall at all; `subgroup:policy` stands for the queries of that subgroup that
                       have an answer
    elsewhere          the share of rows that may lie outside their declared space (upper bound of the provenance check)
    sample             rows that the provenance check embeds again, each side
    """

    measure: str | None = None
    slice: str | None = None
    loss: float | None = None
    confidence: float = 0.95
    least_mean: float | None = None
    subgroup_loss: float | None = None
    subgroup_queries: int = 20
    critical: tuple[str, ...] = ()
    elsewhere: float = 0.02
    sample: int = 300
