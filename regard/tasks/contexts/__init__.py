"""Contextual word vectors from two language models that read a sentence in both directions."""
