"""Our beam search in CTranslate2's terms, and what CTranslate2 finds in ours.

Both keep `beam` living hypotheses, rank their continuations by sums of log-probabilities, look at the 2·beam best,
finish those among the first `beam` that end, and let the first `beam` live that do not. They differ in three things.

- CTranslate2 stops as soon as enough are finished, which is our `stop = "first"`. It does not say how good those are
  that still live, so it cannot stop for the other reasons; for them it waits until twice as many are finished.
- It divides sums by length^alpha. It ranks nothing alive by that, so any other penalty can be put on afterwards. But
  of more than enough it forgets the worst by its own count, which is therefore made as like ours as a power can be.
- At the limit it breaks off, where ours must end: the end and its score are added here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from regard.decoding.options import DecodingOptions
from regard.engines.beam_rules import divisor

if TYPE_CHECKING:
    import numpy as np

PATIENCE = 2  # times the beam: how many must be finished where ours would ask how good the living ones are
NO_PENALTY = 1e-12  # an exponent of 0 would let CTranslate2 stop when the first is finished


@dataclass(frozen=True)
class FinishedOutput:
    """A hypothesis: its tokens, by name and without the end, the sum of its log-probabilities, and its attention."""

    tokens: list[str]
    total: float
    ended: bool  # of its own accord, and the end is in the sum; otherwise it was broken off
    attention: "list[np.ndarray]"  # of each token to each source token, where asked for

    def cut(self, length: int) -> "FinishedOutput":
        """No longer than so many tokens; what is cut has no sum any more."""
        if len(self.tokens) <= length:
            return self
        return FinishedOutput(self.tokens[:length], math.nan, False, self.attention[:length])


def patience(options: DecodingOptions) -> int:
    """Return how many times the beam must be finished."""
    return 1 if options.stop == "first" or options.beam == 1 else PATIENCE


def arguments(options: DecodingOptions, power: float, patience: int) -> dict[str, Any]:
    """Return the arguments for CTranslate2, where `exponent` gives the power of the length."""
    greedy = options.beam == 1
    return {
        "beam_size": options.beam,
        "patience": 1 if greedy else patience,
        "num_hypotheses": 1 if greedy else options.beam * patience,
        "length_penalty": power,
        "min_decoding_length": 0,
        "max_input_length": 0,  # what is too long is refused, not cut
        "return_end_token": True,
    }


def exponent(options: DecodingOptions, length: int) -> float:
    """The power of the length that is nearest to our penalty for outputs of about this length.

    d log lp / d log n of lp = ((5 + n) / 6)^alpha is alpha · n / (5 + n).
    """
    alpha = options.length_penalty
    match options.length_penalty_kind:
        case "wu":
            return alpha * length / (5 + length) or NO_PENALTY
        case "average":
            return alpha or NO_PENALTY
    return NO_PENALTY


def read_result(result: Any, end: str, power: float) -> list[FinishedOutput]:
    """The hypotheses in what CTranslate2 gave, their sums freed from its penalty; those not asked for are nan."""
    count, found = len(result.hypotheses), []
    scores: Sequence[float] = result.scores or [math.nan] * count
    attentions: Sequence[list[list[float]]] = result.attention or [[]] * count
    for tokens, score, attention in zip(result.hypotheses, scores, attentions, strict=True):
        ended = tokens[-1:] == [end]
        own = tokens[:-1] if ended else tokens
        looks = _arrays(attention[: len(own)]) if attention else []
        found.append(FinishedOutput(own, score * len(tokens) ** power, ended, looks))
    return found


def _arrays(rows: Sequence[Sequence[float]]) -> "list[np.ndarray]":
    import numpy as np  # a fifth of the time of a command that asks for no attention

    return [np.array(row, np.float32) for row in rows]


def only_best_looks(found: list[FinishedOutput], options: DecodingOptions) -> list[FinishedOutput]:
    """Drop the attention of all but the best output, which fills the memory and is not asked for."""
    best = rank_finished(found, options)[0]
    return [each if each is best else replace(each, attention=[]) for each in found]


def score_of(found: FinishedOutput, options: DecodingOptions) -> float:
    return found.total / divisor(options, len(found.tokens) + 1)


def rank_finished(found: list[FinishedOutput], options: DecodingOptions) -> list[FinishedOutput]:
    """The best few, best first; with `stop = "first"` nothing counts that ended later than enough others."""
    if options.stop == "first" and len(found) > options.beam:
        last = sorted(len(each.tokens) for each in found)[options.beam - 1]
        found = [each for each in found if len(each.tokens) <= last]
    return sorted(found, key=lambda each: -score_of(each, options))[: options.n_best]
