"""What the questions can settle, before a run: the command, its spreads, and its field cases."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tiepoint as tp
from command import Command
from recorded import benched, change, runnable
from tiepoint.core.power import Power
from tiepoint.errors import InputError
from tiepoint.formats.study_toml.write import toml_value
from tiepoint.stats.enough import fewest
from tiepoint.stats.paired import least_units
from tiepoint.stats.population import MOST_ROWS, SINGLE, Mix, Population
from tiepoint.stats.power import Supposed
from tiepoint.stats.resample import stream
from tiepoint.stats.settle import how_often, rounded_up
from tiepoint.workflows.intake.load import load_study
from tiepoint.workflows.power import power
from tiepoint.workflows.spreads import ASSUMED, suppositions

ARCHIVE = 240
CAND = """
[[candidate]]
id = "{id}"
embedder = "callable"
options = {{ function = "own:{id}" }}
contract = {{ provider = "test", model = "{id}", revision = "1", dimension = {dim}, metric = "dot", normalized = false, \
dtype = "float32", query_role = "query", document_role = "document" }}
"""
OWN = """import numpy as np

def _encode(texts, dim, misses):
    vectors = np.full((len(texts), dim), 1e-3, dtype=np.float32)
    for row, text in enumerate(texts):
        if text.isdigit():
            vectors[row, int(text) % 20] = 1
        elif text[:1] == "q" and text[1:].isdigit():
            number = int(text[1:])
            vectors[row, number % 20] = 1
            if number % misses == 0:
                vectors[row, (number + 1) % 20] = 1.5
    return vectors

def small(texts): return _encode(texts, 20, 7)
def middle(texts): return _encode(texts, 30, 11)
def large(texts): return _encode(texts, 40, 13)
"""


def archive(
    folder: Path,
    *,
    queries: int = ARCHIVE,
    dev: int = 0,
    names: tuple[str, ...] = ("small", "large"),
    subgroups: int = 3,
    clusters: tuple[int, ...] = (),
) -> Path:
    """Twenty documents and questions of one relevant document each; every candidate misses a few of its own.

    clusters   queries of each of the first clusters; the other queries stand alone
    """
    tables = {
        "study": {"name": "archive", "k": 3, "measures": ["RR@3"], "seed": 7},
        "corpus": {"path": "corpus.jsonl", "id": "_id", "text": "{text}"},
        "queries": {
            "path": "queries.jsonl",
            "id": "_id",
            "text": "text",
            "subgroups": "subgroups",
            "split": "split",
            "cluster": "cluster",
        },
        "qrels": {"path": "qrels.tsv"},
        "access": {"public": True},
        "decision": {"measure": "RR@3", "slice": "unfiltered", "gap": 0.05, "prefer": ["dimension"]},
    }
    folder.mkdir(parents=True)
    split = {i: "dev" if i < dev else "test" for i in range(queries)} if dev else dict.fromkeys(range(queries))
    of = dict(enumerate(f"seed {c}" for c, size in enumerate(clusters) for _ in range(size)))
    documents = [{"_id": f"d{i:02}", "text": str(i)} for i in range(20)]
    asked = [
        {
            "_id": f"q{i:03}",
            "text": f"q{i}",
            "subgroups": [f"part {i % subgroups:02}"],
            "split": split[i],
            "cluster": of.get(i),
        }
        for i in range(queries)
    ]
    for name, rows in (("corpus", documents), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines = "".join(f"q{i:03}\td{i % 20:02}\t1\n" for i in range(queries))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + lines, encoding="utf-8")
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    text = "".join(
        f"[{table}]\n" + "".join(f"{key} = {toml_value(value)}\n" for key, value in keys.items())
        for table, keys in tables.items()
    )
    dims = {"small": 20, "middle": 30, "large": 40}
    text += "".join(CAND.format(id=name, dim=dims[name]) for name in names)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder


def test_power_tells_the_chance_by_number_of_queries_and_what_it_assumed(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s")
    answer = command("power", folder)
    assert (answer.code, answer.err) == (0, "")
    text = " ".join(answer.out.split())
    assert "below 59 independent queries no candidate can be shown inside it" in text
    assert "assumed, not measured: the queries name no dev split" in text
    assert text.count("would decide rightly four times in five") == 3
    found = json.loads(command("power", folder, "--json").out)
    assert [one["spread"]["source"] for one in found["outlooks"]] == ["assumed"] * 3
    first = found["outlooks"][0]
    shares = {row["clusters"]: row["decides"] for row in first["rows"]}
    assert shares[50] == 0 < shares[100] < shares[2000] == 1
    assert first["own"]["clusters"] == ARCHIVE
    assert set(found["definitions"]) >= {"decides", "right", "spread", "needed"}
    assert not (folder / "results").exists()
    assert not (folder / "spaces").exists(), "nothing was encoded"


def test_the_named_number_decides_four_times_in_five_and_the_detectable_losses_lie_around_the_gap(
    tmp_path: Path,
) -> None:
    study = load_study(archive(tmp_path / "s"))
    (found,) = power(study, spread=0.15, unequal=0.3).outlooks
    assert found.spread.source == "stated"
    assert found.needed > 59
    again = chance_at(study, found.needed, spread=0.15, unequal=0.3)
    assert again == pytest.approx(0.8, abs=0.10)
    assert 0 <= found.shown_inside < study.rule.gap < found.shown_outside < 0.2
    beyond = power(study, difference=found.shown_outside, spread=0.15, unequal=0.3)
    assert beyond.outlooks[0].own.right == pytest.approx(0.8, abs=0.12)


def chance_at(study: tp.Study, number: int, **how: float) -> float:
    (one,) = suppositions(study, **how)
    supposed = Supposed(one.population(SINGLE), study.rule.gap, study.rule.level)
    return supposed.chance(number, 0.0, rng=stream(9), samples=1_000).right


def test_uneven_clusters_are_as_uneven_in_the_samples_as_in_the_study() -> None:
    """190 single queries and 10 clusters of 4: with fewer than 200 clusters nothing can be in, so no chance says it could."""
    mix = Mix.of(np.repeat([1.0, 4.0], [190, 10]), 4.0)
    for sd, unequal in ASSUMED:
        supposed = Supposed(Population.stated(sd, unequal, 2, rng=stream(1), mix=mix), 0.05, 0.95)
        assert supposed.fewest == 200
        chances = [supposed.chance(n, 0.0, rng=stream(2), samples=400).decides for n in (100, 150, 199, 200)]
        assert chances[:3] == [0, 0, 0]
        assert 0.1 < chances[3] < 0.5
        assert supposed.needed(0.0, rng=stream(3)) > 200
    wider = Mix.of(mix.sizes, 6.0)
    supposed = Supposed(Population.stated(0.2, 0.5, 2, rng=stream(1), mix=wider), 0.05, 0.95)
    assert supposed.fewest > 250, "another split has a cluster of 6"
    assert supposed.chance(250, 0.0, rng=stream(2)).decides == 0


def test_samples_have_no_more_large_clusters_than_their_share() -> None:
    mix = Mix.of(np.repeat([1.0, 2.0, 5.0], [7, 2, 1]), 5.0)
    assert mix.numbers(10).tolist() == [7, 2, 1]
    assert mix.numbers(9).tolist() == [7, 2, 0]
    assert mix.numbers(1).tolist() == [1, 0, 0]
    population = Population.stated(0.2, 0.5, 3, rng=stream(1), mix=mix)
    for difference in (0.0, 0.05):
        share = population.shares(difference)
        counts = population.drawn(40, share, rng=stream(2), samples=50)
        of_size = [counts[:, population.units.size == size].sum(axis=1) for size in (1, 2, 5)]
        assert [set(of.tolist()) for of in of_size] == [{28}, {8}, {4}]
        means = (share @ population.units.mid[:, 1:]) / (share @ population.units.size)
        assert means == pytest.approx(difference, abs=1e-8)


def test_power_and_check_never_contradict_the_least_number(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", clusters=(4,) * 15)
    found = json.loads(command("power", folder, "--json").out)
    assert (found["clusters"], found["largest_cluster"], found["least"]) == (195, 4, 188)
    for one in found["outlooks"]:
        assert all(row["decides"] == 0 for row in one["rows"] if row["clusters"] < 188)
        assert one["needed"] >= 188
        assert 0.1 < one["own"]["decides"] < 0.8
    small = [group for group in found["groups"] if group["kind"] == "subgroup"]
    assert all(group["clusters"] < group["least"] < group["needed"] and group["own"]["decides"] == 0 for group in small)
    checked = json.loads(command("check", folder, "--json").out)["deciding"]
    assert (checked["clusters"], checked["least"], checked["enough"]) == (195, 188, True)
    assert list(checked["chances"].values()) == pytest.approx([one["own"]["decides"] for one in found["outlooks"]])


def test_the_largest_cluster_is_that_of_any_split(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", dev=40, clusters=(5,))
    found = json.loads(command("power", folder, "--json").out)
    assert (found["clusters"], found["largest_cluster"]) == (200, 5)
    assert found["least"] == least_units(0.05, 0.95, np.ones(200), 5.0) > 200
    assert all(one["own"]["decides"] == 0 for one in found["outlooks"])
    checked = json.loads(command("check", folder, "--json").out)["deciding"]
    assert (checked["least"], checked["enough"]) == (found["least"], False)
    assert set(checked["chances"].values()) == {0}


def test_the_measured_spread_is_around_the_mean() -> None:
    """One that is always 0.3 ahead, give or take 0.05, spreads with 0.05 and not with 0.3."""
    away = np.random.default_rng(1).normal(0.3, 0.05, 120)
    values = np.stack([np.zeros(120), away], axis=1)
    population = Population.measured(values, np.arange(120))
    plain = population.shares(0.0)
    assert np.sqrt(plain @ population.units.mid[:, 1] ** 2) == pytest.approx(away.std())
    assert Supposed(population, 0.05, 0.95).needed(0.0, rng=stream(1)) < 80


def test_a_loss_that_no_query_could_make_is_not_shown() -> None:
    supposed = Supposed(Population.stated(0.02, 0.5, 2, rng=stream(1)), 0.05, 0.95)
    assert supposed.population.shares(0.04) is None
    assert supposed.shown_inside(150, rng=stream(2)) == pytest.approx(0.02 / 0.5**0.5, abs=0.001)
    assert supposed.shown_outside(150, rng=stream(2)) is None


def test_too_few_dev_queries_tell_no_spread(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", dev=19)
    benched(command, folder)
    (one, *_) = power(load_study(folder)).outlooks
    assert one.spread.source == "assumed"
    assert "on 20 independent dev queries" in one.spread.sentence


def test_measured_clusters_are_queries_of_one_dev_cluster() -> None:
    values = np.stack([np.zeros(6), [0.0, 0.0, 0.0, 0.6, 0.6, -0.3]], axis=1)  # their mean is 0.15
    mix = Mix.of(np.array([1.0, 2.0, 4.0]), 4.0)
    population = Population.measured(values, np.array([0, 0, 0, 1, 1, 2]), mix)
    of_size = [population.units.mid[population.units.size == size, 1] for size in (1, 2, 4)]
    for size, sums in zip((1, 2, 4), of_size, strict=True):
        assert sums == pytest.approx(size * np.array([-0.45, -0.15, 0.15, 0.45])[[0, 1, 2, 3]])
    mixed = Population.measured(values, np.array([0, 0, 1, 1, 1, 2]), mix)
    sums = mixed.units.mid[mixed.units.size == 2, 1]
    assert np.isclose(sums, 0.9).any(), "the two of 0.6 next to each other"
    assert np.isclose(sums, 0.3).any(), "0.6 and the 0 of its own cluster"
    many = np.random.default_rng(2).random((4_000, 2))
    assert len(Population.measured(many, np.arange(4_000), mix).units.size) <= MOST_ROWS


def test_a_number_is_rounded_up_by_less_than_a_twentieth_and_looked_at_closer_only_where_in_doubt() -> None:
    told = {
        7: 7,
        59: 59,
        99.5: 100,
        101: 105,
        149: 150,
        199: 200,
        201: 210,
        1_920: 1_950,
        27_887: 28_000,
        999_999: 1_000_000,
    }
    assert {n: rounded_up(n) for n in told} == told
    assert all(n <= rounded_up(n) < 1.05 * n + 1 for n in range(1, 20_000))
    asked: list[int] = []

    def holding(share: float) -> float:
        def held(samples: int) -> np.ndarray:
            asked.append(samples)
            return np.arange(samples) < share * samples

        return how_often(held)

    assert [holding(share) for share in (0.3, 1.0, 0.75, 0.85)] == pytest.approx([0.3, 1.0, 0.75, 0.85])
    assert asked == [60, 60, 60, 140, 60, 140]


def test_only_queries_that_decide_count_for_a_group(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", queries=80, dev=40, subgroups=1)
    assert command("bench", folder, "--quiet").code == 4
    (result,) = (folder / "results").iterdir()
    summary = json.loads((result / "result.json").read_text(encoding="utf-8"))
    size = summary["subgroups"]["part 00"]["unfiltered"]
    assert (size["queries"], size["scored"], size["clusters"]) == (80, 80, 40)
    assert (size["enough"], size["least"]) == (False, 59)
    assert (summary["decision"]["clusters"], summary["decision"]["least_queries"]) == (40, 59)
    (group,) = json.loads(command("power", folder, "--json").out)["groups"]
    assert (group["clusters"], group["least"]) == (40, 59)


def test_fewer_than_20_independent_queries_never_decide(tmp_path: Path, command: Command) -> None:
    folder = change(archive(tmp_path / "s", queries=24, dev=5, subgroups=1), ("gap = 0.05", "gap = 0.9"))
    found = json.loads(command("power", folder, "--json").out)
    assert (found["clusters"], found["least"], found["groups"][0]["least"]) == (19, 20, 20)
    assert all(one["own"]["decides"] == 0 and one["needed"] == 20 for one in found["outlooks"])
    checked = json.loads(command("check", folder, "--json").out)["deciding"]
    assert (checked["least"], checked["enough"], checked["smallest_gap"]) == (20, False, None)
    assert command("bench", folder, "--quiet").code == 4
    (result,) = (folder / "results").iterdir()
    summary = json.loads((result / "result.json").read_text(encoding="utf-8"))
    assert summary["decision"]["verdict"] == "undecided"
    assert "Fewer than 20 independent queries decide nothing" in summary["decision"]["sentence"]
    assert "not even a million" not in (result / "report.md").read_text(encoding="utf-8")
    size = summary["subgroups"]["part 00"]["unfiltered"]
    assert (size["clusters"], size["enough"], size["least"]) == (19, False, 20)
    assert fewest(0.9, "point") == fewest(0.9, 0.95) == 20
    assert fewest(0.0, 0.95) is None


def test_the_spread_of_dev_queries_is_taken_from_the_latest_result(tmp_path: Path, command: Command) -> None:
    folder = archive(tmp_path / "s", dev=80)
    why = power(load_study(folder)).outlooks[0].spread
    assert why.source == "assumed"
    assert "no result under results/" in why.sentence
    result = benched(command, folder)
    (one,) = power(load_study(folder)).outlooks
    assert one.spread.source == "measured"
    assert f"80 dev queries, 80 independent, in the result {result.name}" in one.spread.sentence
    rows = tp.load_result(result).per_query.to_pandas()
    dev = rows[(rows.slice == "unfiltered") & (rows["query"] < "q080")].pivot(
        index="query", columns="candidate", values="value"
    )
    away = (dev["large"] - dev["small"]).to_numpy()
    assert one.spread.sd == pytest.approx(away.std())
    assert abs(away.mean()) > 0.01, "or the root mean square would do as well"
    assert one.spread.unequal == pytest.approx((away != 0).mean())
    assert one.own.clusters == ARCHIVE - 80, "the test queries decide, and dev alone says how they spread"
    checked = json.loads(command("check", folder, "--json").out)["deciding"]
    assert checked["smallest_gap"] == pytest.approx(1 - 0.05 ** (1 / (ARCHIVE - 80)))
    (words,) = checked["chances"]
    assert words.startswith("measured, spread")
    assert checked["chances"][words] == pytest.approx(one.own.decides)


def test_a_difference_that_too_few_queries_could_make_is_said_to_be_impossible(
    tmp_path: Path, command: Command
) -> None:
    answer = command("power", archive(tmp_path / "s"), "--spread", "0.05", "--unequal", "0.01", "--difference", "0.6")
    assert answer.code == 0
    assert "no true difference of 0.6 is possible" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--spread", "0.9", "--unequal", "0.5"), "--spread 0.9"),
        (("--spread", "0"), "--spread 0"),
        (("--unequal", "0"), "--unequal 0"),
        (("--difference", "1.5"), "--difference 1.5"),
    ],
)
def test_numbers_that_cannot_be_are_refused(
    tmp_path: Path, command: Command, options: tuple[str, ...], said: str
) -> None:
    answer = command("power", archive(tmp_path / "s"), *options)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert "fix:" in answer.err


def test_a_rule_by_point_estimate_has_no_power(tmp_path: Path, command: Command) -> None:
    folder = change(archive(tmp_path / "s"), ("gap = 0.05", 'gap = 0.05\nconfidence = "point"'))
    answer = command("power", folder)
    assert (answer.code, answer.out) == (2, "")
    assert "it always decides, and is never sure" in answer.err


def test_uneven_clusters_and_a_difference_on_the_gap_are_noted(tmp_path: Path) -> None:
    found: Power = power(load_study(runnable(tmp_path / "s", public=True)), difference=0.02)
    assert found.largest_cluster == 2
    assert found.least > least_units(0.02, 0.95)
    assert any("the clusters are uneven" in note for note in found.notes)
    assert any("on the gap itself is never settled" in note for note in found.notes)
    assert all(one.needed is None for one in found.outlooks)


def test_the_same_study_has_the_same_power(tmp_path: Path) -> None:
    study = load_study(archive(tmp_path / "s"))
    assert power(study, spread=0.2) == power(study, spread=0.2)
    assert power(replace(study, seed=8), spread=0.2) != power(study, spread=0.2)
    with pytest.raises(InputError, match="lies outside"):
        power(study, difference=-1.0)


def test_V027_declared_tests_are_counted_and_small_subgroups_do_not_decide(tmp_path: Path, command: Command) -> None:
    """12 subgroups, 3 models, 40 queries: nothing is called on so little, and everything says what it would take."""
    folder = archive(tmp_path / "s", queries=40, subgroups=12, names=("small", "middle", "large"))
    answer = command("bench", folder, "--quiet")
    assert answer.code == 4, "too few queries to decide is an answer"
    (result,) = (folder / "results").iterdir()
    summary = json.loads((result / "result.json").read_text(encoding="utf-8"))
    decision = summary["decision"]
    assert decision["verdict"] == "undecided"
    assert decision["tests"] == 2 * 2 * sum(s["state"] != "not tested" for s in decision["standings"]) > 0
    sizes = [of["unfiltered"] for of in summary["subgroups"].values()]
    assert len(sizes) == 12
    assert all((size["enough"], size["least"]) == (False, 59) for size in sizes)
    report = (result / "report.md").read_text(encoding="utf-8")
    assert sum(report.count(f"too few to decide: {n} of 59 needed") for n in {size["clusters"] for size in sizes}) == 12
    assert f"Tested: {decision['tests']} one-sided hypotheses" in report
    assert "not corrected for their number" in report
    assert "Holm's first step" in summary["definitions"]["tests"]
    outlook = json.loads(command("power", folder, "--spread", "0.2", "--json").out)
    assert outlook["least"] == 59
    groups = [group for group in outlook["groups"] if group["kind"] == "subgroup"]
    assert len(groups) == 12
    assert all(group["clusters"] <= 4 and group["least"] == 59 and group["own"]["decides"] == 0 for group in groups)
    assert all(group["needed"] == outlook["outlooks"][0]["needed"] > 59 for group in groups)
    assert outlook["outlooks"][0]["shown_inside"] is None, "no loss at all can be shown to lie inside"
    assert outlook["outlooks"][0]["shown_outside"] > 0.05, "the least difference that so few queries detect"
