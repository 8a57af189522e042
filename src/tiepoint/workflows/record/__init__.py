"""Result folders: written beside and renamed once, read back; one file for a result, one for an audit."""
