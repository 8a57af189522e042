"""The audit of a move between two spaces: `run.py` is the whole of it, `sections.py` calls one file for each section."""
