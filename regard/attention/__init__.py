"""Attention in pieces: score, mask and normalise, mix, note."""

from regard.attention.core import Attention, normalise
from regard.attention.masks import Causal, Lengths, Mask, Packed, Window
from regard.attention.watch import Gaze, note, unwatched, watched, watching

__all__ = [
    "Attention", "Causal", "Gaze", "Lengths", "Mask", "Packed", "Window",
    "normalise", "note", "unwatched", "watched", "watching",
]  # fmt: skip
