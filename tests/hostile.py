"""A result whose names try to be markup, to turn the direction of what follows, to end the page's script, or to be endless."""

from __future__ import annotations

import json
from pathlib import Path

import tiepoint as tp
from sample import documents, hashing, judgements, questions, write_sample

NAMES = {
    "script": "<script>window.pwned=1</script>",
    "close": '</script><img src=x onerror="window.pwned=1">',
    "turn": "q\u202eabc\u2067def",
    "quote": "\"'`{{7*7}}${1}\\",
    "long": "x" * 100_000,
    "comment": "<!--<script>",
}
TEXT = "Bats.\n</script><script>window.pwned=1</script>\n<!-- \u2028 \u202e gnp " + "word " * 20_000


def hostile(folder: Path, *, text: bool = True) -> Path:
    """The recorded result, its report with texts."""
    write_sample(folder, public=True)
    names = list(NAMES.values())
    ids = {f"d{n:02d}": f"{name}" for n, name in enumerate(names)}
    asked = {f"q{n:02d}": f"Q{name}" for n, name in enumerate(names)}
    rows = [{**row, "_id": ids.get(str(row["_id"]), row["_id"])} for row in documents()]
    rows[1]["text"] = TEXT
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    rows = [{**row, "_id": asked.get(str(row["_id"]), row["_id"])} for row in questions()]
    rows[0]["subgroups"] = [NAMES["script"], NAMES["close"], NAMES["turn"]]
    rows[1]["subgroups"] = ["s" * 100_000]
    rows[2]["text"] = TEXT
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    rows = ["query-id\tcorpus-id\tscore"]
    rows += [f"{asked.get(q, q)}\t{ids.get(d, d)}\t{g}" for q, d, g in judgements()]
    (folder / "qrels.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    study = tp.load_study(folder)
    place = tp.record(tp.bench(study, candidates=[hashing(4), hashing(64)]), folder / "results")
    if text:
        tp.write_report(place, with_text=study)
    return place
