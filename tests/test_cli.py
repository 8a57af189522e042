"""The command line: help that runs, one program under two names, exit codes, and what goes to which stream."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import typer.main

import tiepoint
from command import Command, process
from studies import PUBLIC, write_study
from tiepoint.cli import app, main
from tiepoint.core.candidate import Candidate

COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
INIT = sys.modules["tiepoint.cli.init"]
"""The module; `tiepoint.cli.init` is the command, which bears its name."""
PIPE = re.compile(r"\x1b|\r|[━╸╺]|-:--:--")
"""Colours, cursor movements and progress bars: none of them belongs on a pipe."""
MODULE = """
import numpy as np


def number(text):
    last = text.split()[-1]
    return int(last) if last.isdigit() else 0


def good(texts):
    vectors = np.full((len(texts), 256), 0.01, dtype=np.float32)
    for row, text in enumerate(texts):
        vectors[row, number(text)] += 1
    return vectors


def small(texts):
    return good(texts)[:, :200]


def bad(texts):
    return np.array([[1, len(text), number(text) * 7919 % 1009] for text in texts], dtype=np.float32)


def broken(texts):
    raise RuntimeError("no weights")
"""


def candidate(name: str, dimension: int, **contract: object) -> dict[str, object]:
    return {
        "id": f"{name}-{dimension}",
        "embedder": "callable",
        "contract": {
            "provider": "test",
            "model": name,
            "revision": "1",
            "dimension": dimension,
            "metric": "cosine",
            "normalized": False,
            "dtype": "float32",
            "query_role": "query",
            "document_role": "document",
            **contract,
        },
        "options": {"function": f"own:{name}"},
    }


GOOD, SMALL, BAD, BROKEN = candidate("good", 256), candidate("small", 200), candidate("bad", 3), candidate("broken", 4)


def made_study(
    folder: Path, candidates: Sequence[Mapping[str, object]], *, queries: int = 200, mark: str = "", **tables: object
) -> Path:
    """As many documents as questions, each question with one answer: the document of the same number."""
    columns = {"region": None, "subgroups": None, "rare": None, "cluster": None, "groups": None}
    written = write_study(
        folder,
        documents=[{"_id": f"d{mark}{i:03d}", "title": "sheet", "text": f"number {i}"} for i in range(queries)],
        questions=[{"_id": f"q{mark}{i:03d}", "text": f"which is {i}"} for i in range(queries)],
        judgements="".join(f"q{mark}{i:03d}\td{mark}{i:03d}\t1\n" for i in range(queries)),
        candidates=candidates,
        **{**PUBLIC, "corpus": {"acl": None, "region": None}, "queries": columns},  # type: ignore[arg-type]
        **{"decision": {"slice": "unfiltered", "prefer": ["dimension"]}, **tables},  # type: ignore[arg-type]
    )
    (written / "own.py").write_text(MODULE, encoding="utf-8")
    return written


# Help


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_shows_an_example_of_it(name: str, command: Command) -> None:
    answer = command(name, "--help")
    assert answer.code == 0
    assert answer.err == ""
    assert f"Example: tiepoint {name} " in answer.out.replace("\n", " ") + " "
    assert max(map(len, answer.out.splitlines())) <= 80
    for line in answer.out.partition("Options:")[2].splitlines():  # every option says what it does
        assert not re.fullmatch(r"\s+--\S+", line), line


def test_help_lists_every_command_with_a_whole_sentence(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = command("--help")
    assert answer.code == 0
    told = answer.out.partition("Commands:\n")[2]
    assert [name for name in COMMANDS if not re.search(rf"^  {name} +\S.*\.$", told, re.MULTILINE)] == []
    assert "..." not in told
    assert command().code == 2  # no command is a wrong call, and shows the help


def test_the_examples_in_the_help_run(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they stand in the help, one after the other, in a folder that has data/county."""
    ready = [
        Candidate(name, "callable", contract=of["contract"], options=of["options"])  # type: ignore[arg-type]
        for name, of in (("wordllama", GOOD), ("use", SMALL))
    ]
    monkeypatch.setattr(INIT, "installed_candidates", lambda: ready)
    monkeypatch.chdir(tmp_path)
    data = write_study(tmp_path / "data" / "county", documents=_numbered("d"), questions=_numbered("q", text_only=True))
    (data / "qrels.tsv").write_text("q1\td1\t2\nq2\td2\t1\n", encoding="utf-8")
    names = [
        "init",
        "check",
        "power",
        "bench",
        "show",
        "compare",
        "report",
        "embedders",
        "schema",
        "demo",
        "fixture",
        "audit",
    ]
    for name in names:
        shown = command(name, "--help").out.partition("Example: tiepoint ")[2]
        example = shown.partition("\n\n")[0].split()
        for result in (word for word in example if "/results/" in word):
            (recorded, *_) = (tmp_path / "county-archive" / "results").iterdir()
            if not Path(result).exists():
                shutil.copytree(recorded, result)
        answer = command(*example)
        codes = (0, 4) if name in ("bench", "audit") else (0,)  # two questions cannot decide
        assert answer.code in codes, (example, answer.err)
        (tmp_path / "county-archive" / "own.py").write_text(MODULE, encoding="utf-8")


def _numbered(letter: str, *, text_only: bool = False) -> list[dict[str, object]]:
    rows = [{"_id": f"{letter}{i}", "text": f"number {i}", "groups": ["staff"]} for i in range(1, 18)]
    return rows if text_only else [{**row, "title": "sheet"} for row in rows]


# One program


def test_tiepoint_and_python_m_tiepoint_are_the_same(tmp_path: Path) -> None:
    (script,) = entry_points(group="console_scripts", name="tiepoint")
    assert script.load() is main
    installed = Path(sys.executable).with_name("tiepoint")
    for given in (("--version",), ("bench", tmp_path / "nowhere"), ("bench", "--no-such-option")):
        one, other = process(*given), process(*given, program=(str(installed),))
        assert (one.code, one.out) == (other.code, other.out)
        assert one.err.replace("python -m tiepoint", "tiepoint") == other.err


def test_the_version_is_the_packages(command: Command) -> None:
    answer = command("--version")
    assert (answer.code, answer.out, answer.err) == (0, f"tiepoint {tiepoint.__version__}\n", "")


# Exit codes


def test_0_and_the_choice_when_it_is_decided(tmp_path: Path, command: Command) -> None:
    folder = made_study(tmp_path, [GOOD, SMALL, BAD])
    answer = command("bench", folder)
    (result,) = (folder / "results").glob("*/result.json")
    decision = json.loads(result.read_text(encoding="utf-8"))["decision"]
    assert (decision["verdict"], answer.code) == ("decided", 0), answer.out
    assert decision["choice"] == "small-200" or decision["choice"] == "good-256"
    assert decision["choice"] in answer.out


def test_0_when_one_candidate_alone_is_measured(tmp_path: Path, command: Command) -> None:
    answer = command("bench", made_study(tmp_path, [GOOD, BROKEN], queries=20))
    assert answer.code == 0
    assert "No decision" in answer.out
    assert "broken-4" in answer.out


def test_2_when_the_call_is_wrong(tmp_path: Path, command: Command) -> None:
    for given in (
        ("bench",),
        ("bench", tmp_path, "--frehs"),
        ("bnech", tmp_path),
        ("init", tmp_path, "extra", "--public"),
    ):
        answer = command(*given)
        assert answer.code == 2, given
        assert answer.out == ""
        assert "Traceback" not in answer.err
        assert answer.err


def test_3_when_nothing_could_be_measured(tmp_path: Path, command: Command) -> None:
    answer = command("bench", made_study(tmp_path, [BROKEN], queries=10))
    assert answer.code == 3
    assert "broken-4" in answer.out  # a result with its reason, and recorded
    assert "Recorded in" in answer.err


def test_3_when_no_embedder_is_installed(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    made_study(tmp_path / "data", [], queries=4)
    monkeypatch.setattr(INIT, "installed_candidates", list)
    answer = command("init", tmp_path / "new", "--from", tmp_path / "data", "--public")
    assert answer.code == 3
    assert answer.out == ""
    assert "pip install 'tiepoint[demo]'" in answer.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["results", "spaces"])
def test_3_when_it_cannot_write(name: str, tmp_path: Path, command: Command) -> None:
    folder = made_study(tmp_path, [{**GOOD, "cache": True}], queries=10)
    (folder / name).write_text("a file in the way", encoding="utf-8")
    answer = command("bench", folder)
    assert answer.code == 3
    assert answer.err.startswith("error: the ")
    assert "Traceback" not in answer.err
    assert str(folder / name) in answer.err


def test_4_when_it_is_undecided(tmp_path: Path, command: Command) -> None:
    answer = command("bench", made_study(tmp_path, [GOOD, SMALL, BAD], queries=12))
    assert answer.code == 4
    assert "Undecided" in answer.out


# Streams


def test_stdout_is_the_result_and_stderr_everything_else(tmp_path: Path) -> None:
    folder = made_study(tmp_path, [GOOD, BAD], queries=30)
    table = process("bench", folder)
    assert table.err.startswith("Recorded in ")
    assert len(table.err.splitlines()) == 1
    assert "Recorded in" not in table.out
    spoken = process("bench", folder, "--verbose")
    assert spoken.out.splitlines()[0] == table.out.splitlines()[0]
    assert "corpus.jsonl: JSON lines" in spoken.err
    assert "SHA-256 of corpus" in spoken.err
    quiet = process("bench", folder, "--quiet")
    assert quiet.err == ""
    assert quiet.code == table.code
    as_json = process("bench", folder, "--json")
    assert as_json.err.startswith("Recorded in ")
    told = json.loads(as_json.out)
    recorded = Path(as_json.err.removeprefix("Recorded in ").strip()) / "result.json"
    assert told == json.loads(recorded.read_text(encoding="utf-8"))
    assert {c["id"] for c in told["candidates"]} == {"good-256", "bad-3"}


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}, {"COLUMNS": "40"}])
def test_nothing_of_progress_or_colour_on_a_pipe(environment: Mapping[str, str], tmp_path: Path) -> None:
    answer = process("bench", made_study(tmp_path, [GOOD, BAD], queries=30), **environment)
    assert answer.code == 4
    assert not PIPE.search(answer.out), answer.out
    assert not PIPE.search(answer.err), answer.err
    assert max(map(len, answer.out.splitlines())) <= 100


def test_wide_ids_and_ids_of_many_scripts_break_nothing(tmp_path: Path, command: Command) -> None:
    """Long, wide, combining, right to left, with markup of every kind: shown as text, and the table stays a table."""
    mark = "漢字كتابة-e\u0301-[bold]<b>&|`*_" + "x" * 300
    long = {**GOOD, "id": "a-candidate-whose-name-is-longer-than-any-column-of-the-table"}
    folder = made_study(tmp_path, [long, BAD], queries=20, mark=mark)
    answer = command("bench", folder)
    assert answer.code == 4, answer.err
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= 100
    table = lines[: next(i for i, line in enumerate(lines) if line.startswith("Scored queries"))]
    assert str(long["id"]) in "".join(line[:24].strip() for line in table)  # folded, never cut
    assert [line.split()[-1] for line in table if re.search(r"\d\.\d{4}", line)][-2:] == ["baseline", "baseline"]
    (page,) = (folder / "results").glob("*/report.html")
    assert "[bold]<b>" not in page.read_text(encoding="utf-8")
    missing = [{"_id": f"d{mark}", "title": "", "text": ""}, {"_id": "d", "text": "number 1"}]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in missing), encoding="utf-8")
    refused = command("bench", folder)
    assert refused.code == 2
    assert f"d{mark}" in refused.err
