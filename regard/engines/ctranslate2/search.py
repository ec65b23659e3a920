"""Translate our beam search into CTranslate2's terms, and its results into ours.

Both keep `beam` live hypotheses, rank their continuations by sums of log-probabilities, look at the 2·beam best, finish
those among the first `beam` that end, and keep the first `beam` that do not. They differ in three ways.

- CTranslate2 stops as soon as enough are finished, which is our `stop = "first"`. It does not report the scores of live
  hypotheses, so it cannot stop for other reasons; for them it waits until twice as many are finished.
- It divides sums by length^alpha. It ranks no live hypotheses by that, so any other penalty can be applied afterwards.
  But if too many are finished it drops the worst by its own score, which is therefore made as close to ours as a power
  can be.
- It breaks off at the limit, where ours must end: the end and its score are added here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from regard.decoding.options import DecodingOptions
from regard.engines.beam_rules import divisor

if TYPE_CHECKING:
    import numpy as np

PATIENCE = 2  # times the beam: how many must be finished where ours would compare the live ones
NO_PENALTY = 1e-12  # with an exponent of 0 CTranslate2 would stop when the first is finished


@dataclass(frozen=True)
class FinishedOutput:
    """A hypothesis: its tokens, by name and without the end, the sum of its log-probabilities, and its attention."""

    tokens: list[str]
    total: float
    ended: bool  # by itself, with the end in the sum; otherwise it was broken off
    attention: "list[np.ndarray]"  # of each token to each source token, if requested

    def cut(self, length: int) -> "FinishedOutput":
        """Return at most this many tokens; a cut output has no sum."""
        if len(self.tokens) <= length:
            return self
        return FinishedOutput(self.tokens[:length], math.nan, False, self.attention[:length])


def patience(options: DecodingOptions) -> int:
    """Return how many times the beam size must be finished."""
    return 1 if options.stop == "first" or options.beam == 1 else PATIENCE


def arguments(options: DecodingOptions, power: float, patience: int) -> dict[str, Any]:
    """Return the arguments for CTranslate2; `power` comes from `exponent`."""
    greedy = options.beam == 1
    return {
        "beam_size": options.beam,
        "patience": 1 if greedy else patience,
        "num_hypotheses": 1 if greedy else options.beam * patience,
        "length_penalty": power,
        "min_decoding_length": 0,
        "max_input_length": 0,  # texts that are too long are refused, not cut
        "return_end_token": True,
    }


def exponent(options: DecodingOptions, length: int) -> float:
    """Return the power of the length that is nearest to our penalty for outputs of about this length.

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
    """Return the hypotheses in CTranslate2's result, with its penalty removed from their sums; missing sums are nan."""
    count, outputs = len(result.hypotheses), []
    scores: Sequence[float] = result.scores or [math.nan] * count
    attentions: Sequence[list[list[float]]] = result.attention or [[]] * count
    for tokens, score, attention in zip(result.hypotheses, scores, attentions, strict=True):
        ended = tokens[-1:] == [end]
        written = tokens[:-1] if ended else tokens
        looks = _arrays(attention[: len(written)]) if attention else []
        outputs.append(FinishedOutput(written, score * len(tokens) ** power, ended, looks))
    return outputs


def _arrays(rows: Sequence[Sequence[float]]) -> "list[np.ndarray]":
    import numpy as np  # a fifth of the time of a command that needs no attention

    return [np.array(row, np.float32) for row in rows]


def only_best_looks(outputs: list[FinishedOutput], options: DecodingOptions) -> list[FinishedOutput]:
    """Drop the attention of all but the best output, because it fills the memory and is not needed."""
    best = rank_finished(outputs, options)[0]
    return [output if output is best else replace(output, attention=[]) for output in outputs]


def score_of(output: FinishedOutput, options: DecodingOptions) -> float:
    return output.total / divisor(options, len(output.tokens) + 1)


def rank_finished(outputs: list[FinishedOutput], options: DecodingOptions) -> list[FinishedOutput]:
    """Return the best few, best first; with `stop = "first"`, ignore those that ended after enough others."""
    if options.stop == "first" and len(outputs) > options.beam:
        last = sorted(len(output.tokens) for output in outputs)[options.beam - 1]
        outputs = [output for output in outputs if len(output.tokens) <= last]
    return sorted(outputs, key=lambda output: -score_of(output, options))[: options.n_best]
