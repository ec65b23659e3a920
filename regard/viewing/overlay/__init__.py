"""Attention over the cells of a picture, laid over that picture."""
