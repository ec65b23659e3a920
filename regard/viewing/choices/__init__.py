"""The next token and what may be drawn from it, as pictures."""
