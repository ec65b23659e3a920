"""Drawings as strokes: how files become moves of a pen, and how moves become numbers or tokens."""
