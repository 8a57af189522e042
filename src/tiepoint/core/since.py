"""What changed in a corpus since a result was recorded, and whether a new benchmark is due."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """A corpus against the one of an earlier result. Shares lie in 0..1.

    recorded            when the earlier result was made, UTC
    documents           in that corpus; now: in this one
    added, removed      ids that only one of the two has
    changed             ids of both whose content hash differs
    share               added, removed and changed documents over all ids of either corpus
    moved               ids of both whose regions differ; moved_share over the ids of both, None: there are none
    new_regions, gone_regions   names that only one of the two corpora carries
    median_words_then, median_words   of a document
    new_words           share of this corpus' running words that the earlier one did not have; None: it has no word
    beside              what else differs, by name of its content hash: queries, qrels, regions
    reasons             which parts of the rule say that a benchmark is due; empty: not due
    """

    recorded: str
    documents: int
    now: int
    added: int
    removed: int
    changed: int
    share: float
    moved: int
    moved_share: float | None
    new_regions: tuple[str, ...]
    gone_regions: tuple[str, ...]
    median_words_then: float
    median_words: float
    new_words: float | None
    beside: tuple[str, ...]
    reasons: tuple[str, ...]
    due: bool
    sentence: str
    rule: str
