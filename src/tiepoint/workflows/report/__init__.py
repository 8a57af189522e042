"""Reports of what is recorded: `run.py` writes one anew, `index.py` one over all, `files.py` makes and writes each."""
