"""Truth of language models on lines of letters: the only capital among them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from regard.data.generated.capitals import ASKS, capital_lines, capital_of
from regard.data.generated.corpora import CAPITALS
from regard.data.texts.recipe_lines import name_of
from regard.loading import Loaded
from regard.seeing.trust.known import KnownDecision
from regard.seeing.why.decision import Question


@dataclass(frozen=True)
class Capital:
    """The true unit of the letter after = is the only capital before it."""

    name: str = "the capital that a letter repeats"

    @classmethod
    def of(cls, model: Loaded) -> "Capital | None":
        """Return the truth of a language model that was trained on such lines."""
        is_known = all(name_of(file).startswith(f"{CAPITALS}:") for file in model.recipe.data.train)
        return cls() if is_known else None

    def decisions(self) -> Iterator[KnownDecision]:
        """Yield the last letter of each test line."""
        for line in capital_lines("test"):
            prompt, _, letter = line.rpartition(" ")
            yield KnownDecision(prompt, letter, 0)

    def units(self, item: Any, question: Question) -> frozenset[int] | None:
        letters = question.text.split()
        place = capital_of(question.text)
        if place is None or question.chosen.strip() != letters[place].lower() or len(question.names) <= len(letters):
            return None
        return frozenset([len(question.names) - len(letters) + place]) if letters[-1] == ASKS else None
