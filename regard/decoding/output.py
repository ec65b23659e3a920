"""The hypotheses that a search returns, and demands on them besides its options."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from regard.base.faults import TextFault

if TYPE_CHECKING:  # it needs torch, which engines do without
    from regard.decoding.tree_form import TreeForm

Phrase = Sequence[int]
NO_NUMBERS = "the model's outputs are not numbers; its weights are damaged or too large."


def occurs(phrase: Phrase, tokens: Sequence[int]) -> bool:
    """Return True if the phrase occurs unbroken in the tokens."""
    size = len(phrase)
    return any(list(tokens[start : start + size]) == list(phrase) for start in range(len(tokens) - size + 1))


@dataclass(frozen=True)
class Wanted:
    """A phrase that must occur and can be written in several ways."""

    spellings: tuple[Phrase, ...]  # the tokens that a search aims for
    opening: tuple[Phrase, ...] = ()  # those that can only begin an output
    is_in: Callable[[Sequence[int]], bool] | None = None  # decides if it may be written in other ways too

    def occurs_in(self, tokens: Sequence[int]) -> bool:
        """Return True if an output that ends here would contain it."""
        if self.is_in is not None:
            return self.is_in(tokens)
        begins = any(list(tokens[: len(phrase)]) == list(phrase) for phrase in self.opening)
        return begins or any(occurs(phrase, tokens) for phrase in self.spellings)


@dataclass(frozen=True)
class Hypothesis:
    """One output: its tokens without the end, their log-probabilities with the end's last, and its score.

    An output that was cut at its limit has no end, and no score for it. The token scores are always the model's own
    log-probabilities. The score is what the search ranked by. If a language model was fused with the model,
    `language_scores` holds its log-probabilities.
    """

    tokens: list[int]
    token_scores: list[float]
    score: float
    language_scores: list[float] = field(default_factory=list)

    @property
    def has_ended(self) -> bool:
        """False if the output was cut at its limit."""
        return len(self.token_scores) > len(self.tokens)


def check_numbers(results: Sequence[Sequence[Hypothesis]]) -> None:
    """Refuse outputs of a model that gives NaN; a search may also find no outputs then."""
    for number, outputs in enumerate(results):
        if not outputs or math.isnan(outputs[0].score):
            raise TextFault(number, NO_NUMBERS)


@dataclass(frozen=True)
class Demands:
    """Demands on the outputs of one batch, in tokens; none may name the end."""

    prefixes: Sequence[Phrase] = ()  # beginning of each sentence's output; either empty or one for each sentence
    # phrases that each sentence's output must have, as tokens if there is one spelling; empty or one list for each
    required: Sequence[Sequence[Phrase | Wanted]] = ()
    forbidden: Sequence[Phrase] = ()  # phrases that no output may have
    allowed: Sequence[int] | None = None  # if given, the only tokens besides the end that may be written
    form: "TreeForm | None" = None  # if given, outputs are trees

    @classmethod
    def without(cls, tokens: Sequence[int]) -> "Demands":
        """Return the demand that no output has any of these tokens."""
        return cls(forbidden=[[token] for token in tokens])

    @property
    def wanted(self) -> list[list[Wanted]]:
        """Phrases required of each sentence, without duplicates."""
        return [
            list(
                dict.fromkeys(phrase if isinstance(phrase, Wanted) else Wanted((tuple(phrase),)) for phrase in phrases)
            )
            for phrases in self.required
        ]
