"""Measures of what models write."""

from regard.metrics.errors import References, by_sentence
from regard.metrics.text import METRICS, Score, score

__all__ = ["METRICS", "References", "Score", "by_sentence", "score"]
