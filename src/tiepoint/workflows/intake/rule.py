"""The measures and the decision rule: named as they print, and asked on queries that exist."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiepoint.core.gates import SUBGROUP, Gates
from tiepoint.core.qrels import Qrels
from tiepoint.core.queries import Queries
from tiepoint.core.study import Rule
from tiepoint.errors import InputError, Problems, did_you_mean, some
from tiepoint.formats.study_toml import StudyFile
from tiepoint.measures import parse


def take_measures(file: StudyFile, rule: Rule, gates: Gates, problems: Problems) -> tuple[str, ...]:
    """The study's measures as they print, each once; the rule's own and that of the gates last where the study lacks them."""
    study = file.spec.study
    named = study.measures or [f"{name}@{study.k}" for name in ("recall", "RR", "nDCG")]
    parsed = [_parsed(file, name, ("study", "measures"), problems) for name in named]
    return tuple(dict.fromkeys(name for name in [*parsed, rule.measure, gates.measure] if name))


def take_rule(file: StudyFile, problems: Problems) -> Rule:
    """The decision rule as written; its measure is empty where it is not known, and that is noted."""
    decision = file.spec.decision
    measure = _parsed(file, decision.measure, ("decision", "measure"), problems)
    if measure and not parse(measure).kind.decides:
        problems.add(
            f"{measure} does not say how good a ranking is, so it cannot decide",
            where=file.where("decision", "measure"),
            fix="decide on nDCG@k or recall@k",
        )
    return Rule(
        measure=measure,
        slice=decision.slice,
        gap=float(decision.gap),
        confidence=decision.confidence,
        prefer=tuple(decision.prefer),
    )


def take_gates(file: StudyFile, problems: Problems) -> Gates:
    """What a move must hold, as written; the measure as it prints, None where the rule's stands in."""
    said = file.spec.gates
    named = said.measure and _parsed(file, said.measure, ("gates", "measure"), problems)
    return Gates(**(said.model_dump() | {"measure": named or None, "critical": tuple(said.critical)}))


def check_critical(file: StudyFile, queries: Queries, problems: Problems) -> None:
    """Note every critical query that the study does not have, and every critical subgroup without a query that has an answer."""
    answered = zip(queries.subgroups, queries.no_answer, strict=True)
    subgroups = {name for names, no_answer in answered if not no_answer for name in names}
    known = {*queries.ids, *(f"{SUBGROUP}{name}" for name in subgroups)}
    unknown = [name for name in file.spec.gates.critical if name not in known]
    where = file.where("gates", "critical")
    if absent := [name.removeprefix(SUBGROUP) for name in unknown if name.startswith(SUBGROUP)]:
        many = "critical subgroup has" if len(absent) == 1 else "critical subgroups have"
        near = did_you_mean(absent[0], subgroups)
        occur = (
            f"subgroups with an answered query: {some(sorted(subgroups))}"
            if subgroups
            else "no subgroup has an answered query"
        )
        problems.add(
            f"{len(absent):,} {many} no query with an answer: {some(absent)}",
            where=where,
            fix=f"{near} {occur}" if near else occur,
        )
    if lost := [name for name in unknown if not name.startswith(SUBGROUP)]:
        many = "critical query is" if len(lost) == 1 else "critical queries are"
        problems.add(
            f"{len(lost):,} {many} not in the study: {some(lost)}",
            where=where,
            fix=did_you_mean(lost[0], known) or 'name ids of queries, or "subgroup:name"',
        )


def _parsed(file: StudyFile, name: str, key: tuple[str, str], problems: Problems) -> str:
    try:
        return str(parse(name))
    except InputError as error:
        for problem in error.problems:
            problems.add(problem.what, where=file.where(*key), fix=problem.fix)
        return ""


def check_slice(file: StudyFile, rule: Rule, queries: Queries, qrels: Qrels | None, problems: Problems) -> None:
    """Note when the rule would decide on no query at all. qrels None: not known, so gold is not asked for."""
    where = file.where("decision", "slice")
    of_slice: dict[str, NDArray[np.bool_]] = {"filtered": queries.has_region, "rare": queries.rare}
    chosen = of_slice.get(rule.slice, np.ones(len(queries), dtype=bool))
    if not chosen.any():
        lack = "has a region" if rule.slice == "filtered" else "is flagged rare"
        named = {"filtered": "region", "rare": "rare"}[rule.slice]
        problems.add(
            f"the decision is asked on the slice {rule.slice!r}, but no query {lack}",
            where=where,
            fix=f'name the column under [queries] ({named} = "..."), or say slice = "unfiltered" under [decision]',
        )
        return
    if any(split is not None for split in queries.split):
        chosen = chosen & queries.in_split("test")  # a new array: chosen may be the queries' own column
        if not chosen.any():
            problems.add(
                f"no query of the slice {rule.slice!r} is in the test split, on which is decided",
                where=file.where("queries", "split"),
                fix='mark queries "test", or remove split under [queries]',
            )
            return
    least = parse(rule.measure).least_grade if rule.measure else 1
    if qrels is not None and not (chosen & _with_gold(qrels, len(queries), least)).any():
        asked = f" for {rule.measure} (grade {least} or better)" if least > 1 else ""
        problems.add(
            f"no query on which is decided (slice {rule.slice!r}) has a relevant document{asked}",
            where=where,
            fix=f"judge documents for them with grade {least} and above, or decide on another slice"
            + (", or by a measure of a lower rel" if least > 1 else ""),
        )


def _with_gold(qrels: Qrels, queries: int, least: int) -> NDArray[np.bool_]:
    """(queries,) True where a document is judged of this grade or better."""
    mask = np.zeros(queries, dtype=bool)
    mask[qrels.query[qrels.grade >= least]] = True
    return mask
