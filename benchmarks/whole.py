"""All figures of a large benchmark, against the time that the smallest packaged model takes to encode its corpus.

`python -m benchmarks.whole`: ten candidates and two baselines, every measure, four slices, subgroups, regions, a dev and a test
split, intervals, bounds and the decision, of 2,000 queries over 100,000 documents, without searching; and WordLlama's encoding
of a sample of texts through tiepoint, scaled to 100,000. The ratio is to be above 10.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import tiepoint as tp
from tiepoint.core.run import Run
from tiepoint.core.study import Study
from tiepoint.decide import decide
from tiepoint.measures import kinds, parse
from tiepoint.stats.resample import stream
from tiepoint.workflows.demo import write_demo
from tiepoint.workflows.evidence import evidence
from tiepoint.workflows.figures import ArmRun, figures, measure_views
from tiepoint.workflows.slices import View, slices, views

QUERIES, DOCUMENTS, CANDIDATES, SAMPLE = 2_000, 100_000, 10, 3_000
DEPTH, JUDGED = 100, 50
MEASURES = [f"{kind}@10" for kind in sorted(kinds())] + ["recall@100", "AP@100", "nDCG(gain=linear)@10"]
PLACES = [f"place {n}" for n in range(20)]


def made_study(folder: Path) -> Study:
    """2,000 questions in 20 regions and four subgroups, each with 50 judgements of grades 0 to 3."""
    rng = np.random.default_rng(7)
    documents = [{"_id": f"d{n:06d}", "text": f"text {n}", "region": PLACES[n % 20]} for n in range(DOCUMENTS)]
    questions = [
        {
            "_id": f"q{n:04d}",
            "text": f"question {n}",
            "region": PLACES[n % 20],
            "subgroups": f"group {n % 4}",
            "rare": n % 3 == 0,
            "split": "dev" if n % 5 == 0 else "test",
        }
        for n in range(QUERIES)
    ]
    for name, rows in (("corpus", documents), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines = ["query-id\tcorpus-id\tscore\n"]
    for n in range(QUERIES):
        near = rng.choice(DOCUMENTS // 20, JUDGED, replace=False) * 20 + n % 20
        lines += [f"q{n:04d}\td{d:06d}\t{g}\n" for d, g in zip(near, rng.integers(0, 4, JUDGED), strict=True)]
    (folder / "qrels.tsv").write_text("".join(lines), encoding="utf-8")
    (folder / "study.toml").write_text(
        f'[study]\nname = "whole"\nk = 10\nmeasures = {json.dumps(MEASURES)}\nseed = 3\n'
        '[corpus]\npath = "corpus.jsonl"\nid = "_id"\ntext = "{text}"\nregion = "region"\n'
        '[queries]\npath = "queries.jsonl"\nid = "_id"\ntext = "text"\nregion = "region"\nsubgroups = "subgroups"\n'
        'rare = "rare"\nsplit = "split"\n[qrels]\npath = "qrels.tsv"\n[access]\npublic = true\n'
        '[decision]\nmeasure = "nDCG@10"\nslice = "filtered"\ngap = 0.02\n',
        encoding="utf-8",
    )
    return tp.load_study(folder)


def drawn_run(study: Study, view: View, rng: np.random.Generator, quality: float) -> Run:
    """A ranking of each query: judged documents with this chance, else any of the view; in every tenth query hits tie."""
    document = np.full((QUERIES, DEPTH), -1, dtype=np.int32)
    qrels = study.qrels
    for part in view.eligibility.parts():
        for q in part.queries:
            judged = rng.permutation(qrels.document[qrels.start[q] : qrels.start[q + 1]])
            some = np.setdiff1d(rng.choice(part.units, 4 * DEPTH), judged)
            mixed = np.where(rng.random(DEPTH) < quality, np.resize(judged, DEPTH), rng.permutation(some)[:DEPTH])
            kept = mixed[np.sort(np.unique(mixed, return_index=True)[1])]
            document[q, : len(kept)] = kept
    score = -np.sort(-rng.random((QUERIES, DEPTH)), axis=1)
    score[::10] = np.round(score[::10], 2)
    empty = np.zeros(QUERIES + 1, dtype=np.int64)
    score = np.where(document >= 0, score, -np.inf)
    return Run(document, score, view.eligible, empty, np.empty(0, dtype=np.int32), 0.0, {})


def all_figures(study: Study, by_view: Mapping[str, View], runs: Mapping[str, Mapping[str, Run]]) -> dict[str, float]:
    """What a benchmark does once its searches are done, but for the tables; and the seconds of each step."""
    times = [time.perf_counter()]
    measures, parts = [parse(name) for name in study.measures], slices(study, by_view)
    arms = [ArmRun(name, measure_views(study, by_view, of, measures)) for name, of in runs.items()]
    times.append(time.perf_counter())
    figures(study, arms, parts)
    times.append(time.perf_counter())
    costs = {arm.id: {"dimension": float(n)} for n, arm in enumerate(arms[:CANDIDATES])}
    proof = evidence(study, arms[:CANDIDATES], arms[-2], (), costs, parts)
    decide(proof, study.rule, rng=stream(study.seed, "decision"))
    times.append(time.perf_counter())
    steps = ("every measure of every query", "figures with intervals", "the decision")
    return dict(zip(steps, np.diff(times).tolist(), strict=True))


def encoding_s(folder: Path) -> float:
    """How long WordLlama takes for 100,000 documents of the demonstration's kind, from a sample of them."""
    write_demo(folder)
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    many = [{**row, "_id": f"{row['_id']}-{n}", "title": f"{n} {row['title']}"} for n in range(99) for row in rows][
        :SAMPLE
    ]
    names = {row["_id"] for row in many}
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in many), encoding="utf-8")
    qrels = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()
    kept = [qrels[0], *("\t".join([q, f"{d}-0", g]) for q, d, g in (line.split("\t")[:3] for line in qrels[1:]))]
    (folder / "qrels.tsv").write_text("\n".join(k for k in kept if k.split("\t")[1] in names or k is kept[0]), "utf-8")
    found = tp.bench(tp.load_study(folder), only=["wordllama"], fresh=True).summary.candidates
    rate = next(c.documents_per_s for c in found if c.id == "wordllama")
    if rate is None:
        raise SystemExit("WordLlama was not measured")
    return DOCUMENTS / rate


def main() -> None:
    """Print the ratio; with --profile also where the time goes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "study").mkdir()
        study = made_study(folder / "study")
        by_view, rng = views(study), np.random.default_rng(9)
        names = [*(f"arm-{n}" for n in range(CANDIDATES)), "bm25", "random"]
        runs = {
            arm: {view: drawn_run(study, of, rng, 0.3 + 0.02 * n) for view, of in by_view.items()}
            for n, arm in enumerate(names)
        }
        profile = cProfile.Profile()
        if "--profile" in sys.argv:
            steps = profile.runcall(all_figures, study, by_view, runs)
        else:
            steps = all_figures(study, by_view, runs)
        taken = sum(steps.values())
        encoding = encoding_s(folder / "demo")
    print(f"all figures of {CANDIDATES} candidates, {len(MEASURES)} measures, {QUERIES:,} queries: {taken:.1f} s")
    print("; ".join(f"{step} {spent:.1f} s" for step, spent in steps.items()))
    print(f"WordLlama on {DOCUMENTS:,} documents, scaled from {SAMPLE:,}: {encoding:.1f} s")
    print(f"encoding / figures: {encoding / taken:.1f} (to reach: 10)")
    if "--profile" in sys.argv:
        pstats.Stats(profile).sort_stats("cumtime").print_stats(30)


if __name__ == "__main__":
    main()
