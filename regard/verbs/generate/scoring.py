"""Probabilities of texts under a language model, token by token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from regard.base.figures import in_figures
from regard.base.notebook import paragraph, tokens_by_probability
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.tasks.language.batches import Sentences, sentences_of
from regard.tasks.language.measures import perplexity


class ScoresTokens(Protocol):
    """A task that gives the probability of each token after those before it."""

    tokeniser: Tokeniser
    begin: int
    end: int

    def token_scores(self, batch: Sentences) -> np.ndarray:
        """Return the log-probabilities of all tokens except begin tokens."""


@dataclass(frozen=True)
class ScoredText:
    """A text and its log-probability; tokens and their scores include the end, last."""

    text: str
    score: float
    tokens: list[str]
    token_scores: list[float]
    unknown: int  # number of unknown tokens

    def __repr__(self) -> str:
        return f"ScoredText({self.text!r}, score {self.score:.3f}, perplexity {in_figures(self.perplexity, 1)})"

    def _repr_html_(self) -> str:
        summary = f"score {self.score:.3f}, perplexity {in_figures(self.perplexity, 1)}"
        return tokens_by_probability(self.tokens, self.token_scores) + paragraph(summary, light=True)

    @property
    def perplexity(self) -> float:
        """Perplexity per token, including the end."""
        return perplexity(-self.score, float(len(self.tokens)))

    def as_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "score": self.score,
            "perplexity": self.perplexity,
            "unknown": self.unknown,
            "tokens": self.tokens,
            "token_scores": self.token_scores,
        }


def score_texts(task: ScoresTokens, texts: Sequence[str]) -> list[ScoredText]:
    """Return the probability of each text as a whole sentence."""
    tokeniser = task.tokeniser
    rows = tokeniser.encode_all(list(texts))
    if not rows:
        return []
    scores = task.token_scores(sentences_of(rows, task.begin, task.end)).tolist()
    results, first = [], 0
    for text, row in zip(texts, rows, strict=True):
        token_scores = scores[first : first + len(row) + 1]
        first += len(token_scores)
        names = tokeniser.pieces([*row, task.end])
        results.append(ScoredText(text, sum(token_scores), names, token_scores, row.count(tokeniser.unknown)))
    return results
