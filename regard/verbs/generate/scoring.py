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
    """A task that knows how probable each token of a text is after those before it."""

    tokeniser: Tokeniser
    begin: int
    end: int

    def token_scores(self, batch: Sentences) -> np.ndarray:
        """The natural logarithms of the probabilities of all tokens but those that begin a sentence."""


@dataclass(frozen=True)
class ScoredText:
    """A text and the logarithm of its probability; tokens and their scores have the end last."""

    text: str
    score: float
    tokens: list[str]
    token_scores: list[float]
    unknown: int  # tokens of it that the model does not know

    def __repr__(self) -> str:
        return f"ScoredText({self.text!r}, score {self.score:.3f}, perplexity {in_figures(self.perplexity, 1)})"

    def _repr_html_(self) -> str:
        told = f"score {self.score:.3f}, perplexity {in_figures(self.perplexity, 1)}"
        return tokens_by_probability(self.tokens, self.token_scores) + paragraph(told, light=True)

    @property
    def perplexity(self) -> float:
        """Per token, the end counted."""
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
    """Return the probability of each text as a sentence from beginning to end."""
    tokeniser = task.tokeniser
    rows = tokeniser.encode_all(list(texts))
    if not rows:
        return []
    scores = task.token_scores(sentences_of(rows, task.begin, task.end)).tolist()
    found, first = [], 0
    for text, row in zip(texts, rows, strict=True):
        own = scores[first : first + len(row) + 1]
        first += len(own)
        names = tokeniser.pieces([*row, task.end])
        found.append(ScoredText(text, sum(own), names, own, row.count(tokeniser.unknown)))
    return found
