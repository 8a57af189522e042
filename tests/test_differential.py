"""The benchmark against tests/oracle.py, which holds the definitions in plain loops, on made studies full of awkward cases.

Vectors are small whole numbers: every score is exact, so that ties are real and many.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from oracle import Hits, Oracle, deficit_bounds, least_loss, split_name
from sample import contract
from studies import write_study
from tiepoint.workflows import cells

MEASURES = [
    "recall@3",
    "pooled_recall@3",
    "RR@3",
    "nDCG@5",
    "nDCG(gain=linear)@4",
    "Success@2",
    "Judged@3",
    "recall(rel=2)@4",
    "RR(rel=2)@6",
    "P@3",
    "AP@5",
    "AP(rel=2)@3",
]
PARENTS = {"Teesdale": "Durham", "Weardale": "Durham", "Rookhope": "Weardale"}
ALIASES = {"Co. Durham": "Durham", "Upper Teesdale": "Teesdale", "Kent County": "Kent"}
PLACES = ["Durham", "Teesdale", "Weardale", "Rookhope", "Kent", *ALIASES]
REGIONS = (
    "region,within,aliases\n"
    "Durham,,Co. Durham\nTeesdale,Durham,Upper Teesdale\nWeardale,Durham,\n"
    "Rookhope,Weardale,\nKent,,Kent County\n"
)
GROUPS = ["ecology", "heritage", "planning"]
SEEDS = range(14)


def made_study(seed: int) -> dict:
    """A study with everything in it that the definitions speak of, as plain rows."""
    rng = random.Random(seed)  # noqa: S311
    public = rng.random() < 0.3
    n, m = rng.randint(6, 26), rng.randint(14, 40)

    def words(name: str) -> str:
        return " ".join([f"x{name}", *(f"w{rng.randrange(9)}" for _ in range(rng.randint(1, 6)))])

    def some(names: list[str], share: float) -> list[str]:
        return [name for name in names if rng.random() < share]

    ids = rng.sample([*(f"d{i:02d}" for i in range(20)), "Z", "é1", "10", "9", "007", "a" * 9, "ł", "𝔘"], n)
    documents = [
        {
            "_id": name,
            "text": words(f"d{i}"),
            "groups": some(GROUPS, 0.5),
            "region": rng.choice([[], *[[p] for p in PLACES], some(PLACES, 0.3)]),
        }
        for i, name in enumerate(ids)
    ]
    split = rng.random() < 0.4
    queries = [
        {
            "_id": f"q{i:02d}",
            "text": words(f"q{i}"),
            "groups": some(GROUPS, 0.6),
            "region": rng.choice([None, *PLACES, some(PLACES, 0.3) or None]),
            "subgroups": some(["early", "late"], 0.5),
            "rare": rng.random() < 0.4,
            "no_answer": rng.random() < 0.1,
            "split": rng.choice(["dev", "test", "test"]) if split else None,
            "cluster": f"c{rng.randrange(m)}" if seed % 2 else None,
        }
        for i in range(m)
    ]
    judgements = []
    for query in queries:
        for document in rng.sample(documents, rng.choice([0, 1, 2, 3, min(6, n)])):
            readable = public or set(document["groups"]) & set(query["groups"])
            grade = rng.randint(0, 3) if readable and not query["no_answer"] else 0
            judgements.append((query["_id"], document["_id"], grade))
        if rng.random() < 0.2:
            judgements.append((query["_id"], "gone", 0 if query["no_answer"] else rng.randint(0, 3)))
    arms = []
    for i, metric in enumerate(rng.sample(["cosine", "dot", "euclidean"], 3)[: rng.choice([2, 3])]):
        vectors: dict[str, list[int] | None] = {}
        for row in [*documents, *queries]:
            vector = [rng.randint(-1, 2) for _ in range(3 + i)]
            vectors[row["text"]] = (vector if any(vector) else [1] * (3 + i)) if rng.random() > 0.05 else None
        arms.append({"id": f"arm-{i}", "metric": metric, "vectors": vectors, "dimension": 3 + i})
    return {
        "seed": seed,
        "k": 3,
        "measures": MEASURES,
        "public": public,
        "pooled": rng.random() < 0.4,
        "tie_tolerance": rng.choice([0.0, 0.0, 1.0]),
        "parents": PARENTS,
        "aliases": ALIASES,
        "documents": documents,
        "queries": queries,
        "judgements": judgements,
        "arms": arms,
        "split": split,
    }


def written(folder: Path, made: dict, rule: dict) -> Path:
    """The made study as files."""
    public = made["public"]
    columns = dict.fromkeys(["cluster"] if made["seed"] % 2 else [], "cluster")
    return write_study(
        folder,
        documents=made["documents"],
        questions=[{k: v for k, v in q.items() if v is not None or k == "region"} for q in made["queries"]],
        judgements="query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{g}\n" for q, d, g in made["judgements"]),
        places=REGIONS,
        study={"k": 3, "measures": MEASURES, "seed": made["seed"], "tie_tolerance": made["tie_tolerance"]},
        corpus={"text": "{text}", "unplaced": "out", "acl": None if public else "groups"},
        queries={
            "groups": None if public else "groups",
            "no_answer": "no_answer",
            "split": "split" if made["split"] else None,
            "cluster": columns.get("cluster"),
        },
        qrels={"pooled": made["pooled"]},
        regions={"path": "regions.csv", "id": "region", "parent": "within", "aliases": "aliases"},
        access={"public": public},
        report={} if public else {"readers": GROUPS},
        decision=rule,
    )


def benched(folder: Path, made: dict, rule: dict) -> tp.Result:
    def candidate(arm: dict) -> tp.Candidate:
        def encode(texts: list[str]) -> np.ndarray:
            rows = [arm["vectors"].get(text, [1] * arm["dimension"]) for text in texts]
            return np.array([[math.nan] * arm["dimension"] if row is None else row for row in rows], dtype=np.float32)

        return tp.Candidate(arm["id"], encode=encode, contract=contract(arm["dimension"], metric=arm["metric"]))

    study = tp.load_study(written(folder, made, rule))
    return tp.bench(study, candidates=[candidate(arm) for arm in made["arms"]])


def near(ours: float | None, expected: float | None) -> bool:
    return ours is None if expected is None else ours == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_figure_equals_a_plain_loop(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "withheld", lambda _, scored: np.zeros_like(scored))  # every group, see test_cells
    made = made_study(seed)
    oracle = Oracle(made)
    rng = random.Random(seed)  # noqa: S311
    split = [q for q in oracle.queries if not made["split"] or q["split"] == "test"]
    able = [
        name
        for name, (view, queries) in oracle.slices.items()
        if name != "unfiltered_same" and any(q in split and oracle.scored(q, view) for q in queries)
    ]
    rule = {
        "measure": rng.choice(["nDCG@5", "recall@3", "RR@3", "pooled_recall@3", "AP@5"]),
        "slice": rng.choice(able),
        "gap": rng.choice([0.1, 0.25, 0.4]),
        "confidence": rng.choice([0.8, 0.9]),
        "prefer": ["dimension"],
    }
    if rule["measure"].startswith("pooled") or seed % 5 == 0:
        rule["confidence"] = "point"
    result = benched(tmp_path, made, rule)
    full = rankings(oracle, made, result)
    check_figures(oracle, result, full)
    check_denominators(oracle, result)
    check_tables(oracle, made, result, full)
    check_decision(oracle, made, rule, result, full)


Full = dict[str, dict[str, dict[str, Hits]]]
"""Of each arm, view and query every hit, best first."""


def rankings(oracle: Oracle, made: dict, result: tp.Result) -> Full:
    views = ("unfiltered", "filtered")
    full: Full = {
        arm["id"]: {view: {q["_id"]: oracle.by_vectors(arm, q, view) for q in oracle.queries} for view in views}
        for arm in made["arms"]
    }
    full["bm25"] = {view: {q["_id"]: oracle.by_bm25(q, view) for q in oracle.queries} for view in views}
    # The random order is drawn, so it is taken as found; of the right documents, and without ties.
    drawn: dict[str, dict[str, Hits]] = {view: {q["_id"]: [] for q in oracle.queries} for view in views}
    for row in result.rankings.to_pylist():
        if row["candidate"] == "random" and row["slice"] in ("unfiltered", "filtered", "rare"):
            view = oracle.slices[row["slice"]][0]
            hit = (row["document"], row["score"])
            if hit not in drawn[view][row["query"]]:
                drawn[view][row["query"]].append(hit)
    for name, (view, queries) in oracle.slices.items():
        for q in queries:
            if name != "unfiltered_same":
                hits, eligible = drawn[view][q["_id"]], oracle.eligible(q, view)
                assert len({s for _, s in hits}) == len(hits) == min(oracle.depth, len(eligible))
                assert {d for d, _ in hits} <= set(eligible)
    full["random"] = drawn
    return full


def check_figures(oracle: Oracle, result: tp.Result, full: Full) -> None:
    everyone = {arm.id: arm for arm in (*result.summary.candidates, *result.summary.baselines)}
    assert set(everyone) == set(full)
    assert all(arm.status == "measured" for arm in everyone.values())
    for name, arm in everyone.items():
        for part, (view, queries) in oracle.slices.items():
            hits = full[name][view]
            plain = {q["_id"]: oracle.grades(q, hits[q["_id"]]) for q in queries}
            for measure in oracle.measures:
                found = arm.measures[part][measure]
                mean, n = oracle.mean(measure, queries, view, plain)
                assert (near(found.mean, mean), found.n) == (True, n), (name, part, measure)
                check_groups(oracle, arm, part, measure, plain)
            check_bounds(oracle, arm, part, hits)
            if name != "random":
                pairs = [oracle.pairs_at_the_cut(hits[q["_id"]], oracle.k) for q in queries]
                assert (arm.ties[part].queries, arm.ties[part].pairs) == (sum(p > 0 for p in pairs), sum(pairs))
                for k, tied in arm.ties[part].at.items():
                    assert tied == sum(oracle.pairs_at_the_cut(hits[q["_id"]], int(k)) > 0 for q in queries)
                assert {oracle.k, *map(int, arm.ties[part].at)} == {
                    oracle.k,
                    *(split_name(m)[2] for m in oracle.measures),
                }


def check_groups(oracle: Oracle, arm: tp.core.result.ArmFigures, part: str, measure: str, plain: dict) -> None:
    view, queries = oracle.slices[part]
    kinds = {
        "subgroups": lambda q: q["subgroups"],
        "regions": lambda q: oracle.canonical(q["region"]),
        "splits": lambda q: [q["split"]] if q["split"] else [],
    }
    for kind, names in kinds.items():
        shown = {name for q in queries for name in names(q)}
        found = getattr(arm, kind)
        assert {name for name, by_slice in found.items() if part in by_slice} == shown
        for name in shown:
            inside = [q for q in queries if name in names(q)]
            mean, n = oracle.mean(measure, inside, view, plain)
            figure = found[name][part][measure]
            assert (near(figure.mean, mean), figure.n) == (True, n), (kind, name, part, measure)


def check_bounds(oracle: Oracle, arm: tp.core.result.ArmFigures, part: str, hits: dict[str, Hits]) -> None:
    view, queries = oracle.slices[part]
    best, worst, plain = (
        {q["_id"]: order(q, hits[q["_id"]]) for q in queries}
        for order in (
            lambda q, h: oracle.extreme(q, h, best=True),
            lambda q, h: oracle.extreme(q, h, best=False),
            oracle.grades,
        )
    )
    if arm.id == "random":  # nothing ties there, whatever the tolerance
        best = worst = plain

    def plain_orders(measure: str, q: dict, view: str, h: Hits) -> tuple[float, float] | None:
        return oracle.value(measure, oracle.grades(q, h), list(oracle.relevant(q, view).values()))

    for measure in oracle.measures:
        found, cutoff = arm.bounds[part][measure], split_name(measure)[2]
        assert near(found.tie_low, oracle.mean(measure, queries, view, worst)[0]), (part, measure)
        assert near(found.tie_high, oracle.mean(measure, queries, view, best)[0]), (part, measure)
        orders = plain_orders if arm.id == "random" else oracle.over_orders
        scored = [q for q in queries if oracle.scored(q, view)]
        ranked = {
            q["_id"]: {tuple(plain[q["_id"]])} if arm.id == "random" else set(oracle.orders(q, hits[q["_id"]], cutoff))
            for q in scored
        }
        every = {
            "tie_expected": [orders(measure, q, view, hits[q["_id"]]) for q in scored],
        }
        if measure.startswith("Judged"):
            assert (found.unjudged_best, found.unjudged_worst) == (None, None)
        else:
            every |= {
                "unjudged_best": [oracle.unjudged_best(measure, q, view, ranked[q["_id"]], cutoff) for q in scored],
                "unjudged_worst": [oracle.unjudged_worst(measure, q, view, ranked[q["_id"]], cutoff) for q in scored],
            }
        for name, of in every.items():
            values = [value for value in of if value is not None]
            bottom = math.fsum(b for _, b in values)
            expected = math.fsum(t for t, _ in values) / bottom if bottom else None
            told = getattr(found, name)
            # With several grades the best order for each is taken apart: the bounds of nDCG may lie beyond what is reached.
            beyond = (
                name.startswith("unjudged") and measure.startswith("nDCG") and told is not None and expected is not None
            )
            wider = beyond and (told > expected if name == "unjudged_best" else told < expected)
            assert wider or near(told, expected), (part, measure, name)
        if measure.startswith("recall") and view == "filtered" and queries:
            figure = arm.over_readable_gold[part][measure]
            mean, n = oracle.over_readable(measure, queries, plain)
            assert (near(figure.mean, mean), figure.n) == (True, n), (part, measure)


def check_denominators(oracle: Oracle, result: tp.Result) -> None:
    for part, (view, queries) in oracle.slices.items():
        found = result.summary.denominators[part]
        gold = [(q, d) for q in queries for d, g in oracle.judged[q["_id"]].items() if g >= 1]
        judged = [q for q in queries if oracle.judged[q["_id"]] and not q["no_answer"]]
        assert found.queries == len(queries)
        assert found.left_out == len(oracle.queries) - len(queries)
        assert found.scored == sum(oracle.scored(q, view) for q in queries)
        assert found.no_relevant == sum(not oracle.scored(q, view) for q in judged)
        assert found.not_judged == sum(not oracle.judged[q["_id"]] and not q["no_answer"] for q in queries)
        assert found.no_answer == sum(q["no_answer"] for q in queries)
        assert found.scored + found.no_relevant + found.not_judged + found.no_answer == len(queries)
        assert found.few_eligible == sum(len(oracle.eligible(q, view)) <= oracle.k for q in queries)
        assert found.gold == len(gold)
        assert found.gold_absent == sum(d not in oracle.documents for _, d in gold)
        assert found.gold_filtered == sum(d in oracle.documents and not oracle.admits(q, d, view) for q, d in gold)
    assert list(result.summary.not_judged) == [
        q["_id"] for q in oracle.queries if not oracle.judged[q["_id"]] and not q["no_answer"]
    ]


def check_tables(oracle: Oracle, made: dict, result: tp.Result, full: Full) -> None:
    rows: dict[tuple[str, str, str], list[tuple]] = {}
    for row in result.rankings.to_pylist():
        key = row["candidate"], row["slice"], row["query"]
        rows.setdefault(key, []).append((row["rank"], row["document"], row["score"], row["grade"]))
    values = {
        (row["candidate"], row["slice"], row["query"], row["measure"]): row["value"]
        for row in result.per_query.to_pylist()
    }
    arms = [arm["id"] for arm in made["arms"]]
    gold = []
    for part, (view, queries) in oracle.slices.items():
        for q in queries:
            for name in full:
                hits = full[name][view][q["_id"]][: oracle.depth]
                grades = oracle.grades(q, hits)
                expected = [(i + 1, d, s, g) for i, ((d, s), g) in enumerate(zip(hits, grades, strict=True))]
                assert rows.pop((name, part, q["_id"]), []) == expected, (name, part, q["_id"])
                for measure in oracle.measures:
                    value = oracle.value(measure, grades, list(oracle.relevant(q, view).values()))
                    value = value if oracle.scored(q, view) else None
                    found = values.pop((name, part, q["_id"], measure))
                    assert near(found, None if value is None else value[0] / value[1])
            for d, g in sorted(oracle.judged[q["_id"]].items(), key=lambda item: item[0].encode()):
                if g >= 1:
                    by = [a for a in arms if d in [h for h, _ in full[a][view][q["_id"]][: oracle.k]]]
                    state = "found" if by else "missed"
                    if d not in oracle.documents:
                        state = "absent"
                    elif not oracle.admits(q, d, view):
                        state = "filtered"
                    gold.append((part, q["_id"], d, g, state, by, shown(made, oracle.documents.get(d))))
    assert not rows
    assert not values
    assert [tuple(row.values()) for row in result.gold.to_pylist()] == gold


def shown(made: dict, document: dict | None) -> bool:
    """Whether the readers, which are all the groups, may see it; nobody knows who may read a document that is absent."""
    return made["public"] or (document is not None and set(document["groups"]) == set(GROUPS))


def check_decision(oracle: Oracle, made: dict, rule: dict, result: tp.Result, full: Full) -> None:
    found = result.summary.decision
    view, queries = oracle.slices[rule["slice"]]
    deciding = [q for q in queries if oracle.scored(q, view) and (not made["split"] or q["split"] == "test")]
    assert found.queries == len(deciding)
    assert found.clusters == len({q["cluster"] or q["_id"] for q in deciding})
    assert found.split == ("test" if made["split"] else None)
    arms = [arm["id"] for arm in made["arms"]]
    assert list(found.order) == arms, "by dimension"
    means, low, high = {}, {}, {}
    for name in arms:
        hits = full[name][view]
        means[name] = oracle.mean(
            rule["measure"], deciding, view, {q["_id"]: oracle.grades(q, hits[q["_id"]]) for q in deciding}
        )[0]
        low[name] = [oracle.value(rule["measure"], *worst(oracle, q, view, hits)) for q in deciding]
        high[name] = [oracle.value(rule["measure"], *best(oracle, q, view, hits)) for q in deciding]
        standing = next(s for s in found.standings if s.id == name)
        assert near(standing.mean, means[name])
    point = next(name for name in arms if max(means.values()) - means[name] <= rule["gap"] + 1e-12)
    assert found.point_choice == point
    bounded = {s.may_lose_at_most is not None for s in found.standings}
    if rule["measure"].startswith("pooled"):
        assert bounded == {False}, "a query may weigh more than the imagined one"
        assert (found.least_queries, found.settle_queries, found.settle_low, found.settle_high) == (None,) * 4
        assert found.settle_gap is None
    else:
        assert bounded == {True}
    if made["pooled"] or rule["confidence"] == "point":
        if rule["confidence"] == "point":
            assert found.choice in (None, point)
            assert found.verdict == ("decided" if found.choice else "undecided")
        return
    values = [[[t for t, _ in low[name]], [t for t, _ in high[name]]] for name in arms]
    sizes = Counter(q["cluster"] or q["_id"] for q in queries if oracle.scored(q, view))
    bounds = deficit_bounds(
        values,
        [q["cluster"] or q["_id"] for q in deciding],
        max(sizes.values()),
        confidence=rule["confidence"],
    )
    asked = Counter(q["cluster"] or q["_id"] for q in deciding)
    floor = least_loss(list(asked.values()), max(sizes.values()), rule["confidence"])
    walking = True
    for c, standing in enumerate(found.standings):
        upper = max(bounds[c, j][0] for j in range(len(arms)) if j != c)
        lower = max(bounds[c, j][1] for j in range(len(arms)) if j != c)
        assert standing.may_lose_at_most == pytest.approx(min(max(upper, floor, 0.0), 1.0), abs=0.03)
        if not walking:
            assert standing.state == "not tested"
            continue
        # Where a bound lies on the gap, the draws decide, and both answers are right.
        if abs(max(upper, floor) - rule["gap"]) > 0.03 and abs(lower - rule["gap"]) > 0.03:
            expected = "in" if max(upper, floor) <= rule["gap"] else "out" if lower > rule["gap"] else "open"
            assert standing.state == expected
        walking = standing.state == "out"
        if standing.state == "in":
            assert found.choice == standing.id
        elif standing.state == "open":
            assert (found.verdict, found.choice, found.open) == ("undecided", None, (standing.id,))


def worst(oracle: Oracle, q: dict, view: str, hits: dict[str, Hits]) -> tuple[list, list[int]]:
    return oracle.extreme(q, hits[q["_id"]], best=False), list(oracle.relevant(q, view).values())


def best(oracle: Oracle, q: dict, view: str, hits: dict[str, Hits]) -> tuple[list, list[int]]:
    return oracle.extreme(q, hits[q["_id"]], best=True), list(oracle.relevant(q, view).values())
