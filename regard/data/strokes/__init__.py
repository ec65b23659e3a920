"""Drawings as strokes: reading files as pen moves, and coding moves as numbers or tokens."""
