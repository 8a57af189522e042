"""The exact search against its peers, one thread, in processor time; prints a table and writes RESULTS.md beside this file.

python -m benchmarks.search [documents ...]      100000 and 1000000 where none is named; 0: the real sentences alone
"""

from __future__ import annotations

import itertools
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks.peers import Flat, Timed, processor_seconds, product_alone, sorted_slices
from benchmarks.workload import Filters, clustered, data_folder, filters, sentences, space
from tiepoint.core.run import Run
from tiepoint.search.exact import search
from tiepoint.search.fast import numba_kernels
from tiepoint.search.prepared import Prepared
from tiepoint.search.score import score
from tiepoint.workflows.conditions import processor

QUERIES, SIZES, DEPTHS = 1000, (100_000, 1_000_000), (10, 100)
KINDS = {
    "region": "region, 2 %",
    "acl": "acl, uniform",
    "skewed": "acl, skewed",
    "both": "acl and region",
    "unfiltered": "unfiltered",
}
FEW, CHECKED = 30, 4
HEAD = (
    "| vectors | filter | k | ours, s | peak, MiB | peer | peer, s | peer / ours | rows unlike float64: ours | peer |\n"
    "|---|---|---:|---:|---:|---|---:|---:|---:|---:|"
)


def table(name: str, documents: np.ndarray, queries: np.ndarray, notes: list[str]) -> Iterator[str]:
    """The lines of one set of vectors."""
    made = space(documents, queries)
    seconds, prepared = processor_seconds(lambda: Prepared.of(made))
    notes.append(f"{name}: norms prepared once in {seconds:.2f} s")
    flat = Flat(documents, queries)
    few = np.random.default_rng(0).permutation(len(queries))[:FEW]
    sample = documents[:50_000]
    rate = product_alone(sample, queries).seconds / len(sample) / len(queries)
    kinds = {kind: filters(kind, len(documents), len(queries)) for kind in KINDS}
    made_of = {}
    for kind, chosen in kinds.items():
        seconds, made_of[kind] = processor_seconds(chosen.eligibility)
        notes.append(f"{name}, {KINDS[kind]}: masks and counts, shared by all arms, in {seconds:.2f} s")
    for k, (kind, title) in itertools.product(DEPTHS, KINDS.items()):
        chosen, eligibility = kinds[kind], made_of[kind]
        reset = _reset_peak()
        seconds, run = processor_seconds(lambda k=k, e=eligibility: search(made, e, depth=k, prepared=prepared))
        peak = _peak_above(reset)
        notes.append(
            f"{name}, {title}, k {k}: {run.proof.scored:,} scores, {run.proof.rescored:,} again (the product of "
            f"so many, at the rate of all queries at once, is {rate * run.proof.scored:.2f} s), epsilon "
            f"{run.proof.epsilon:.1e}, {run.proof.kernels}; {'; '.join(run.proof.explained)}"
        )
        wrong = unlike_definition(run, documents, queries, chosen, k)
        for peer in peers(kind, flat, chosen, k, few):
            others = "" if peer.found is None else f"{unlike(peer, run, k):.2%}"
            scaled = "" if len(peer.asked) == len(queries) else f" (scaled from {len(peer.asked)} queries)"
            yield (
                f"| {name} | {title} | {k} | {seconds:.2f} | {peak} | {peer.name}{scaled} | {peer.seconds:.2f} | "
                f"{peer.seconds / seconds:.2f} | {wrong:.2%} | {others} |"
            )


def peers(kind: str, flat: Flat, chosen: Filters, k: int, few: np.ndarray) -> Iterator[Timed]:
    if kind == "unfiltered":
        if k == DEPTHS[0]:
            yield product_alone(flat.documents, flat.queries)
        yield flat.unfiltered(k)
        return
    if kind == "region":
        yield sorted_slices(flat.documents, flat.queries, chosen, k)
    yield flat.selector(chosen, k, few)


def unlike(peer: Timed, run: Run, k: int) -> float:
    """The share of rows that stand elsewhere than in the proven ranking."""
    return float((peer.found[:, :k] != run.document[peer.asked, :k]).mean())


def unlike_definition(run: Run, documents: np.ndarray, queries: np.ndarray, chosen: Filters, k: int) -> float:
    """The share of rows that stand elsewhere than in a ranking by every float64 score, of a few queries."""
    wrong = 0
    for query in range(CHECKED):
        rows = np.flatnonzero(chosen.mask(query))
        found = score(queries[query : query + 1], documents[rows], "cosine")[0]
        best = rows[np.lexsort((rows, -found))][:k]
        wrong += int((run.document[query, : len(best)] != best).sum())
    return wrong / (CHECKED * k)


def _reset_peak() -> int | None:
    """Begin to watch the process' peak anew; its size now in KiB, None where the system does not tell."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        return _status("VmRSS")
    except OSError:
        return None


def _peak_above(before: int | None) -> str:
    return "" if before is None else f"{max(0, _status('VmHWM') - before) / 1024:.0f}"


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def machine() -> str:
    blas = ", ".join(
        f"{pool['internal_api']} {pool['version']} ({pool['architecture']})"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    )
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "faiss-cpu", "numba"))
    system = f"{processor()}, {platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    return f"{system}; {packages}; BLAS: {blas}"


def main(sizes: list[int]) -> None:
    lines, notes = [HEAD], []
    print(HEAD)
    seconds, kernels = processor_seconds(numba_kernels)
    notes.append("without numba" if kernels is None else f"numba's loops loaded once in {seconds:.2f} s")
    with threadpool_limits(1):
        sets = [(f"clustered, {n:,} x 384", lambda n=n: clustered(n, QUERIES)) for n in sizes if n]
        for name, make in [*sets, ("sentences, WordLlama", lambda: sentences(data_folder(), QUERIES))]:
            made = make()
            if made is None:
                notes.append(f"{name}: not executed, the corpora or WordLlama are absent")
                continue
            documents, queries = made
            title = name if "clustered" in name else f"{name}, {len(documents):,} x {documents.shape[1]}"
            for line in table(title, documents, queries, notes):
                print(line, flush=True)
                lines.append(line)
                (Path(__file__).parent / "RESULTS.md").write_text(_page("\n".join(lines), notes), encoding="utf-8")


def _page(text: str, notes: list[str]) -> str:
    return (
        "# The exact search against its peers\n\n"
        f"Made by `make bench` on: {machine()}.\n\n"
        f"{QUERIES:,} queries (of the sentences, all that there are up to so many), one thread, processor seconds, every ratio "
        "within one run. Preparation is apart and stands below. `peak` is what the process held at most above what it held "
        "before the search; the vectors are in neither. A ratio above 1 means that the peer takes longer. Rows unlike "
        f"float64: ours against a ranking by every float64 score ({CHECKED} queries), the peer's against ours.\n\n"
        f"{text}\n\n## Preparation and proofs\n\n" + "\n".join(f"- {note}" for note in notes) + "\n"
    )


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or list(SIZES))
