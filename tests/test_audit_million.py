"""A million rows a side: every row is looked at in well under a minute, and no vector is held twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROWS, DIMENSION = 1_000_000, 64
WRITE = """
import sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
folder, rows, dimension = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
step = 100_000
for seed, name in enumerate(("source", "target")):
    writer = None
    rng = np.random.default_rng(seed)
    for start in range(0, rows, step):
        number = np.arange(start, start + step)
        vectors = rng.normal(size=(step, dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        ids = [f"doc-{i:09}" for i in number]
        if name == "target" and start == 500_000:
            ids[7] = "stranger"
            vectors[8] = 0
            vectors[9] = vectors[10]
        hashes = np.zeros((step, 32), np.uint8)
        hashes[:, :8] = (number + (name == "target") * (number == 700_001)).astype(np.uint64).view(np.uint8).reshape(step, 8)
        table = pa.table({
            "id": ids,
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dimension).cast(pa.list_(pa.float32())),
            "content_hash": pa.FixedSizeBinaryArray.from_buffers(pa.binary(32), step, [None, pa.py_buffer(hashes.tobytes())]),
            "role": ["document"] * step,
            "acl": [["staff", "planning"], ["staff"]] * (step // 2),
            "source_revision": [f"r{start // 200_000}"] * step,
            "version": [str(i % 50) for i in number],
            "deleted": [False] * step,
        })
        writer = writer or pq.ParquetWriter(f"{folder}/{name}.parquet", table.schema)
        writer.write_table(table)
    writer.close()
"""
READ = """
import json, sys, time
from pathlib import Path
from tiepoint.workflows.audit.sides import read_side
from tiepoint.workflows.audit.bounds import EVERYTHING
from tiepoint.workflows.audit.canon import audit_canon
from tiepoint.workflows.audit.inventory import audit_inventory
from tiepoint.workflows.audit.items import Items
from tiepoint.workflows.audit.vectors import audit_vectors
folder = Path(sys.argv[1])
def peak():
    status = Path("/proc/self/status").read_text()  # getrusage would begin at the peak of whoever started this process
    return int(status.split("VmHWM:")[1].split()[0]) * 1024
told, clock = {"base": peak()}, time.perf_counter()
def lap(name):
    global clock
    told[name + "_s"], clock = time.perf_counter() - clock, time.perf_counter()
    told[name] = peak()
source = read_side(None, str(folder / "source.parquet"), folder / "contract.toml")
lap("source")
target = read_side(None, str(folder / "target.parquet"), folder / "contract.toml", option="--target")
lap("target")
items = Items.of(source, target)
inventory = audit_inventory(source, target, items, EVERYTHING)
lap("inventory")
canon = audit_canon(source, target, items, EVERYTHING)
lap("canon")
vectors = audit_vectors(target, "target", EVERYTHING)
lap("vectors")
told["found"] = [
    inventory.whole.only_source.first, inventory.whole.only_target.first,
    next(f for f in canon.whole.fields if f.field == "content_hash").mismatches.first,
    vectors.whole.zero.first, vectors.whole.shared_vector.first,
]
print(json.dumps(told))
"""


def run(program: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path("src").resolve())}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="not executed: peak memory is read from /proc")
def test_a_million_rows_of_64_numbers_a_side_are_audited_in_seconds_with_the_vectors_held_once(tmp_path):
    run(WRITE, str(tmp_path), str(ROWS), str(DIMENSION))
    (tmp_path / "contract.toml").write_text(
        'provider = "vendor"\nmodel = "x"\nrevision = "2026-05-01"\ndimension = 64\nmetric = "cosine"\nnormalized = true\n'
        'dtype = "float32"\nquery_role = "query"\ndocument_role = "document"\n',
        encoding="utf-8",
    )
    told = json.loads(run(READ, str(tmp_path)))
    print({k: round(v / 1e6) if not k.endswith("_s") else round(v, 1) for k, v in told.items() if k != "found"})
    assert told["found"] == [
        ["doc-000500007"],
        ["stranger"],
        ["doc-000700001"],
        ["doc-000500008"],
        ["doc-000500009", "doc-000500010"],
    ]
    vectors = ROWS * DIMENSION * 4
    columns = 400 * ROWS  # bytes a row of ids, hashes, acl, revision, version, and of what compares them
    assert told["source"] - told["base"] < vectors + columns
    assert told["vectors"] - told["base"] < 2 * vectors + 950 * ROWS
    for step in ("source_s", "target_s", "inventory_s", "canon_s", "vectors_s"):
        assert told[step] < 60, (step, told[step])
