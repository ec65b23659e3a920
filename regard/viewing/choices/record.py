"""What a model may write next: the distribution of the next token, and what is left of it to draw from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Panel:
    """A distribution over the tokens, most probable for the model first; 0 is a token that was cut."""

    name: str  # "temperature", or what else was done
    value: str  # and how much of it
    options: dict[str, float]  # all that was done, as the options of sampling have it
    probabilities: np.ndarray

    @property
    def title(self) -> str:
        return f"{self.name} {self.value}".strip()

    @property
    def kept(self) -> int:
        """How many tokens may still be drawn."""
        return int((self.probabilities > 0).sum())

    @property
    def entropy(self) -> float:
        """-Σ p ln p, in nats: 0 is one token, ln n is n tokens alike."""
        possible = self.probabilities[self.probabilities > 0]
        return max(0.0, float(-(possible * np.log(possible)).sum()))

    def others(self, shown: int) -> float:
        """The probability of all tokens behind the first few."""
        return float(self.probabilities[shown:].sum())


@dataclass(frozen=True)
class Choices:
    """The next token at one place of an output: the likeliest tokens, and their distribution in several panels.

    The first panel is the model's own distribution, over the whole vocabulary; each other panel is made from one before
    it, its origin. A language model reads nothing but what is written, and has no source.
    """

    source: str
    before: Sequence[str]  # the tokens written so far
    written: str  # the same as text
    tokens: Sequence[str]  # those that are shown, the likeliest first
    numbers: Sequence[int]  # which of the vocabulary they are
    panels: Sequence[Panel]
    origins: Sequence[int]  # of each panel, the one that it was made from
    taken: int | None = None  # the place among the tokens of what the best output has here, if that is known
    nearest: Sequence[tuple[str, float]] = ()  # tokens whose output vectors lie nearest to the state, and the cosines

    def __post_init__(self) -> None:
        if not self.tokens or not self.panels or len(self.panels) != len(self.origins):
            raise ValueError("choices need a token and a panel at least, and for each panel its origin")
        if any(origin > place for place, origin in enumerate(self.origins)):
            raise ValueError("a panel stands behind its origin")

    @property
    def vocabulary(self) -> int:
        return len(self.panels[0].probabilities)

    @property
    def unshown(self) -> int:
        """How many tokens stand behind those that are shown."""
        return self.vocabulary - len(self.tokens)

    def was_cut(self, panel: int, token: int) -> bool:
        """Whether a token that was there in the panel's origin is there no more."""
        before, after = self.panels[self.origins[panel]], self.panels[panel]
        return bool(before.probabilities[token] > 0 and not after.probabilities[token] > 0)


def choices_to_json(choices: Choices) -> dict[str, Any]:
    """The same as plain values, every number as it is."""
    count = len(choices.tokens)
    own = choices.panels[0].probabilities
    nearest = [{"token": token, "cosine": cosine} for token, cosine in choices.nearest]
    return {
        "text": choices.source or choices.written,
        "before": list(choices.before),
        "written": choices.written,
        "vocabulary": choices.vocabulary,
        "tokens": [
            {"token": token, "number": number, "probability": float(own[place]), "taken": place == choices.taken}
            for place, (token, number) in enumerate(zip(choices.tokens, choices.numbers, strict=True))
        ],
        "panels": [
            {
                "title": panel.title,
                "options": panel.options,
                "kept": panel.kept,
                "entropy": panel.entropy,
                "probabilities": panel.probabilities[:count].tolist(),
                "others": panel.others(count),
            }
            for panel in choices.panels
        ],
    } | ({"nearest": nearest} if nearest else {})
