"""Naming what is on a picture, by glimpses of it or by looking at all of it."""
