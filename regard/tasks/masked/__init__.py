"""Masked tokens: what stands at places of a text that are hidden, by all that stands around them."""
