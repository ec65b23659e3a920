"""What a search gives, and what may be asked of it beside its options."""

from collections.abc import Sequence
from dataclasses import dataclass

Phrase = Sequence[int]


@dataclass(frozen=True)
class Hypothesis:
    """One output: its tokens without the end, their log-probabilities with the end's last, and its score.

    The token scores are the model's own log-probabilities, whatever rules held. The score is what the search ranked by.
    """

    tokens: list[int]
    token_scores: list[float]
    score: float


@dataclass(frozen=True)
class Demands:
    """What is asked of the outputs of one batch, in tokens; none of them may name the end."""

    prefixes: Sequence[Phrase] = ()  # what each sentence's output begins with; either none or one for each sentence
    required: Sequence[Sequence[Phrase]] = ()  # phrases each sentence's output must have; none or one list for each
    forbidden: Sequence[Phrase] = ()  # phrases no output may have
    allowed: Sequence[int] | None = None  # if given, the only tokens, beside the end, that may be written
