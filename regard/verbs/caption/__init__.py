"""Captions of pictures: written for people, and scored beside those that people wrote."""
