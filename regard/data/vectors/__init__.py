"""Vectors of words: kept in memory, read from the files of other tools, and written for them."""
