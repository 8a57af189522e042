"""What one key of study.toml asks of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from tiepoint.errors import Problem
from tiepoint.formats.study_toml.lines import TomlLines
from tiepoint.formats.study_toml.spec import StudySpec


def crossed(spec: StudySpec, said: Mapping[str, object], lines: TomlLines, name: str) -> Iterator[Problem]:
    """Every breach of a rule between keys.

    spec   what study.toml says; a default where a key is wrong
    said   the document as written, so that a wrong key is not taken for a missing one
    """
    yield from _paths(said, lines, name)
    yield from _access(said, lines, name)
    yield from _corpus(said, lines, name)
    yield from _candidates(spec, lines, name)
    measure = spec.decision.measure.strip()
    if measure.startswith("pooled_recall") and spec.decision.confidence != "point":
        yield Problem(
            "pooled_recall cannot be tested by query, so no interval decides on it",
            lines.where(name, "decision", "measure"),
            'say confidence = "point", or decide on recall@k',
        )


def _says(said: Mapping[str, object], table: str, key: str) -> object:
    content = said.get(table)
    return content.get(key) if isinstance(content, dict) else None


def _paths(said: Mapping[str, object], lines: TomlLines, name: str) -> Iterator[Problem]:
    for table in ("corpus", "queries", "qrels"):
        if isinstance(said.get(table, {}), dict) and _says(said, table, "path") is None:
            yield Problem(f"[{table}] names no file", lines.where(name, table), f'say path = "..." under [{table}]')
    if "regions" in said and _says(said, "regions", "path") is None:
        yield Problem("[regions] names no file", lines.where(name, "regions"), 'say path = "..." or remove the table')


def _access(said: Mapping[str, object], lines: TomlLines, name: str) -> Iterator[Problem]:
    public, acl = _says(said, "access", "public"), _says(said, "corpus", "acl")
    if public is True and acl is not None:
        yield Problem(
            "public = true stands beside an acl: they contradict each other",
            f"{lines.where(name, 'access', 'public')} and {lines.where(name, 'corpus', 'acl')}",
            "remove public = true to obey the acl, or remove acl to open every document to everybody",
        )
    if acl is None and public in (None, False):
        yield Problem(
            "no acl and not public: nobody has said who may read the documents",
            lines.where(name, "corpus"),
            'name the column, acl = "groups" under [corpus], or say public = true under [access]',
        )
    if acl is not None and public is not True and _says(said, "queries", "groups") is None:
        yield Problem(
            "the corpus has an acl, but nobody has said who asks",
            lines.where(name, "queries"),
            'name the column of the principal\'s groups: groups = "groups" under [queries]',
        )


def _corpus(said: Mapping[str, object], lines: TomlLines, name: str) -> Iterator[Problem]:
    if _says(said, "queries", "region") is not None and _says(said, "corpus", "region") is None:
        yield Problem(
            "queries have a region, but documents have none",
            lines.where(name, "queries", "region"),
            'name the documents\' column, region = "region" under [corpus], or remove it from [queries]',
        )


def _candidates(spec: StudySpec, lines: TomlLines, name: str) -> Iterator[Problem]:
    for candidate, count in Counter(c.id for c in spec.candidate).items():
        if count > 1:
            yield Problem(
                f"{count} candidates are called {candidate!r}",
                lines.where(name, "candidate"),
                "give each candidate an id of its own",
            )
