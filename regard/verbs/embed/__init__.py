"""Embedding: the vectors of texts and of their tokens, in every layer of a model, and the file that keeps them."""
