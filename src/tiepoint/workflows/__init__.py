"""Orchestration: each workflow reads or takes values, calls the floors below, and returns a value; it prints nothing."""
