"""The candidates of a study: which of them are tried, how they are opened, and how each becomes a space."""
