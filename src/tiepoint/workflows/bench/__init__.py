"""The benchmark: `run.py` is the whole of it, `dry_run.py` what it would cost, the other files parts of its result."""
