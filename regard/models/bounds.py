"""Sizes that no option may exceed: far above any model there is, and low enough for what is asked to be looked at.

A recipe or a model folder may come from anyone; a network of a million layers would take hours to be refused.
"""

MOST_LAYERS = 512
WIDEST = 2**16  # states, embeddings
WIDEST_INSIDE = 2**20  # feed-forward nets
LONGEST = 2**24  # tokens
