"""Labelled texts: read from lines, tables or examples of aspects, and tokenised once."""
