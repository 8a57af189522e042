"""What study.toml may say: every table and key with its type and default."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, StringConstraints

from tiepoint.core.candidate import ID
from tiepoint.core.contract import Dtype, Metric
from tiepoint.core.run import DEEPEST
from tiepoint.core.study import PREFER
from tiepoint.errors import did_you_mean

BASELINES = ("bm25", "random")
LONGEST_ID = 100
"""A candidate's id names its folder of vectors, and a folder's name has an end."""


def _known_preference(key: str) -> str:
    if key.removeprefix("-") not in PREFER:
        raise ValueError(f"is {key!r}; {did_you_mean(key.removeprefix('-'), PREFER) or 'known: ' + ', '.join(PREFER)}")
    return key


def _candidate_id(name: str) -> str:
    if not ID.fullmatch(name):
        raise ValueError(f"is {name!r}; use letters, digits, dot, underscore, hyphen; begin with a letter or digit")
    if len(name) > LONGEST_ID:
        raise ValueError(f"has {len(name)} characters; use at most {LONGEST_ID}")
    if name.casefold() in BASELINES:
        raise ValueError(f"is {name!r}, which is the name of a baseline; choose another")
    return name


def _confidence(value: object) -> float | Literal["point"]:
    if value == "point":
        return "point"
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.5 < value < 1:
        raise ValueError(f'must lie between 0.5 and 1, or be "point"; is {value!r}')
    return float(value)


def _option(value: object) -> str | int | float | bool:
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"must be a text, a number, true or false; is {type(value).__name__}")
    return value


def _paths(value: object) -> str | list[str]:
    paths = value if isinstance(value, list) else [value]
    if not paths or not all(isinstance(path, str) and path.strip() for path in paths):
        raise ValueError("must be a path in quotes, or a list of paths that is not empty")
    if len(set(paths)) < len(paths):
        raise ValueError("names one file twice")
    return value if isinstance(value, str) else [str(path) for path in paths]


def _delimiter(value: str) -> str:
    if len(value) != 1 or value in '"\r\n':
        raise ValueError(f'must be one character, such as ";" or "\\t", and no quote or line end; is {value!r}')
    return value


Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
Delimiter = Annotated[str, AfterValidator(_delimiter)]
Separator = Annotated[str, StringConstraints(min_length=1)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Grade = Annotated[int, Field(ge=0, le=3)]


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    def stated(self, key: str) -> bool:
        """Whether study.toml itself says this key."""
        return key in self.model_fields_set


class StudyTable(_Table):
    """[study]. name None: the folder's name; measures None: recall, RR and nDCG at k."""

    name: Text | None = None
    k: Annotated[int, Field(ge=1, le=DEEPEST)] = 10
    measures: Annotated[list[Text], Field(min_length=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    notice: Text | None = None
    tie_tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class CorpusTable(_Table):
    """[corpus]. Columns are named, never guessed; text is a template. format None: by the file's suffix.

    delimiter and list_separator belong to CSV and TSV alone.
    """

    path: Text | None = None
    format: Literal["jsonl", "csv", "tsv", "parquet"] | None = None
    delimiter: Delimiter | None = None
    list_separator: Separator | None = None
    id: Text = "_id"
    text: Text = "{text}"
    acl: Text | None = None
    region: Text | None = None
    unplaced: Literal["error", "out"] = "error"
    parent: Text | None = None
    source_revision: Text | None = None


class QueriesTable(_Table):
    """[queries]. provenance is a column, or one class for all."""

    path: Text | None = None
    format: Literal["jsonl", "csv", "tsv", "parquet", "trec-topics"] | None = None
    delimiter: Delimiter | None = None
    list_separator: Separator | None = None
    id: Text = "_id"
    text: Text = "text"
    groups: Text | None = None
    region: Text | None = None
    subgroups: Text | None = None
    rare: Text | None = None
    no_answer: Text | None = None
    split: Text | None = None
    cluster: Text | None = None
    exclude: Text | None = None
    provenance: Text = "unknown"


class QrelsTable(_Table):
    """[qrels]. path: a file, or the files of several splits; grades: the grade that each text stands for; absent_at_most:
    the share of relevant documents that the corpus may lack before the study is refused, None: any.
    """

    path: Annotated[str | list[str], PlainValidator(_paths)] | None = None
    pooled: bool = False
    absent_at_most: Annotated[float, Field(ge=0, le=1)] | None = None
    grades: dict[str, Grade] | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The files, in the order in which study.toml names them."""
        return () if self.path is None else (self.path,) if isinstance(self.path, str) else tuple(self.path)


class RegionsTable(_Table):
    """[regions]. path None: the study declares no regions."""

    path: Text | None = None
    format: Literal["jsonl", "csv", "tsv", "parquet"] | None = None
    delimiter: Delimiter | None = None
    list_separator: Separator | None = None
    id: Text = "region"
    parent: Text | None = None
    aliases: Text | None = None


class AccessTable(_Table):
    """[access]. public is said, never assumed."""

    public: bool = False


class ReportTable(_Table):
    """[report]. readers None: not said."""

    readers: list[Text] | None = None


class RunTable(_Table):
    """[run]. threads 0: all. device: this version knows the processor only, and says so rather than ignore another."""

    threads: Annotated[int, Field(ge=0)] = 0
    device: Literal["cpu"] = "cpu"


class ContractTable(_Table):
    """The contract fields that a candidate states; a packaged model brings the others."""

    provider: Text | None = None
    model: Text | None = None
    revision: Text | None = None
    dimension: Annotated[int, Field(ge=1)] | None = None
    metric: Metric | None = None
    normalized: bool | None = None
    dtype: Dtype | None = None
    query_role: Text | None = None
    document_role: Text | None = None
    query_prompt: str | None = None
    document_prompt: str | None = None
    query_task: str | None = None
    document_task: str | None = None
    pooling: Text | None = None
    tokenizer_revision: Text | None = None
    max_input_tokens: Annotated[int, Field(ge=1)] | None = None
    truncation: Text | None = None
    preprocessing: Text | None = None
    norm_tolerance: Annotated[float, Field(gt=0, lt=1)] | None = None
    sdk: Text | None = None
    verified_on: Text | None = None


class CandidateTable(_Table):
    """[[candidate]]."""

    id: Annotated[str, AfterValidator(_candidate_id)]
    embedder: Text
    contract: ContractTable = ContractTable()
    options: dict[str, Annotated[str | int | float | bool, PlainValidator(_option)]] = {}
    price_per_million_tokens: Price | None = None
    cache: bool = False


class DecisionTable(_Table):
    """[decision]: the rule, written before the run."""

    measure: Text = "nDCG@10"
    slice: Literal["unfiltered", "filtered", "rare"] = "filtered"
    gap: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)] = 0.02
    confidence: Annotated[float | Literal["point"], PlainValidator(_confidence)] = 0.95
    prefer: Annotated[list[Annotated[str, AfterValidator(_known_preference)]], Field(min_length=1)] = [
        "dimension",
        "-documents_per_s",
    ]


Loss = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]


class GatesTable(_Table):
    """[gates]: what a move between two spaces must hold, written before the audit (core/gates.py)."""

    measure: Text | None = None
    slice: Literal["unfiltered", "filtered", "rare"] | None = None
    loss: Loss | None = None
    confidence: Annotated[float, Field(gt=0.5, lt=1, allow_inf_nan=False)] = 0.95
    least_mean: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
    subgroup_loss: Loss | None = None
    subgroup_queries: Annotated[int, Field(ge=2)] = 20
    critical: list[Text] = []
    elsewhere: Loss = 0.02
    sample: Annotated[int, Field(ge=1)] = 300


class StudySpec(_Table):
    """All of study.toml."""

    study: StudyTable = StudyTable()
    corpus: CorpusTable = CorpusTable()
    queries: QueriesTable = QueriesTable()
    qrels: QrelsTable = QrelsTable()
    regions: RegionsTable = RegionsTable()
    access: AccessTable = AccessTable()
    report: ReportTable = ReportTable()
    run: RunTable = RunTable()
    candidate: list[CandidateTable] = []
    decision: DecisionTable = DecisionTable()
    gates: GatesTable = GatesTable()
