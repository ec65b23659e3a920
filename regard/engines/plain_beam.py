"""Plain beam search for one sentence and without torch, by the rules of `regard.decoding.beam`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from regard.base.pauses import between_steps
from regard.decoding.options import DecodingOptions
from regard.engines.beam_rules import divisor


class Best(NamedTuple):
    """Log-probabilities after a token in each row, and attention."""

    values: np.ndarray  # (row, rank) of the best continuations, best first
    tokens: np.ndarray  # (row, rank) which they are
    end: np.ndarray  # (row) of the end
    attention: np.ndarray  # (row, source)


# A step after these tokens, one a row, each row going on from one of the rows before; so many of the best are wanted.
Step = Callable[[Sequence[int], Sequence[int], int], Best]


@dataclass(frozen=True)
class PlainHypothesis:
    """A hypothesis: tokens, the log-probability of each (the end's last if it ended), and attention."""

    tokens: list[int]
    scores: list[float]
    attention: list[np.ndarray]
    total: float
    row: int = 0  # the one it comes from

    def onward(self, token: int, value: float, attention: np.ndarray, row: int) -> "PlainHypothesis":
        looked = [*self.attention, attention]
        return PlainHypothesis([*self.tokens, token], [*self.scores, value], looked, self.total + value, row)

    def ended(self, value: float) -> "PlainHypothesis":
        return PlainHypothesis(self.tokens, [*self.scores, value], self.attention, self.total + value)

    def score(self, options: DecodingOptions) -> float:
        """Return the score of a finished hypothesis."""
        return self.total / divisor(options, len(self.scores))


def plain_beam(step: Step, limit: int, begin: int, end: int, options: DecodingOptions) -> list[PlainHypothesis]:
    """The best outputs, best first, of `limit` tokens at most, the end counted."""
    beam = options.beam
    wanted = 1 if beam == 1 and options.stop != "exhaustive" else 2 * beam
    living, kept = [PlainHypothesis([], [], [], 0.0)], list[PlainHypothesis]()
    while living:
        between_steps()
        last = [each.tokens[-1] if each.tokens else begin for each in living]
        best = step(last, [each.row for each in living], wanted)
        length = len(living[0].tokens) + 1
        if length < limit:
            ended, living = _continue(living, best, end, beam)
        else:
            ended, living = _broken_off(living, best, beam), []
        kept = sorted([*kept, *ended], key=lambda each: -each.score(options))[
            :beam
        ]  # of equals the earlier stays first
        if living and len(kept) == beam:
            hope = max(each.total for each in living) / divisor(
                options, limit if options.stop == "exhaustive" else length
            )
            if options.stop == "first" or hope <= kept[-1].score(options):
                break
    return kept[: options.n_best]


def _continue(
    living: list[PlainHypothesis], best: Best, end: int, beam: int
) -> tuple[list[PlainHypothesis], list[PlainHypothesis]]:
    """Split the 2·beam best continuations: those among the first `beam` that end, and the first `beam` that do not."""
    sums = np.array([each.total for each in living])[:, None] + best.values
    ended, alive, ranks = list[PlainHypothesis](), list[PlainHypothesis](), best.values.shape[1]
    # A stable sort, so of equals the earlier row comes first, and of its tokens the smaller.
    for rank, place in enumerate(np.argsort(-sums, axis=None, kind="stable")[: 2 * beam].tolist()):
        row, column = divmod(place, ranks)
        token, value = int(best.tokens[row, column]), float(best.values[row, column])
        if token != end and len(alive) < beam:
            alive.append(living[row].onward(token, value, best.attention[row], row))
        elif token == end and rank < beam:
            ended.append(living[row].ended(value))
    return ended, alive


def _broken_off(living: list[PlainHypothesis], best: Best, beam: int) -> list[PlainHypothesis]:
    """All that live, with an end, the best first."""
    ended = [each.ended(float(value)) for each, value in zip(living, best.end, strict=True)]
    return sorted(ended, key=lambda each: -each.total)[:beam]
