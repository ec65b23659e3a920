"""Rows of columns from TSV, CSV, JSON lines, CoNLL-U and IOB files, and the choice of columns to learn from."""
