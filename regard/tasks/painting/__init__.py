"""Painting: a caption becomes a picture, patch by patch."""
