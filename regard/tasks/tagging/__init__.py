"""Tagging: a tag for each word of a sentence, for parts of speech or spans."""
