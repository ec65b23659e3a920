"""Translating: from texts to a search, and from its tokens to translations."""
