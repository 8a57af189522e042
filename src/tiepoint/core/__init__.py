"""The ground floor: frozen value types in columns. No I/O; numpy and pyarrow only."""
