"""What the owner is warned of before a run, and by which rules: each rule stands in the output with its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from tiepoint.core.check import Check, Deciding, Named
from tiepoint.core.rounding import bound_above
from tiepoint.core.words import DEFINITION
from tiepoint.decide import if_clusters_were_even
from tiepoint.encoding.preview import SAMPLE
from tiepoint.stats.enough import FEWEST
from tiepoint.workflows.check.study import share
from tiepoint.workflows.check.texts import RUN, SHORT_RUN

DOUBTED = ("chooser", "synthetic", "unknown")
RANDOM_RECALL = 0.10
EVEN_REGIONS = 1.5
EVEN_LENGTHS = 1.25
CUT_TEXTS = 0.05


def definitions(k: int) -> dict[str, str]:
    """What the figures of a check mean, and the rules of its warnings."""
    return {
        "owner": "this screen obeys no [report] readers: it counts and names every document, whoever may read it",
        "words": DEFINITION,
        "tokens": "of each distinct text with its prompt, before any cut, special tokens included; known ones come from the "
        f"store; of more than {SAMPLE:,} unknown texts, {SAMPLE:,} evenly spaced ones are counted",
        "copies": "exact: equal content hash (line ends and Unicode form aside); spaced: equal once every run of white space "
        "is one space; judged apart: relevant for a query, while a copy that the query may read has another grade or none",
        "near copies": f"a query that shares {RUN} words in a row with a document; of a query of {SHORT_RUN} to {RUN - 1} "
        "words, all of them in a row; shorter ones are not looked for",
        "eligible": "documents (parents where passages are declared) that the principal may read and, under a filter, that "
        "lie in or under the query's region",
        "ceiling": "the mean recall of a perfect ranking without a cut: judged documents that the corpus lacks are never found",
        "random recall": f"recall@{k} that a random order is expected to have: the mean over scored queries of min(1, {k} / "
        "eligible), times the share of relevant documents that the corpus has",
        "small": f"every candidate is flattered where the expected random recall@{k} of a slice is above {RANDOM_RECALL:.0%}",
        "even": "more even than real corpora are, so that filters and lengths are easier than in use: documents of the "
        f"largest region at most {EVEN_REGIONS:g} times those of the smallest (3 regions or more), or words of a document at "
        f"the 90th percentile at most {EVEN_LENGTHS:g} times those at the 10th (10 documents or more)",
        "provenance": f"a warning where more than half of the queries are of the classes {', '.join(DOUBTED)}",
        "enough": "ln(1 - confidence) / ln(1 - gap) independent queries are the least with which a candidate can be shown "
        f"inside the gap, and never fewer than {FEWEST}; more where clusters are uneven, because losses on the largest of the "
        "slice, of whatever split, could go unseen",
        "chance": "of samples from candidates that are truly equal, in clusters as large as the study's, the share in which the "
        "rule ends in a choice, by how their differences lie: on the dev queries of the latest result, or else assumed",
    }


def warnings(check: Check, largest: int) -> Iterator[str]:
    """Every warning, the ones that could overturn the verdict first.

    check     whole but for its warnings
    largest   queries of the largest cluster of the rule's slice, of whatever split
    """
    yield from _few(check.deciding, largest)
    yield from _flattered(check)
    yield from _labels(check)
    yield from _copied(check)
    yield from _cut(check)


def _few(deciding: Deciding, largest: int) -> Iterator[str]:
    over = f"{deciding.clusters:,} independent queries decide ({deciding.slice}"
    over += f", {deciding.split} split)" if deciding.split else ")"
    if not deciding.queries:
        yield f"no query of the slice {deciding.slice}{' in the test split' if deciding.split else ''} can be scored"
    elif deciding.enough is False and deciding.least is None:
        yield f"{over}: no number of them can show a candidate inside a gap of 0"
    elif deciding.enough is False:
        shown = None if deciding.smallest_gap is None else bound_above(deciding.smallest_gap)
        smallest = "" if shown is None else f"; these could at best show a gap of {shown:.4f}"
        even = if_clusters_were_even(deciding.least, gap=deciding.gap, confidence=deciding.confidence, largest=largest)
        yield (
            f"{over}: too few to show any candidate inside the gap of {deciding.gap:g}, which takes at least "
            f"{deciding.least:,}{even}{smallest}"
        )


def _flattered(check: Check) -> Iterator[str]:
    easy = [
        f"{name} {part.random_recall:.4f} over a median of {part.eligible.median:,.0f} eligible documents"
        for name, part in check.slices.items()
        if name != "unfiltered_same" and part.eligible is not None and (part.random_recall or 0.0) > RANDOM_RECALL
    ]
    if easy:
        yield (
            f"a random order is expected to reach recall@{check.k} {'; '.join(easy)}: so small a choice flatters every "
            "candidate"
        )
    even = check.even
    if even.regions is not None and even.regions <= EVEN_REGIONS:
        yield (
            f"the largest region holds {even.regions:.2f} times the documents of the smallest: real regions are far less "
            "even, and every candidate is flattered"
        )
    if even.lengths is not None and even.lengths <= EVEN_LENGTHS:
        yield (
            f"nine documents in ten are at most {even.lengths:.2f} times as long as the shortest tenth: real texts are far "
            "less even, and every candidate is flattered"
        )


def _labels(check: Check) -> Iterator[str]:
    doubted = share(check.provenance, DOUBTED)
    if doubted > 0.5:
        yield (
            f"{doubted:.0%} of the queries were written by whoever chooses the model, by a model, or by nobody knows whom: "
            "they may favour what their author had seen"
        )
    judged = check.judged
    if judged.absent.count:
        low = min((p.ceiling for p in check.slices.values() if p.ceiling is not None), default=None)
        ceiling = "" if low is None else f"; the attainable recall falls to {low:.4f}"
        yield f"{judged.absent.count:,} judged documents are not in the corpus ({some(judged.absent)}){ceiling}"
    if judged.stray.count:
        yield f"{judged.stray.count:,} judged queries are not among the queries ({some(judged.stray)})"
    if judged.not_judged.count:
        yield f"{judged.not_judged.count:,} queries have no judgement and are never scored ({some(judged.not_judged)})"
    if judged.repeats:
        yield f"{judged.repeats:,} judgements are repeated word for word and count once"


def _copied(check: Check) -> Iterator[str]:
    copies, near = check.copies, check.near
    if copies.documents:
        yield (
            f"{copies.documents:,} documents are copies of another, exactly ({copies.exact.count:,} groups) or but for white "
            f"space ({copies.spaced.count:,} groups)"
        )
    if copies.judged_apart.count:
        yield (
            f"{copies.judged_apart.count:,} relevant documents have a copy with another grade or none "
            f"({some(copies.judged_apart)}): finding the copy counts as a miss"
        )
    if near.long.count:
        yield (
            f"{near.long.count:,} queries share {RUN} words in a row with a document ({some(near.long)}): matching words is "
            "rewarded, unless exclude under [queries] names each one's source"
        )
    if near.whole.count:
        yield f"{near.whole.count:,} short queries stand word for word in a document ({some(near.whole)})"
    if check.alike.count:
        yield (
            f"{check.alike.count:,} query ids are document ids too ({some(check.alike)}): they are taken as unrelated, and no "
            "document is dropped from the ranking of its namesake, unless exclude under [queries] names it"
        )


def _cut(check: Check) -> Iterator[str]:
    for candidate in check.candidates:
        for what, lengths in (("documents", candidate.documents), ("queries", candidate.queries)):
            if lengths is not None and lengths.cut_texts is not None and lengths.cut_texts > CUT_TEXTS:
                yield (
                    f"{candidate.id} reads {lengths.limit:,} tokens of a text: it cuts {lengths.cut_texts:.1%} of the {what}, "
                    f"{lengths.cut_tokens or 0:.1%} of their tokens"
                )


def some(found: Named) -> str:
    """`d1, d2 and 3 more`."""
    rest = found.count - len(found.first)
    return ", ".join(found.first) + (f" and {rest:,} more" if rest else "")
