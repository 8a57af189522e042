"""Which fields a fixture has and what JSON type each is; what they may say is the business of rules.py."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Entry(BaseModel):
    """An object of the fixture: its fields, no other, each of exactly its JSON type; 1 is no text and true no number."""

    model_config = ConfigDict(strict=True, extra="forbid")


class ContractEntry(Entry):
    """A contract, see core.contract.Contract. An optional field is left out where it is not stated, never null."""

    space_id: str
    provider: str
    model: str
    revision: str
    dimension: int
    metric: str
    normalized: bool
    query_role: str
    document_role: str
    dtype: str
    query_prompt: str = ""
    document_prompt: str = ""
    query_task: str = ""
    document_task: str = ""
    pooling: str = ""
    tokenizer_revision: str = ""
    max_input_tokens: int = 0
    truncation: str = ""
    preprocessing: str = ""
    norm_tolerance: float = 0
    sdk: str = ""
    verified_on: str = ""


class ItemEntry(Entry):
    """One item in one space."""

    item_id: str
    space_id: str
    role: str
    text: str
    vector: list[float]
    acl: list[str]
    source_revision: str


class QueryEntry(Entry):
    """One case."""

    case_id: str
    query_item_id: str
    subject_groups: list[str]
    relevance: dict[str, int]
    subgroups: list[str]
