"""Plain beam search for one sentence without torch, by the rules of `regard.decoding.beam`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from regard.base.pauses import between_steps
from regard.decoding.options import DecodingOptions
from regard.engines.beam_rules import divisor


class Best(NamedTuple):
    """Log-probabilities after a token in each row, and attention."""

    values: np.ndarray  # (row, rank) log-probabilities of the best continuations, best first
    tokens: np.ndarray  # (row, rank) their tokens
    end: np.ndarray  # (row) log-probability of the end
    attention: np.ndarray  # (row, source)


# A step after these tokens, one per row, each continuing one of the previous rows; returns this many best.
Step = Callable[[Sequence[int], Sequence[int], int], Best]


@dataclass(frozen=True)
class PlainHypothesis:
    """A hypothesis: tokens, the log-probability of each (the end's last if it ended), and attention."""

    tokens: list[int]
    scores: list[float]
    attention: list[np.ndarray]
    total: float
    row: int = 0  # the row it continues

    def onward(self, token: int, value: float, attention: np.ndarray, row: int) -> "PlainHypothesis":
        weights = [*self.attention, attention]
        return PlainHypothesis([*self.tokens, token], [*self.scores, value], weights, self.total + value, row)

    def ended(self, value: float) -> "PlainHypothesis":
        return PlainHypothesis(self.tokens, [*self.scores, value], self.attention, self.total + value)

    def score(self, options: DecodingOptions) -> float:
        """Return the score of a finished hypothesis."""
        return self.total / divisor(options, len(self.scores))


def plain_beam(
    step: Step, limit: int, begin: int, end: int, options: DecodingOptions, must_end: bool = True
) -> list[PlainHypothesis]:
    """Return the best outputs, best first, of at most `limit` tokens including the end.

    At its limit an output either `must_end` or is cut, without the score of an end.
    """
    beam = options.beam
    count = 1 if beam == 1 and options.stop != "exhaustive" else 2 * beam
    living, finished = [PlainHypothesis([], [], [], 0.0)], list[PlainHypothesis]()
    while living:
        between_steps()
        last = [hypothesis.tokens[-1] if hypothesis.tokens else begin for hypothesis in living]
        best = step(last, [hypothesis.row for hypothesis in living], count)
        length = len(living[0].tokens) + 1
        if length < limit or not must_end:
            ended, living = _continue(living, best, end, beam)
        else:
            ended, living = _broken_off(living, best, beam), []
        finished = sorted([*finished, *ended], key=lambda hypothesis: -hypothesis.score(options))[
            :beam
        ]  # among equals the earlier stays first
        if living and len(finished) == beam:
            hope = max(hypothesis.total for hypothesis in living) / divisor(
                options, limit if options.stop == "exhaustive" else length
            )
            if options.stop == "first" or hope <= finished[-1].score(options):
                break
        if length >= limit:
            finished = sorted([*finished, *living], key=lambda hypothesis: -hypothesis.score(options))[:beam]
            break
    return finished[: options.n_best]


def _continue(
    living: list[PlainHypothesis], best: Best, end: int, beam: int
) -> tuple[list[PlainHypothesis], list[PlainHypothesis]]:
    """Split the 2·beam best continuations: those among the first `beam` that end, and the first `beam` that do not."""
    sums = np.array([hypothesis.total for hypothesis in living])[:, None] + best.values
    ended, alive, ranks = list[PlainHypothesis](), list[PlainHypothesis](), best.values.shape[1]
    # A stable sort: among equals the earlier row comes first, then the smaller token.
    for rank, place in enumerate(np.argsort(-sums, axis=None, kind="stable")[: 2 * beam].tolist()):
        row, column = divmod(place, ranks)
        token, value = int(best.tokens[row, column]), float(best.values[row, column])
        if value == -np.inf:  # a token that is never written
            continue
        if token != end and len(alive) < beam:
            alive.append(living[row].onward(token, value, best.attention[row], row))
        elif token == end and rank < beam:
            ended.append(living[row].ended(value))
    return ended, alive


def _broken_off(living: list[PlainHypothesis], best: Best, beam: int) -> list[PlainHypothesis]:
    """End all live hypotheses and return them, best first."""
    ended = [hypothesis.ended(float(value)) for hypothesis, value in zip(living, best.end, strict=True)]
    return sorted(ended, key=lambda hypothesis: -hypothesis.total)[:beam]
