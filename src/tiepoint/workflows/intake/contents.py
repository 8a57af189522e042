"""What a study's files hold, checked each by itself and then against each other."""

from __future__ import annotations

from dataclasses import dataclass

from tiepoint.core.corpus import Corpus
from tiepoint.core.qrels import Qrels
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.core.study import Rule
from tiepoint.errors import InputError, Problems
from tiepoint.formats.study_toml import StudyFile
from tiepoint.workflows.intake.corpus import Documents, take_documents
from tiepoint.workflows.intake.files import Intake
from tiepoint.workflows.intake.qrels import check_gold, check_ids, join
from tiepoint.workflows.intake.queries import Asking, take_queries
from tiepoint.workflows.intake.regions import take_regions
from tiepoint.workflows.intake.rule import check_slice


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """Everything that the files of a study hold, checked."""

    documents: Documents
    asking: Asking
    corpus: Corpus
    queries: Queries
    qrels: Qrels
    regions: Regions


def take_contents(file: StudyFile, intake: Intake, rule: Rule, problems: Problems) -> Contents:
    """Check what was read. Raises InputError with what `problems` holds already and everything that is found here.

    What needs a broken part is not checked: a gold document, for one, only in a study that is sound but for its qrels.
    """
    documents = None
    if intake.corpus is not None and intake.template is not None:
        documents = take_documents(intake.corpus, file.spec.corpus, intake.template, problems)
    regions = take_regions(intake.regions, file.spec.regions, documents.names if documents else (), problems)
    names_known = documents is not None and (intake.regions is not None or file.spec.regions.path is None)

    before = len(problems.found)
    asking = take_queries(file, intake.queries, problems) if intake.queries is not None else None
    queries = asking.queries(regions) if asking is not None and names_known else None
    if len(problems.found) > before:
        queries = None

    if documents is not None and asking is not None and intake.qrels is not None:
        ids = {"query": asking.sheet.ids, "document": documents.units}
        check_ids(file, intake.qrels, known=ids, parents=documents.undeclared_parents, problems=problems)

    corpus = qrels = None
    if documents is not None and queries is not None and intake.qrels is not None and not problems.found:
        corpus = documents.corpus(regions)
        qrels = join(intake.qrels, queries=queries, corpus=corpus, pooled=file.spec.qrels.pooled)
        check_gold(file, qrels, queries=queries, corpus=corpus, problems=problems)
    if queries is not None:
        check_slice(file, rule, queries, qrels, problems)
    problems.raise_if_any()
    if documents is None or asking is None or corpus is None or queries is None or qrels is None:
        raise InputError(problems=problems.found)
    return Contents(documents, asking, corpus, queries, qrels, regions)
