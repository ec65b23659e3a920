"""Texts with labels: read from lines, tables or examples of aspects, and cut into tokens once."""
