"""Metrics of what models write."""

from regard.base.scores import Score
from regard.metrics.errors import References, by_sentence
from regard.metrics.text import BETTER, METRICS, score

__all__ = ["BETTER", "METRICS", "References", "Score", "by_sentence", "score"]
