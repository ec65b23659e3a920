"""Drawings that a model made: how each came to be, and sheets with several of them."""
