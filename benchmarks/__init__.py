"""Benchmarks: each compares with a named peer in the same process and prints a ratio. `make bench` runs them all."""
