"""The exact search and its score; the lexical and the random baseline."""
