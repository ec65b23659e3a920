"""Rows and columns from TSV, CSV, JSON lines, CoNLL-U and IOB files, and the choice of columns."""
