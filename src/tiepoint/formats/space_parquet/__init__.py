"""A space in one Parquet file, made by anyone: id, vector, and what else is known of each row."""

from tiepoint.formats.space_parquet.read import read_space_parquet

__all__ = ["read_space_parquet"]
