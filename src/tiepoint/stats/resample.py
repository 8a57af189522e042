"""Seeded resampling of independent units: queries, or whole clusters of queries that vary one seed question."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

CHUNK = 512
"""Resamples drawn at once; fixed, so that a seed always gives the same draws."""


def stream(seed: int, *purpose: str) -> np.random.Generator:
    """A counter-based generator of its own for one purpose: adding a figure moves no other figure's draws."""
    key = hashlib.sha256("\x1f".join([str(seed), *purpose]).encode()).digest()[:16]
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key)))


def weights(rng: np.random.Generator, units: int, resamples: int) -> Iterator[NDArray[np.float64]]:
    """Chunks of (resamples, units) float64: how often each unit stands in each resample of as many units."""
    for start in range(0, resamples, CHUNK):
        rows = min(CHUNK, resamples - start)
        drawn = rng.integers(0, units, size=(rows, units))
        flat = (drawn + np.arange(rows)[:, None] * units).ravel()
        yield np.bincount(flat, minlength=rows * units).reshape(rows, units).astype(np.float64)


def resampled_sums(rng: np.random.Generator, columns: NDArray[np.float64], resamples: int) -> NDArray[np.float64]:
    """Sums of every column over each resample of the units.

    columns   (units, columns) float64
    returns   (resamples, columns) float64, the same for any number of threads
    """
    parts = [np.einsum("ru,uc->rc", w, columns) for w in weights(rng, len(columns), resamples)]
    return np.concatenate(parts)


def by_cluster(values: NDArray[np.float64], cluster: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sums over each cluster: (queries, columns) to (clusters, columns), in cluster order."""
    sums = np.zeros((int(cluster.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(sums, cluster, values)
    return sums
