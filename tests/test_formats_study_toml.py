"""study.toml: where its keys stand, and that what is written reads back."""

from __future__ import annotations

import pytest

from tiepoint.formats.study_toml import StudySpec, read_study_toml, study_toml
from tiepoint.formats.study_toml.lines import TomlLines
from tiepoint.formats.study_toml.write import toml_value

TEXT = """\
[study]
name = \"\"\"a
k = 3
\"\"\"
"k" = 4
measures = [
  "recall@10",
]
[[candidate]]
id = "a"
contract.dimension = 3
[candidate.options]
model = "x"
[[candidate]] # the second
id = "b"
"""


def test_lines_of_tables_keys_and_entries():
    lines = TomlLines.scan(TEXT)
    assert lines.of("study", "k") == 5
    assert lines.of("study", "measures", 0) == 6
    assert lines.of("candidate", 0, "contract", "dimension") == 11
    assert lines.of("candidate", 0, "options", "model") == 13
    assert lines.of("candidate", 1) == 14
    assert lines.of("candidate", 1, "embedder") == 14
    assert lines.of("nothing") is None
    assert lines.where("study.toml", "candidate", 1, "id") == "study.toml, line 15, [candidate 2] id"


@pytest.mark.parametrize(
    "text",
    [
        "study = 3",
        "[[study]]",
        "candidate = 3",
        "[candidate]\nid = 'a'",
        "[candidate.x]\na = 1",
        "x = 1",
        "candidate = [3]",
    ],
)
def test_tables_of_another_kind_are_refused_with_their_line(tmp_path, text):
    (tmp_path / "study.toml").write_text(text)
    file = read_study_toml(tmp_path / "study.toml")
    assert any("line 1" in problem.where for problem in file.problems)


def test_what_is_written_reads_back(tmp_path):
    spec = StudySpec.model_validate(
        {
            "study": {"name": 'q"uo\\te\x7f\tß\n', "measures": ["recall@10"], "tie_tolerance": 0},
            "corpus": {"path": "c.jsonl", "acl": "who"},
            "queries": {"path": "q.jsonl", "groups": "who"},
            "qrels": {"path": "q.tsv"},
            "report": {"readers": ["a", "b"]},
            "candidate": [{"id": "m", "embedder": "onnx", "options": {"a key": 1, "b": True, "c": 0.5, "d": "x"}}],
            "decision": {"confidence": "point"},
        }
    )
    (tmp_path / "study.toml").write_text(study_toml(spec), encoding="utf-8")
    file = read_study_toml(tmp_path / "study.toml")
    assert not file.problems
    assert file.spec == spec


def test_toml_has_no_null():
    with pytest.raises(TypeError):
        toml_value(None)
