"""The hypotheses that a search gives, and what may be demanded of them beside its options."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from regard.base.faults import TextFault

Phrase = Sequence[int]
NO_NUMBERS = "the model gives no numbers for it; its weights are damaged, or too large to reckon with."


def occurs(phrase: Phrase, tokens: Sequence[int]) -> bool:
    """Return True if the phrase occurs unbroken in the tokens."""
    size = len(phrase)
    return any(list(tokens[start : start + size]) == list(phrase) for start in range(len(tokens) - size + 1))


@dataclass(frozen=True)
class Wanted:
    """A phrase that must occur and can be written in several ways."""

    spellings: tuple[Phrase, ...]  # the tokens that a search goes for
    opening: tuple[Phrase, ...] = ()  # those with which an output can only begin
    is_in: Callable[[Sequence[int]], bool] | None = None  # who knows of other ways too; else any of these will do

    def occurs_in(self, tokens: Sequence[int]) -> bool:
        """Return True if an output that ends here would contain it."""
        if self.is_in is not None:
            return self.is_in(tokens)
        begins = any(list(tokens[: len(each)]) == list(each) for each in self.opening)
        return begins or any(occurs(each, tokens) for each in self.spellings)


@dataclass(frozen=True)
class Hypothesis:
    """One output: its tokens without the end, their log-probabilities with the end's last, and its score.

    An output that was cut at its limit has no end, and no score of one. The token scores are the model's own
    log-probabilities, whatever rules held. The score is what the search ranked by. Where a language model was fused
    with the model, its log-probabilities stand beside them.
    """

    tokens: list[int]
    token_scores: list[float]
    score: float
    language_scores: list[float] = field(default_factory=list)

    @property
    def has_ended(self) -> bool:
        """False if the output was cut at its limit."""
        return len(self.token_scores) > len(self.tokens)


def check_numbers(found: Sequence[Sequence[Hypothesis]]) -> None:
    """Refuse outputs of a model that gives no numbers, which are not outputs; a search may find none of them."""
    for number, outputs in enumerate(found):
        if not outputs or math.isnan(outputs[0].score):
            raise TextFault(number, NO_NUMBERS)


@dataclass(frozen=True)
class Demands:
    """Demands on the outputs of one batch, in tokens; none may name the end."""

    prefixes: Sequence[Phrase] = ()  # what each sentence's output begins with; either none or one for each sentence
    # phrases each sentence's output must have, those of one spelling by its tokens; none or one list for each
    required: Sequence[Sequence[Phrase | Wanted]] = ()
    forbidden: Sequence[Phrase] = ()  # phrases no output may have
    allowed: Sequence[int] | None = None  # if given, the only tokens, beside the end, that may be written

    @property
    def wanted(self) -> list[list[Wanted]]:
        """Phrases required of each sentence, each once."""
        return [
            list(dict.fromkeys(each if isinstance(each, Wanted) else Wanted((tuple(each),)) for each in several))
            for several in self.required
        ]
