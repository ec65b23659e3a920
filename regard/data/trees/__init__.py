"""Phrase structure trees: read from treebanks, normalised, and written as plain text and back."""
