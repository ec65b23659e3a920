"""Embedding: the vectors of texts and their tokens in every layer, and the file that stores them."""
