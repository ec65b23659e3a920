"""Translating: from texts to the search, and from its tokens to translations."""
