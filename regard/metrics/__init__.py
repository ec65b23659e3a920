"""Measures of what models write."""

from regard.metrics.errors import References, by_sentence
from regard.metrics.text import BETTER, METRICS, Score, score

__all__ = ["BETTER", "METRICS", "References", "Score", "by_sentence", "score"]
