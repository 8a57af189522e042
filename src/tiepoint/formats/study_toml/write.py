"""Writes study.toml, every key with a short comment; what is not said stands there as a comment to uncomment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from tiepoint.formats.study_toml.spec import CandidateTable, StudySpec

BARE = re.compile(r"[A-Za-z0-9_-]+")
COMMENTS: Mapping[str, Mapping[str, str]] = {
    "study": {
        "name": "what reports call the study",
        "k": "the main cut-off: how many documents a person looks at",
        "measures": "reported for every candidate",
        "seed": "for resampling and the order of candidates",
    },
    "corpus": {
        "path": "documents: .jsonl, .csv, .tsv or .parquet; relative to this folder or absolute",
        "list_separator": "CSV and TSV: what parts the values of a list, if cells hold no JSON arrays",
        "id": "the column of ids; an id is text",
        "text": "columns in braces: the text that every candidate gets, built once",
        "acl": "the column of lists of groups that may read a document; [] means nobody",
        "region": "one region or a list of them",
        "unplaced": 'documents without region: "error", or "out" of every region filter, and counted',
        "parent": "passages: the document that each is part of; judgements name it, and hits collapse to it",
        "source_revision": "of the source that a document was made from",
    },
    "queries": {
        "path": "questions, in the same forms, or TREC topics",
        "list_separator": "CSV and TSV: what parts the values of a list, if cells hold no JSON arrays",
        "id": "the column of ids",
        "text": "the column of questions",
        "groups": "who asks: the groups of the principal; [] finds nothing",
        "region": "the region filter of a question; null means none",
        "subgroups": "names under which figures are also reported",
        "rare": "true: asks for a rare place name",
        "no_answer": "true: has no answer; counted, never scored",
        "split": '"dev" or "test"; the decision is made on "test"',
        "cluster": "questions made from one seed question are resampled together",
        "exclude": "the id of the document that a question was copied or made from: never an answer to it",
        "provenance": "a column, or one class for all: traffic, blind_author, document_author, chooser, synthetic, unknown",
    },
    "qrels": {
        "path": "query-id, corpus-id, grade 0..3; or TREC; a list for several files",
        "pooled": "true: judged from a pool, so unjudged documents are a question",
    },
    "access": {"public": "true: everybody may read every document; said, never assumed"},
    "report": {
        "readers": "who will read the report: a document is named or counted only when every one of these groups may "
        "read it;\n#   not said under an acl: aggregates only",
    },
    "run": {"threads": "0: all", "device": "where models run; this version knows no other"},
    "decision": {
        "measure": "what decides",
        "slice": "unfiltered, filtered (each question under its own region), rare",
        "gap": "how much of the measure a cheaper candidate may lose",
        "confidence": 'of the verdict; or "point": the best guess decides',
        "prefer": "cost, the first key first: also bytes, rebuild_s, price, -queries_per_s",
    },
    "gates": {
        "measure": "what a move between two spaces is judged by; not said: the decision's, and so its slice",
        "slice": "unfiltered, filtered, rare",
        "loss": "how much of its mean the target space may lose; not said: the decision's gap",
        "confidence": "of every bound",
        "least_mean": "the target's mean must lie at or above it",
        "subgroup_loss": "how much each subgroup and region may lose; not said: as loss",
        "subgroup_queries": "a subgroup or region of fewer independent questions is too small to decide",
        "critical": 'questions that must not fall: ids, or "subgroup:name"',
        "elsewhere": "the share of rows that may lie outside the space that their label names",
        "sample": "rows that are embedded again to see that, each side",
    },
}
EXAMPLES: Mapping[str, object] = {
    "acl": "groups",
    "rare": "has_rare_name",
    "list_separator": ";",
    "readers": ["planning"],
    "measure": "nDCG@10",
    "slice": "filtered",
    "loss": 0.02,
    "least_mean": 0.5,
    "subgroup_loss": 0.05,
}
"""What an unsaid key is shown with, where its own name is not a good example."""


def study_toml(spec: StudySpec) -> str:
    """The text of study.toml: what the spec states, and as comments the keys it does not. It reads back as the spec."""
    lines = ["# A tiepoint study: what to compare, on what, by which rule. Unknown keys are errors."]
    for name, comments in COMMENTS.items():
        if name == "decision":
            for candidate in spec.candidate:
                lines += ["", *_candidate(candidate)]
        lines += ["", f"[{name}]", *_table(getattr(spec, name), comments)]
    return "\n".join(lines) + "\n"


def _table(table: BaseModel, comments: Mapping[str, str]) -> Iterator[str]:
    for key, comment in comments.items():
        value = getattr(table, key)
        stated = f"{key} = {toml_value(EXAMPLES.get(key, key) if value is None else value)}"
        yield f"{stated if value is not None else '# ' + stated:<34} # {comment}"


def _candidate(candidate: CandidateTable) -> Iterator[str]:
    yield "[[candidate]]"
    for key, value in candidate.model_dump(exclude_unset=True, exclude_none=True).items():
        if value != {}:
            yield f"{key} = {toml_value(value)}"


def toml_value(value: object) -> str:
    """A value as TOML writes it, on one line. Raises TypeError for what TOML does not know."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int() | float():
            return repr(value)
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case dict():
            return "{ " + ", ".join(f"{_key(name)} = {toml_value(entry)}" for name, entry in value.items()) + " }"
        case _:
            raise TypeError(f"TOML has no form for {type(value).__name__}")


def _key(name: object) -> str:
    return str(name) if BARE.fullmatch(str(name)) else toml_value(str(name))
