"""Sentences whose words have tags: read from files, cut into splits, and kept in arrays that open at once."""
