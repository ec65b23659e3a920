"""Measures of what models write."""

from regard.metrics.text import METRICS, Score, score

__all__ = ["METRICS", "Score", "score"]
