"""Answering: a class, a tag for each word, or an answer to a question."""
