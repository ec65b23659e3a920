"""Phrase structure trees: read from treebanks, normalised, and converted to and from plain text."""
