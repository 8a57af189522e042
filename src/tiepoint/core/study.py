"""A loaded study: what to compare, on what, by which rule. Everything in it has been checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.candidate import Candidate
from tiepoint.core.corpus import Corpus
from tiepoint.core.gates import Gates
from tiepoint.core.qrels import Qrels
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions

SLICES = ("unfiltered", "filtered", "unfiltered_same", "rare")
PREFER = ("dimension", "bytes", "documents_per_s", "queries_per_s", "rebuild_s", "price")


@dataclass(frozen=True, slots=True)
class Rule:
    """The decision rule, written before the run.

    measure      a measure's name, `nDCG@10`
    slice        unfiltered, filtered or rare
    gap          how much of the measure a cheaper candidate may lose; 0 <= gap < 1
    confidence   between 0.5 and 1, or "point": the point choice is the verdict
    prefer       cost keys of PREFER, a leading "-" meaning that more is better
    """

    measure: str = "nDCG@10"
    slice: str = "filtered"
    gap: float = 0.02
    confidence: float | Literal["point"] = 0.95
    prefer: tuple[str, ...] = ("dimension", "-documents_per_s")

    @property
    def level(self) -> float:
        """The confidence of intervals: the stated one, 0.95 under "point"."""
        return 0.95 if self.confidence == "point" else self.confidence


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What load_study returns.

    folder          where study.toml lies; spaces/ and results/ are written here
    k               the main cut-off
    measures        names as they print: `recall@10`
    notice          a sentence that stands on every page of the result; None: nothing
    tie_tolerance   scores within it count as tied
    readers         groups that will read the report; None: not said, so under an acl only aggregates are shown
    threads         0: all
    gates           what a move between two of its spaces must hold
    hashes          SHA-256 of study.toml, corpus, queries, qrels, regions files, by those names
    notes           what was read, in which form, repeats, stray judgements: lines for the report, without document ids
    """

    folder: Path
    name: str
    k: int
    measures: tuple[str, ...]
    seed: int
    corpus: Corpus
    queries: Queries
    qrels: Qrels
    regions: Regions
    rule: Rule = field(default_factory=Rule)
    gates: Gates = field(default_factory=Gates)
    candidates: tuple[Candidate, ...] = ()
    readers: tuple[str, ...] | None = None
    threads: int = 0
    device: str = "cpu"
    tie_tolerance: float = 0.0
    notice: str | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> NDArray[np.bool_]:
        """(documents,) True where a report may name or count the document: every reader group may read it."""
        return self.corpus.readable_by_all(self.readers or ())

    @property
    def shown_units(self) -> NDArray[np.bool_]:
        """(units,) True where a report may name what a ranking holds."""
        return self.corpus.units_readable(self.shown)
