"""Orchestration: each workflow reads or takes values, calls the floors below, and returns a value; it prints nothing.

A package is one job, and its `run.py` the whole of it; a file beside the packages stands alone or serves several of them.
"""
