"""Upper bounds for sizes: far above any real model, and low enough that a check stays quick.

A recipe or a model folder may come from anyone; a network of a million layers would take hours to refuse.
"""

MOST_LAYERS = 512
WIDEST = 2**16  # states, embeddings
WIDEST_INSIDE = 2**20  # feed-forward nets
LONGEST = 2**24  # tokens
