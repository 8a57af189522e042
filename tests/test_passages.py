"""Passages: hits collapse to their parent by best score before the cut, and a parent's own acl guards it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiepoint as tp
from sample import hashing
from test_search import GROUPS, REGIONS, contract, plain_score, queries_of
from tiepoint.core.corpus import Corpus
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.core.space import Space, Vectors
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.exact import search


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Corpus, Queries, Space]:
    """Passages of a few parents; some parents are documents themselves, some are not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    passages, parents = draw(st.integers(1, 16)), draw(st.integers(1, 5))
    ids = [f"{rng.integers(parents)}#{i:02d}" for i in range(passages)]
    above: list[str | None] = [i.partition("#")[0] for i in ids]
    for parent in range(parents):
        if rng.random() < 0.4:
            ids.append(str(parent))
            above.append(None if rng.random() < 0.5 else str(parent))
    n = len(ids)

    def some(names: tuple[str, ...], p: float) -> list[str]:
        return [name for name in names if rng.random() < p]

    corpus = Corpus.from_columns(
        ids,
        ["t"] * n,
        acl=None if draw(st.booleans()) else [some(GROUPS, 0.7) for _ in ids],
        regions=[some(REGIONS, 0.5) for _ in ids],
        parents=above,
    )
    asked = queries_of([frozenset(some(GROUPS, 0.6)) for _ in range(3)], [tuple(some(REGIONS, 0.4)) for _ in range(3)])
    vectors = rng.integers(-2, 3, size=(n + 3, 4)).astype(np.float32)
    vectors[~vectors.any(axis=1), 0] = 1
    row = np.where(rng.random(n) < 0.1, -1, np.arange(n))
    return corpus, asked, Space(contract("dot", 4), Vectors(vectors[:n], row), Vectors(vectors[n:], np.arange(3)))


def plain_parents(corpus: Corpus, queries: Queries, space: Space, i: int) -> tuple[list[tuple[str, float]], int]:
    rows = corpus.table.to_pylist()
    parents = [corpus.units.ids[u] for u in corpus.units.of_row]
    readable = [corpus.public or bool(set(r["acl"]) & queries.groups[i]) for r in rows]
    own = {r["id"]: may for r, may in zip(rows, readable, strict=True)}

    def open_to(parent: str) -> bool:
        if parent in own:
            return own[parent]
        return all(may for may, p in zip(readable, parents, strict=True) if p == parent)

    best: dict[str, float] = {}
    eligible = set()
    for n, row in enumerate(rows):
        inside = not queries.regions[i] or set(row["regions"]) & set(queries.regions[i])
        if not (readable[n] and inside and open_to(parents[n])):
            continue
        eligible.add(parents[n])
        if space.documents.row[n] >= 0:
            found = plain_score(space.queries.array[i], space.documents.array[space.documents.row[n]], "dot")
            best[parents[n]] = max(found, best.get(parents[n], -np.inf))
    return sorted(best.items(), key=lambda hit: (-hit[1], hit[0])), len(eligible)


@settings(max_examples=150, deadline=None)
@given(world=worlds(), depth=st.integers(1, 6))
def test_parents_are_ranked_by_their_best_eligible_passage(world: tuple[Corpus, Queries, Space], depth: int) -> None:
    corpus, queries, space = world
    run = search(space, Eligibility.of(corpus, queries, Regions(frozenset(REGIONS)), filtered=True), depth=depth)
    for i in range(len(queries)):
        expected, eligible = plain_parents(corpus, queries, space, i)
        hits = [(corpus.units.ids[d], s) for d, s in zip(run.document[i], run.score[i], strict=True) if d >= 0]
        assert hits == expected[:depth]
        assert run.eligible[i] == eligible


def write(folder: Path, rows: list[dict[str, object]], judged: list[str], corpus: str, groups: str = "") -> Path:
    folder.mkdir(parents=True)
    queries = [{"_id": "q", "text": "bats at Eggleston", "groups": ["planning"]}]
    for name, lines in (("corpus", rows), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in lines), encoding="utf-8")
    (folder / "qrels.tsv").write_text("".join(f"q\t{d}\t1\n" for d in judged), encoding="utf-8")
    (folder / "study.toml").write_text(
        '[study]\nname = "p"\nk = 3\nmeasures = ["recall@3", "nDCG@3"]\n'
        f'[corpus]\npath = "corpus.jsonl"\nid = "_id"\ntext = "{{text}}"\n{corpus}\n'
        f'[queries]\npath = "queries.jsonl"\nid = "_id"\ntext = "text"\n{groups}\n'
        '[qrels]\npath = "qrels.tsv"\n'
        f"[access]\npublic = {'false' if groups else 'true'}\n"
        '[decision]\nmeasure = "nDCG@3"\nslice = "unfiltered"\n',
        encoding="utf-8",
    )
    return folder


PASSAGES = [
    {"_id": f"a#{n}", "parent": "a", "text": f"bats at Eggleston, part {n}", "groups": ["planning"]} for n in range(3)
] + [{"_id": "b#0", "parent": "b", "text": "a culvert at Nenthead", "groups": ["planning"]}]


def test_V005_three_passages_of_one_parent_are_one_hit(tmp_path: Path) -> None:
    study = tp.load_study(write(tmp_path / "s", PASSAGES, ["a", "gone"], 'parent = "parent"'))
    found = tp.bench(study, candidates=[hashing(64)]).summary.candidates[0].measures["unfiltered"]
    assert found["recall@3"].mean == pytest.approx(0.5)
    assert found["nDCG@3"].mean == pytest.approx(0.613, abs=5e-4)


def test_V020_parent_judgements_without_a_declared_parent_are_refused_with_the_overlap(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", PASSAGES, ["a", "b"], "")
    with pytest.raises(tp.InputError, match="0 of 2 judged document ids") as caught:
        tp.load_study(folder)
    assert 'parent = "parent"' in str(caught.value), "the mend is named: the column parent holds both judged ids"


def test_V109_a_readable_passage_of_a_closed_parent_is_never_ranked(tmp_path: Path) -> None:
    closed = [
        {"_id": "a", "parent": None, "text": "the whole report", "groups": ["ecology"]},
        *PASSAGES,
        {"_id": "c#0", "parent": "c", "text": "bats at Eggleston again", "groups": ["planning"]},
        {"_id": "c#1", "parent": "c", "text": "what only ecology may read", "groups": ["ecology"]},
    ]
    table = 'parent = "parent"\nacl = "groups"'
    study = tp.load_study(write(tmp_path / "s", closed, ["b"], table, 'groups = "groups"'))
    result = tp.bench(study, candidates=[hashing(64)])
    assert set(result.rankings.column("document").to_pylist()) == {"b"}
    gold = write(tmp_path / "gold", closed, ["b", "a", "c"], table, 'groups = "groups"')
    with pytest.raises(tp.InputError, match="2 relevant documents may not be read"):
        tp.load_study(gold)


def test_a_parent_that_is_itself_a_passage_is_refused(tmp_path: Path) -> None:
    chain = [*PASSAGES, {"_id": "a", "parent": "z", "text": "x", "groups": []}]
    with pytest.raises(tp.InputError, match="itself a passage"):
        tp.load_study(write(tmp_path / "s", chain, ["b"], 'parent = "parent"'))


def test_traveldest_passages_run(traveldest: Path, tmp_path: Path) -> None:
    """The real passages, 6,192 of 774 articles, with judgements of the articles."""
    folder = write(tmp_path / "s", PASSAGES, ["a"], 'parent = "parent"')
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    for name, file in (("corpus.jsonl", "passages.jsonl"), ("queries.jsonl",) * 2, ("qrels.tsv",) * 2):
        toml = toml.replace(f'"{name}"', json.dumps(str(traveldest / file)))
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    study = tp.load_study(folder)
    assert (len(study.corpus), len(study.corpus.units.ids)) == (6192, 774)
    result = tp.bench(study, candidates=[hashing(128)])
    assert result.summary.candidates[0].measures["unfiltered"]["nDCG@3"].n == 577
    assert set(result.rankings.column("document").to_pylist()) <= set(study.corpus.units.ids)
