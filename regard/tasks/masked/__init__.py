"""Masked language models: predict hidden tokens of a text from everything around them."""
