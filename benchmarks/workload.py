"""What the search is measured on: clustered vectors, real sentences, regions, and who may read what. All with a seed."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from tiepoint.core.contract import Contract
from tiepoint.core.corpus import Corpus, Units
from tiepoint.core.queries import Queries
from tiepoint.core.regions import Regions
from tiepoint.core.space import Space, Vectors
from tiepoint.search.eligibility import Eligibility
from tiepoint.search.masks import Masks

CENTRES, SPREAD = 1000, 0.7
GROUPS, PRINCIPALS_HAVE, DOCUMENTS_HAVE = 40, 5, 3
REGIONS = 50
EVERYBODY = "everybody"


@dataclass
class Filters:
    """Which documents each query may be answered with, in the two forms that this project and its peers take.

    corpus, queries   for tiepoint
    group_of          (documents, GROUPS + 1) who may read; None: everybody
    groups            of each query, as columns of group_of
    region_of         (documents,) the one region of each; None: no filter
    region            of each query
    """

    corpus: Corpus
    queries: Queries
    group_of: np.ndarray | None = None
    groups: list[np.ndarray] | None = None
    region_of: np.ndarray | None = None
    region: np.ndarray | None = None

    def eligibility(self) -> Eligibility:
        known = Regions(frozenset(f"r{i:02d}" for i in range(REGIONS)))
        return Eligibility.of(
            self.corpus, self.queries, known, filtered=self.region is not None, masks=Masks.of(self.corpus)
        )

    def mask(self, query: int) -> np.ndarray:
        """(documents,) True where the query may be answered with the document: in plain numpy, for peers and for the check."""
        mask = np.ones(len(self.corpus), dtype=bool)
        if self.group_of is not None:
            mask &= self.group_of[:, self.groups[query]].any(axis=1)
        if self.region_of is not None:
            mask &= self.region_of == self.region[query]
        return mask


def clustered(documents: int, queries: int, dimension: int = 384, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors around CENTRES centres, float32; the queries around the same."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((CENTRES, dimension), dtype=np.float32)

    def drawn(count: int) -> np.ndarray:
        rows = np.empty((count, dimension), dtype=np.float32)
        for start in range(0, count, 50_000):
            block = rows[start : start + 50_000]
            block[:] = centres[rng.integers(0, CENTRES, len(block))]
            block += SPREAD * rng.standard_normal(block.shape, dtype=np.float32)
            block /= np.linalg.norm(block, axis=1, keepdims=True)
        return rows

    return drawn(documents), drawn(queries)


def sentences(data: Path, queries: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Sentences of the corpora beside the project, and their queries, through WordLlama; None where one is absent."""
    try:
        from wordllama import WordLlama
    except ImportError:
        return None
    files = [data / "scifact" / "corpus.jsonl", data / "traveldest" / "passages.jsonl"]
    asked = [data / "scifact" / "queries.jsonl", data / "traveldest" / "queries.jsonl"]
    if not all(path.exists() for path in (*files, *asked)):
        return None
    import wordllama

    model = WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    texts = [s for path in files for text in _texts(path) for s in re.split(r"(?<=[.!?])\s+", text) if len(s) > 20]
    wanted = [text for path in asked for text in _texts(path)]
    chosen = np.random.default_rng(0).permutation(len(wanted))[:queries]
    return tuple(_unit(model.embed(part)) for part in (texts, [wanted[i] for i in chosen]))


def filters(kind: str, documents: int, queries: int) -> Filters:
    """kind: unfiltered, region, acl, skewed (half of the queries have a group that reads everything), both."""
    rng = np.random.default_rng(1)
    nothing: list[frozenset[str]] = [frozenset()] * queries
    group_of = groups = region_of = region = None
    if kind in ("acl", "skewed", "both"):
        group_of = np.zeros((documents, GROUPS + 1), dtype=bool)
        many = rng.integers(1, DOCUMENTS_HAVE + 1, documents)
        group_of[np.repeat(np.arange(documents), many), rng.integers(0, GROUPS, many.sum())] = True
        groups = [np.unique(rng.integers(0, GROUPS, rng.integers(1, PRINCIPALS_HAVE + 1))) for _ in range(queries)]
        if kind == "skewed":
            group_of[:, GROUPS] = True
            groups = [np.append(g, GROUPS) if i % 2 else g for i, g in enumerate(groups)]
    if kind in ("region", "both"):
        region_of, region = rng.integers(0, REGIONS, documents), rng.integers(0, REGIONS, queries)
    ids = [f"d{i:08d}" for i in range(documents)]
    names = np.array([f"g{i:02d}" for i in range(GROUPS)] + [EVERYBODY])
    table = pa.table(
        {
            "id": ids,
            "acl": _lists(*np.nonzero(group_of), names, documents) if group_of is not None else _empty(documents),
            "regions": _empty(documents)
            if region_of is None
            else _lists(np.arange(documents), region_of, np.array([f"r{i:02d}" for i in range(REGIONS)]), documents),
        }
    )
    asked = Queries(
        ids=tuple(f"q{i:06d}" for i in range(queries)),
        texts=("",) * queries,
        groups=tuple(nothing if groups is None else [frozenset(names[g]) for g in groups]),
        regions=((),) * queries if region is None else tuple((f"r{r:02d}",) for r in region),
        subgroups=((),) * queries,
        rare=np.zeros(queries, dtype=bool),
        no_answer=np.zeros(queries, dtype=bool),
        split=(None,) * queries,
        cluster=("",) * queries,
        provenance=("synthetic",) * queries,
    )
    corpus = Corpus(table, public=group_of is None, units=Units.of(ids, None))
    return Filters(corpus, asked, group_of, groups, region_of, region)


def space(documents: np.ndarray, queries: np.ndarray) -> Space:
    stated = Contract(
        space_id="benchmark",
        provider="made",
        model="made",
        revision="1",
        dimension=documents.shape[1],
        metric="cosine",
        normalized=True,
        dtype="float32",
        query_role="query",
        document_role="document",
    )
    return Space(
        stated, Vectors(documents, np.arange(len(documents))), Vectors(queries, np.arange(len(queries), dtype=np.int64))
    )


def data_folder() -> Path:
    return Path(os.environ.get("TIEPOINT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def _texts(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


def _unit(rows: np.ndarray) -> np.ndarray:
    rows = np.asarray(rows, dtype=np.float32)
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows[norm[:, 0] > 0] / norm[norm[:, 0] > 0]


def _lists(row: np.ndarray, value: np.ndarray, names: np.ndarray, documents: int) -> pa.ListArray:
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=documents))]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array(names[value]))


def _empty(documents: int) -> pa.ListArray:
    return pa.ListArray.from_arrays(np.zeros(documents + 1, dtype=np.int32), pa.array([], pa.string()))
