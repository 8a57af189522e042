"""The benchmark: candidates and baselines on one study, exactly searched, measured, decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiepoint.core.candidate import Candidate
from tiepoint.core.contract import Contract
from tiepoint.core.result import (
    SCHEMA_VERSION,
    ArmFigures,
    BaselineResult,
    CandidateResult,
    Counts,
    Result,
    Status,
    Summary,
)
from tiepoint.core.run import Run
from tiepoint.core.study import Study
from tiepoint.decide import decide
from tiepoint.encoding.encoded import Encoded
from tiepoint.encoding.noise import searchable_floor
from tiepoint.encoding.progress import SILENT, Progress
from tiepoint.errors import CannotRun
from tiepoint.measures import parse
from tiepoint.measures.measure import Measure
from tiepoint.search import chance, lexical
from tiepoint.search.exact import search
from tiepoint.search.prepared import Prepared
from tiepoint.search.rank import without_noise
from tiepoint.stats.resample import stream
from tiepoint.workflows.bench.arms import costs, named, with_encoding, with_figures
from tiepoint.workflows.bench.copied import copied
from tiepoint.workflows.bench.cut_recall import cut_recall
from tiepoint.workflows.bench.groups import group_sizes
from tiepoint.workflows.bench.noise import noise_warnings, with_noise
from tiepoint.workflows.bench.suspects import confusable_ids, suspects
from tiepoint.workflows.candidates.spaces import Failed, Opened, make_space
from tiepoint.workflows.candidates.tried import open_chosen, tried
from tiepoint.workflows.conditions import conditions, definitions, searches
from tiepoint.workflows.evidence import evidence
from tiepoint.workflows.figures import ArmRun, figures, measure_views
from tiepoint.workflows.slices import Slice, View, denominators, slices, views
from tiepoint.workflows.snapshot import corpus_tables
from tiepoint.workflows.tables import gold_table, per_query_table, queries_table, rankings_table

BM25 = "bm25"
RANDOM = "random"
DID_NOT_RUN = "did not run: not one query has a hit"


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
    """What became of one candidate: encoded (but for rankings made elsewhere) and run, or a reason."""

    opened: Opened
    encoded: Encoded | None
    arm: ArmRun | None
    reason: str | None


def bench(
    study: Study,
    *,
    candidates: Sequence[Candidate] | None = None,
    only: Sequence[str] | None = None,
    fresh: bool = False,
    progress: Progress = SILENT,
) -> Result:
    """Benchmark candidates on a study and apply its decision rule. Writes vectors under study.folder, nothing else.

    candidates   None: the study's own; a sequence stands in their place
    only         ids of the candidates to run; the others stand in the result as not executed; None: all run
    fresh        True: encode everything anew, whatever the stores hold
    returns      a Result; a candidate that cannot load or encode is in it with its reason
    raises       InputError when there is no candidate, or one contradicts its model or holds bad vectors made elsewhere
    """
    named_all = tried(study, candidates)
    measures = [parse(name) for name in study.measures]
    depth = max(study.k, *(m.cutoff for m in measures))
    opened = open_chosen(study, named_all, only)
    shuffled = stream(study.seed, "order of candidates").permutation(len(opened))
    by_view = views(study)
    outcomes: dict[str, _Outcome] = {}
    for i in shuffled:
        outcomes[opened[i].candidate.id] = _try(study, opened[i], by_view, measures, depth, fresh, progress)
    ran = [outcomes[o.candidate.id] for o in opened]
    arms = [outcome.arm for outcome in ran if outcome.arm is not None]
    baselines = _baselines(study, by_view, measures, depth, progress)
    return _result(study, ran, arms, baselines, slices(study, by_view), tuple(outcomes))


def _try(
    study: Study,
    opened: Opened,
    by_view: Mapping[str, View],
    measures: Sequence[Measure],
    depth: int,
    fresh: bool,
    progress: Progress,
) -> _Outcome:
    """Encode and search one candidate; what goes wrong with it is its reason."""
    if opened.not_executed is not None:
        return _Outcome(opened, None, None, opened.not_executed)
    made = None if opened.run is not None else make_space(opened, study, fresh=fresh, progress=progress)
    if isinstance(made, Failed):
        return _Outcome(opened, None, None, made.reason)
    if opened.run is not None and opened.run.did_not_run:
        return _Outcome(opened, None, None, DID_NOT_RUN)
    progress.start(f"{opened.candidate.id}: search", len(by_view))
    runs = {}
    prepared = None if made is None else Prepared.of(made.space)
    floor = 0.0 if made is None else searchable_floor(made.space)
    for name, view in by_view.items():
        runs[name] = _ranked(opened, made, prepared, floor, view, depth, study)
        progress.advance(1)
    progress.finish()
    ranked = measure_views(study, by_view, {name: without_noise(run) for name, run in runs.items()}, measures)
    space = None if made is None else made.space
    measured = {name: with_noise(study, by_view[name], of, runs[name], space, measures) for name, of in ranked.items()}
    plain = measured["unfiltered"].run
    if plain.eligible.any() and not (plain.document >= 0).any():
        return _Outcome(opened, made, None, DID_NOT_RUN)
    return _Outcome(opened, made, ArmRun(opened.candidate.id, measured), None)


def _ranked(
    opened: Opened, made: Encoded | None, prepared: Prepared | None, floor: float, view: View, depth: int, study: Study
) -> Run:
    """Search a space, or take the rankings that were made elsewhere. Raises CannotRun where there is neither."""
    if opened.run is not None:
        return opened.run.ranked(view.name, view.eligibility, depth=depth, tolerance=study.tie_tolerance)
    if made is None:
        raise CannotRun(f"candidate {opened.candidate.id!r} has no space")
    return search(
        made.space,
        view.eligibility,
        depth=depth,
        tolerance=study.tie_tolerance,
        noise=floor,
        threads=study.threads,
        prepared=prepared,
    )


def _baselines(
    study: Study, by_view: Mapping[str, View], measures: Sequence[Measure], depth: int, progress: Progress
) -> list[ArmRun]:
    progress.start("baselines", 2 * len(by_view))
    matrix = lexical.TermMatrix.of(study.corpus.texts)
    bm25, random = {}, {}
    for name, view in by_view.items():
        bm25[name] = lexical.search_lexically(
            matrix, study.queries.texts, view.eligibility, depth=depth, tolerance=study.tie_tolerance
        )
        progress.advance(1)
        random[name] = chance.search_randomly(study.queries, view.eligibility, seed=study.seed, depth=depth)
        progress.advance(1)
    progress.finish()
    return [
        ArmRun(arm, measure_views(study, by_view, runs, measures)) for arm, runs in ((BM25, bm25), (RANDOM, random))
    ]


def _result(
    study: Study,
    ran: Sequence[_Outcome],
    arms: Sequence[ArmRun],
    baselines: Sequence[ArmRun],
    parts: Sequence[Slice],
    order: tuple[str, ...],
) -> Result:
    everyone = [*arms, *baselines]
    found = figures(study, everyone, parts)
    results = [_candidate(study, outcome, found, parts[0]) for outcome in ran]
    spent = {o.opened.candidate.id: costs(o.opened.candidate, o.encoded, study) for o in ran if o.encoded is not None}
    proof = evidence(study, arms, baselines[0], results, spent, parts)
    decision = decide(proof, study.rule, rng=stream(study.seed, "decision"))
    summary = Summary(
        schema_version=SCHEMA_VERSION,
        study=study.name,
        notice=study.notice,
        k=study.k,
        measures=study.measures,
        seed=study.seed,
        bounded=bounded(study),
        counts=_counts(study),
        definitions=definitions(study),
        denominators={part.name: denominators(study, part) for part in parts},
        not_judged=tuple(study.queries.ids[i] for i in np.flatnonzero(~study.qrels.judged & ~study.queries.no_answer)),
        candidates=tuple(results),
        baselines=tuple(
            with_figures(BaselineResult(id=arm.id, definition=text), found[arm.id])
            for arm, text in zip(baselines, (lexical.DEFINITION, chance.DEFINITION), strict=True)
        ),
        decision=replace(decision, warnings=(*decision.warnings, *noise_warnings(study, results))),
        suspects=suspects(study, arms, baselines[0], parts),
        copied=copied(study),
        subgroups=group_sizes(study, "subgroups", parts),
        regions=group_sizes(study, "regions", parts),
        notes=(*study.notes, *confusable_ids(study)),
    )
    contracts: dict[str, Contract] = {
        o.opened.candidate.id: o.opened.contract for o in ran if o.opened.contract is not None
    }
    stood = conditions(study, contracts, summary, order, {o.opened.candidate.id: o.encoded for o in ran})
    runs = {name: value for o in ran if o.opened.run is not None for name, value in o.opened.run.hashes.items()}
    proofs = {f"{arm.id}, {name}": m.run.proof for arm in arms for name, m in arm.views.items()}
    return Result(
        summary=summary,
        conditions=replace(stood, hashes={**stood.hashes, **runs}, search=searches(study, proofs)),
        explained=tuple(
            f"search of {name}: {line}"
            for name, proof in proofs.items()
            if proof is not None
            for line in proof.explained
        ),
        per_query=per_query_table(study, everyone, parts),
        rankings=rankings_table(study, everyone, parts),
        gold=gold_table(study, arms, parts),
        queries=queries_table(study),
        **corpus_tables(study),
    )


def _candidate(study: Study, outcome: _Outcome, found: Mapping[str, ArmFigures], unfiltered: Slice) -> CandidateResult:
    candidate, contract = outcome.opened.candidate, outcome.opened.contract
    if outcome.opened.run is not None and outcome.arm is not None:
        of_run = replace(named(candidate, None, "measured"), notes=outcome.opened.run.notes)
        return with_figures(of_run, found[candidate.id])
    if outcome.encoded is None or outcome.arm is None:
        status: Status = "failed" if outcome.opened.not_executed is None else "not executed"
        return named(candidate, contract, status, outcome.reason)
    result = with_encoding(named(candidate, contract, "measured"), candidate, outcome.encoded, study)
    cut = cut_recall(study, outcome.arm, outcome.encoded, unfiltered)
    return with_figures(replace(result, recall_cut=cut), found[candidate.id])


def _counts(study: Study) -> Counts:
    shown = study.shown
    return Counts(
        documents=int(shown.sum()) if study.corpus.public or study.readers else None,
        queries=len(study.queries),
        judgements=len(study.qrels),
        clusters=len(np.unique(study.queries.clusters(np.arange(len(study.queries))))),
    )


def bounded(study: Study) -> str:
    """Who the report is for, in one sentence."""
    if study.corpus.public:
        return "public: every document may be named and counted"
    if study.readers:
        groups = " and ".join(study.readers)
        return f"for readers in {groups}: only documents that every one of these groups may read are named or counted"
    return "without named readers: aggregates only, no document is named or counted, groups of under 5 scored queries are hidden"
