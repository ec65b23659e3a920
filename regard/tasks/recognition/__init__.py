"""Naming what is drawn, by the strokes of which it is made."""
