"""Verbs of word vectors: neighbours, analogies, and scores. No torch."""
