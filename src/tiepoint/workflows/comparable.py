"""May two results be compared? Only where they measured the same thing in the same way."""

from __future__ import annotations

from collections.abc import Mapping

from tiepoint.core.result import Result
from tiepoint.errors import InputError, Problems
from tiepoint.measures import parse

CONTENTS = {
    "corpus_content": ("corpus", "its documents, their texts, who may read them or their regions changed"),
    "queries_content": ("queries", "their texts, groups, regions, subgroups, splits or clusters changed"),
    "qrels_content": ("judgements", "they are of another pool: judge the union of both, then run both again"),
    "regions_content": ("regions", "their names, parents or aliases changed"),
}
DEFINING = frozenset({"score", "ties", "eligible", "relevant", "unjudged", "mean", "slices", "bm25", "random"})
"""Definitions that, beside those of the measures, say what a figure is: no other text has to be the same in both."""
FILES = frozenset({"study", "corpus", "queries", "qrels", "regions"})
"""Hashes of files: their contents are compared instead. What else is hashed, as rankings made elsewhere, is one arm's own."""


def check_comparable(before: Result, after: Result) -> None:
    """Raise InputError with everything in which two results differ and may not.

    Files are compared by what they say, so a shuffled or re-saved one compares.
    """
    problems = Problems()
    one, other = before.conditions, after.conditions
    if one.schema_version != other.schema_version:
        problems.add(
            f"the schema versions differ: {one.schema_version} and {other.schema_version}",
            fix="run the older benchmark again",
        )
    if before.summary.k != after.summary.k:
        problems.add(
            f"k differs: {before.summary.k} and {after.summary.k}", fix="run one of them again with the other's k"
        )
    for key, (what, meaning) in CONTENTS.items():
        if key not in one.hashes or key not in other.hashes:
            problems.add(f"a result holds no hash of its {what}", fix="run the benchmark again")
        elif one.hashes[key] != other.hashes[key]:
            problems.add(
                f"the {what} differ: {one.hashes[key][:12]} and {other.hashes[key][:12]}",
                where=f"hashes.{key} in conditions.json",
                fix=meaning,
            )
    _check_definitions(before, after, problems)
    problems.raise_if_any()


def other_conditions(before: Result, after: Result) -> tuple[str, ...]:
    """What else differs between two results that may be compared: said, not refused."""
    one, other = before.conditions, after.conditions
    notes = [
        f"{name}: {one.packages.get(name, 'none')}, then {other.packages.get(name, 'none')}"
        for name in sorted(one.packages.keys() | other.packages.keys())
        if one.packages.get(name) != other.packages.get(name)
    ]
    plain: dict[str, tuple[object, object]] = {
        "tiepoint": (one.tiepoint, other.tiepoint),
        "Python": (one.python, other.python),
        "processor": (one.processor, other.processor),
        "threads": (one.threads, other.threads),
        "seed": (before.summary.seed, after.summary.seed),
        "rule": (before.summary.decision.rule, after.summary.decision.rule),
    }
    notes += [
        f"{name} differs between the two (hashes in conditions.json)"
        for name in sorted(one.hashes.keys() & other.hashes.keys() - CONTENTS.keys() - FILES)
        if one.hashes[name] != other.hashes[name]
    ]
    if other_words := _other_words(before, after):
        notes.append(f"worded differently, though no value compared here follows from it: {', '.join(other_words)}")
    return (*notes, *(f"{name}: {a}, then {b}" for name, (a, b) in plain.items() if a != b))


def _other_words(before: Result, after: Result) -> list[str]:
    """Definitions that both hold in other words and that say of no value what it is."""
    one, other = before.summary.definitions, after.summary.definitions
    both = (one.keys() & other.keys()) - set(before.summary.measures) - set(after.summary.measures) - DEFINING
    return [name for name in sorted(both) if one[name] != other[name]]


def _check_definitions(before: Result, after: Result, problems: Problems) -> None:
    one, other = before.summary.definitions, after.summary.definitions
    measured = set(before.summary.measures) | set(after.summary.measures)
    for name in sorted(one.keys() & other.keys() & (DEFINING | measured)):
        if one[name] != other[name] and not {one[name], other[name]} <= _wordings(name):
            problems.add(
                f"the definitions of {name} differ",
                where=f"before: {one[name]}; after: {other[name]}",
                fix="run one of them again",
            )
    mine, theirs = _variants(before.summary.measures), _variants(after.summary.measures)
    for base in sorted(mine.keys() & theirs.keys()):
        if mine[base] != theirs[base] and not mine[base] & theirs[base]:
            problems.add(
                f"{base} is another measure in each: {', '.join(sorted(mine[base]))} and {', '.join(sorted(theirs[base]))}",
                where="measures in result.json",
                fix="its gain or grade of relevance differs: run one of them again with the other's measure",
            )
    for name in sorted((one.keys() ^ other.keys()) & DEFINING):
        problems.add(f"only one of the results defines {name}", fix="run the older benchmark again")


def _wordings(name: str) -> frozenset[str]:
    """Every sentence that defines what this measure is; none for what is no measure, or none that this tiepoint has."""
    try:
        return frozenset() if name in DEFINING else parse(name).definitions
    except InputError:
        return frozenset()


def _variants(measures: tuple[str, ...]) -> Mapping[str, set[str]]:
    """`nDCG@10` to the measures of that kind and cut-off, options and all."""
    found: dict[str, set[str]] = {}
    for name in measures:
        try:
            measure = parse(name)
        except InputError:
            found.setdefault(name, set()).add(name)  # a measure that this tiepoint no longer has is only itself
        else:
            found.setdefault(f"{measure.name}@{measure.cutoff}", set()).add(name)
    return found
