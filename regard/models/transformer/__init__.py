"""The Transformer, and its fast passes on a GPU."""
