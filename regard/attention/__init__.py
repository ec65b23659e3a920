"""Attention in pieces: score, mask and normalise, mix, note."""

from regard.attention.core import Attention, Look
from regard.attention.editing import Edit, Edits, editing, is_edited, is_observed
from regard.attention.hard import Hard, Manner
from regard.attention.local import LocalMonotonic, LocalPredictive
from regard.attention.masks import Causal, Every, Lengths, Mask, Packed, Window
from regard.attention.normalisers import named_normaliser, normalise
from regard.attention.reinforce import reinforce_loss
from regard.attention.scores import PreparedKeys, Score, named_score
from regard.attention.watch import Gaze, is_watched, note, watching, without_watching

__all__ = [
    "Attention",
    "Causal",
    "Edit",
    "Edits",
    "Every",
    "Gaze",
    "Hard",
    "Lengths",
    "LocalMonotonic",
    "LocalPredictive",
    "Look",
    "Manner",
    "Mask",
    "Packed",
    "PreparedKeys",
    "Score",
    "Window",
    "editing",
    "is_edited",
    "is_observed",
    "is_watched",
    "named_normaliser",
    "named_score",
    "normalise",
    "note",
    "reinforce_loss",
    "watching",
    "without_watching",
]  # fmt: skip
