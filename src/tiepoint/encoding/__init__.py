"""Texts to a Space: batching, checks, the resumable store, timings."""
