"""Hops through the facts of a story: a line for each fact, a column for each hop."""
