"""A study taken in: `load.py` is the whole of it; files are opened, read into checked columns, and held against each other."""
