"""`tiepoint report`: the report of a folder of a result written anew, with its charts, and texts where they may stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tiepoint.core.audit import Audit
from tiepoint.core.result import Result
from tiepoint.core.study import Study
from tiepoint.errors import CannotRun, InputError, Problems
from tiepoint.workflows.bench.run import bounded
from tiepoint.workflows.content_hashes import content_hashes
from tiepoint.workflows.intake.load import load_study
from tiepoint.workflows.record.audit import load_audit
from tiepoint.workflows.record.result import load_result
from tiepoint.workflows.report.files import HTML, write_charts, write_report_files, written
from tiepoint.workflows.report.hits import Texts
from tiepoint.workflows.show import NO_READERS, need_rows

SAME = {"corpus_content": "corpus", "queries_content": "queries"}


def write_report(
    folder: str | Path, *, with_text: Study | str | Path | None = None, charts: str | Path | None = None
) -> Path:
    """Write report.html and report.md of a recorded result or audit anew, from its folder alone.

    with_text   the study that it was made of: its texts stand in the page, as far as every reader may read them
    charts      a folder for each chart as SVG and PNG
    returns     report.html
    raises      InputError where the folder holds no result, one of another schema version, or the study is not the one that
                was measured; nothing is written then
    """
    place = Path(folder)
    if (place / "audit.json").is_file():
        found: Result | Audit = load_audit(place)
        if with_text is not None:
            raise InputError("the report of an audit holds no texts", fix="leave out --with-text")
    else:
        found = load_result(place)
    texts = None
    if with_text is not None and isinstance(found, Result):
        texts = readable_texts(found, with_text if isinstance(with_text, Study) else load_study(with_text))
    made = written(found, texts=texts)
    if charts is not None:
        _reported(lambda: write_charts(made.drawings, Path(charts)))
    _reported(lambda: write_report_files(made, place))
    return place / HTML


def readable_texts(result: Result, study: Study) -> Texts:
    """The texts that may stand in the report of a result.

    A document's text stands there when the result shows the document and every reader may read it now; a question's when every
    reader is among the groups that it was asked with.
    raises   InputError naming all in which the study is not the one that was measured; where no text may be shown
    """
    need_rows(result, "texts")
    problems = Problems()
    hashes = content_hashes(study)
    for key, what in SAME.items():
        if result.conditions.hashes.get(key) != hashes[key]:
            problems.add(
                f"the {what} of the study are not those of the result",
                where=f"hashes.{key} in conditions.json: {result.conditions.hashes.get(key, 'none')[:12]} and {hashes[key][:12]}",
                fix="name the study as it was measured, or run the benchmark again",
            )
    if bounded(study) != result.summary.bounded:
        problems.add(
            "the readers of the report have changed since",
            where=f"the result is {result.summary.bounded}; the study is {bounded(study)}",
            fix="run the benchmark again: what readers may see is part of a result",
        )
    if result.summary.counts.documents is None:
        problems.add("no text may be shown", where=NO_READERS, fix="name the readers under [report], and run again")
    problems.raise_if_any()
    shown, units, texts = study.shown, study.corpus.units, study.corpus.texts
    whole = study.shown_units
    parts: dict[int, list[str]] = {}
    for row in np.flatnonzero(shown):
        if whole[units.of_row[row]]:
            parts.setdefault(int(units.of_row[row]), []).append(texts[row])
    readers = frozenset(study.readers or ())
    return Texts(
        documents={units.ids[unit]: "\n".join(of) for unit, of in parts.items()},
        queries={
            name: text
            for name, text, groups in zip(study.queries.ids, study.queries.texts, study.queries.groups, strict=True)
            if study.corpus.public or readers <= groups
        },
    )


def _reported(write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise CannotRun(
            f"the report cannot be written ({error.strerror or type(error).__name__})",
            where=str(error.filename or ""),
            fix="make room or give write access, and run it again",
        ) from error
