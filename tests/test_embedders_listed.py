"""`tiepoint embedders` lists every embedder as it is; docs/embedders.md names each, and its own model runs as shown."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import tiepoint as tp
from sample import write_sample
from tiepoint.embedders import embedder_names, installed_candidates

DOCS = Path(__file__).parents[1] / "docs" / "embedders.md"


def test_the_command_lists_every_embedder_and_the_contracts_that_are_ready(command):
    told = command("embedders")
    assert told.code == 0
    heads = re.findall(r"(?m)^(\w+)  \((.*)\)$", told.out)
    assert [name for name, _ in heads] == embedder_names()
    said = json.loads(command("embedders", "--json").out)["embedders"]
    for entry, (_, state) in zip(said, heads, strict=True):
        assert entry["says"]
        assert state == ("installed" if entry["installed"] else f"not installed: pip install {entry['install']}")
        for one in entry["ready"]:
            contract = tp.Contract(**one["contract"])
            assert contract.signature() == one["signature"]
            assert one["id"] in told.out
    ready_ids = [one["id"] for entry in said for one in entry["ready"]]
    assert ready_ids == [c.id for c in installed_candidates()]


def test_an_embedder_whose_package_is_missing_is_listed_with_what_installs_it(command, monkeypatch):
    monkeypatch.setattr("tiepoint.workflows.embedders.find_spec", lambda name: None)
    out = command("embedders").out
    assert "wordllama  (not installed: pip install 'tiepoint[wordllama]')" in out
    assert "model2vec  (not installed: pip install 'tiepoint[model2vec]')" in out
    assert "callable  (installed)" in out


def test_the_page_names_every_embedder():
    headings = "\n".join(re.findall(r"(?m)^## .*$", DOCS.read_text(encoding="utf-8")))
    assert [name for name in embedder_names() if f"`{name}`" not in headings] == []


def test_ones_own_model_takes_under_20_lines_and_runs_as_shown(tmp_path, command):
    blocks = dict(re.findall(r"```\w+ title=(\S+)\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL))
    assert sum(bool(line.strip()) for body in blocks.values() for line in body.splitlines()) < 20
    study = write_sample(tmp_path / "study")
    (study / "mymodel.py").write_text(blocks["mymodel.py"], encoding="utf-8")
    with (study / "study.toml").open("a", encoding="utf-8") as file:
        file.write("\n" + blocks["candidate"])
    try:
        told = command("bench", study, "--json", "--quiet")
    finally:
        sys.modules.pop("mymodel", None)
    assert told.code == 0, told.err
    (mine,) = json.loads(told.out)["candidates"]
    assert (mine["id"], mine["status"], mine["dimension"]) == ("mine", "measured", 256)
    assert mine["measures"]["unfiltered"]["recall@3"]["mean"] > 0
