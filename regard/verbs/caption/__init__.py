"""Captions of pictures: writing them, and scoring them against captions by people."""
