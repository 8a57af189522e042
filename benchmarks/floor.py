"""What no float32 first pass can do without: the rates of products of few queries and of gathering rows, on this machine.

`python -m benchmarks.floor` prints them beside the product of all queries; benchmarks/README.md says what follows.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.peers import processor_seconds
from benchmarks.workload import clustered

ROWS, QUERIES, ROUNDS = 300_000, 1000, 5


def main() -> None:
    documents, queries = clustered(ROWS, QUERIES)
    rng = np.random.default_rng(7)
    rows = np.sort(rng.choice(ROWS, 20_000, replace=False))
    with threadpool_limits(1):
        block = documents[rows]
        for asked in (20, 80, QUERIES):
            few = queries[:asked]
            least = min(processor_seconds(lambda few=few: block @ few.T)[0] for _ in range(ROUNDS))
            print(f"product, {asked:>5} queries over 20,000 rows: {least / (asked * len(rows)) * 1e9:.1f} ns a score")
        least = min(processor_seconds(lambda: documents[rows])[0] for _ in range(ROUNDS))
        print(f"gathering 20,000 of {ROWS:,} rows: {least / len(rows) * 1e6:.2f} us a row")


if __name__ == "__main__":
    main()
