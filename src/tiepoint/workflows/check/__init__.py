"""The check of a study before a run: `run.py` is the whole of it, the other files what it counts and warns of."""
