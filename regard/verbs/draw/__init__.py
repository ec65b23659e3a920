"""Generating pictures and strokes."""
