"""Choices of one output, token by token: the best token or a sampled one, and whether rounding could change the choice.

The choices are those of `beam.py` with a beam of one and of `sampling.py`, from the same rules and filters.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

from regard.decoding.chance import uniform
from regard.decoding.choosing import largest_first
from regard.decoding.filters import distribution, temper, top_k, top_p
from regard.decoding.hypothesis_scores import length_penalty
from regard.decoding.options import DecodingOptions, SamplingOptions
from regard.decoding.output import Hypothesis
from regard.decoding.rules import Rules
from regard.decoding.sampling import draw, hypothesis_of, never_stuck

BOUND = 2e-4  # a choice is sure if it stays the same with log-probabilities that are off by half of this
SAMPLED_BOUND = BOUND / 2  # the same for samples, which have a border between every two tokens


@dataclass(frozen=True)
class Pick:
    """A chosen token, the value it was ranked by and its log-probability.

    If nothing can be written, there is no token.
    """

    token: int
    value: float
    score: float
    is_sure: bool
    kind: Literal["token", "end", "nothing"]


class Picks(Protocol):
    """Chooses the tokens of one output, and makes it of them."""

    rules: Rules
    bound: float

    def pick(self, log_probabilities: Tensor, written: Sequence[int], exact: bool = False) -> Iterator[Pick]:
        """Yield the choice at each place (place, token); all are sure if the log-probabilities are `exact`.

        The first place follows all that is `written`; the caller appends a choice there before it asks for the next.
        """

    def outputs(self, picks: Sequence[Pick]) -> list[Hypothesis]:
        """Return the output of all choices; none if nothing could be written."""


class Greedy:
    """The best token that the rules allow, and the smaller one among equals."""

    bound = BOUND

    def __init__(self, rules: Rules, options: DecodingOptions, must_end: bool) -> None:
        self.rules, self.options, self.must_end = rules, options, must_end

    def pick(self, log_probabilities: Tensor, written: Sequence[int], exact: bool = False) -> Iterator[Pick]:
        found: list[_Best] = []
        for place in range(len(log_probabilities)):
            if self.rules.can_change(len(written)):
                (best,) = _two_best(_ruled(self.rules, log_probabilities[place], written))
                yield self._of(best, float(log_probabilities[place, best[1][0]]))
            else:
                found = found or _two_best(log_probabilities)
                yield self._of(found[place], found[place][0][0])

    def _of(self, best: "_Best", score: float) -> Pick:
        (value, *others), (token, *_) = best
        if not math.isfinite(value):
            return Pick(token, value, score, False, "nothing")
        is_sure = not others or value - others[0] > BOUND * self.options.repetition_penalty
        return Pick(token, value, score, is_sure, _kind(token, self.rules.end))

    def outputs(self, picks: Sequence[Pick]) -> list[Hypothesis]:
        written = [pick for pick in picks if pick.kind != "nothing"]
        if len(written) < len(picks) and (self.must_end or not written):
            return []
        tokens = [pick.token for pick in written if pick.kind == "token"]
        total = sum(pick.value for pick in written)
        penalty = length_penalty(len(written), self.options.length_penalty, self.options.length_penalty_kind)
        return [Hypothesis(tokens, [pick.score for pick in written], float(total / penalty))]


class Sampled:
    """The sample of a line with this number, as `sampling.sample` draws it."""

    bound = SAMPLED_BOUND

    def __init__(self, rules: Rules, options: DecodingOptions, must_end: bool, key: tuple[int, int]) -> None:
        self.rules, self.options, self.must_end = rules, options.sampling, must_end
        self._off = SAMPLED_BOUND / 2 * options.repetition_penalty  # how far a value may be off
        self._key = [torch.tensor([number], device=rules.limits.device) for number in key]

    def pick(self, log_probabilities: Tensor, written: Sequence[int], exact: bool = False) -> Iterator[Pick]:
        for row in log_probabilities:
            values = never_stuck(_ruled(self.rules, row, written), self.rules.end)
            chance = uniform(self.options.seed, *self._key, torch.full_like(self._key[0], len(written)))
            drawn = distribution(values, self.options)
            token = int(draw(drawn, chance))
            score = float(row[token])
            is_sure = exact or _is_sure(values, drawn, token, float(chance), self._off, self.options)
            yield Pick(token, score, score, is_sure, _kind(token, self.rules.end))

    def outputs(self, picks: Sequence[Pick]) -> list[Hypothesis]:
        tokens, scores = [pick.token for pick in picks], [pick.score for pick in picks]
        return [hypothesis_of(tokens, scores, self.rules.end, self.must_end)]


def drawn_alike(options: SamplingOptions, key: tuple[int, int]) -> Callable[[Tensor, int], tuple[int, float]]:
    """Return how a draft chooses for the sample of a line with this number: by the same chances.

    It gives the token and its probability from log-probabilities (token) at a time. Models that agree then mostly draw
    the same token.
    """

    def choose(log_probabilities: Tensor, time: int) -> tuple[int, float]:
        line, number, place = (torch.tensor([part], device=log_probabilities.device) for part in (*key, time))
        drawn = distribution(log_probabilities[None], options)
        token = int(draw(drawn, uniform(options.seed, line, number, place)))
        return token, float(drawn[0, token].exp())

    return choose


_Best = tuple[list[float], list[int]]  # the two largest values of a row, and their tokens


def _two_best(values: Tensor) -> list[_Best]:
    best, tokens = largest_first(values, 2)
    return list(zip(best.tolist(), tokens.tolist(), strict=True))


def _kind(token: int, end: int) -> Literal["token", "end"]:
    return "end" if token == end else "token"


def _ruled(rules: Rules, log_probabilities: Tensor, written: Sequence[int]) -> Tensor:
    """Return the values (1, token) that a search ranks the next token by."""
    device = log_probabilities.device
    tokens = torch.tensor([list(written)], dtype=torch.long, device=device)
    return rules(log_probabilities[None], tokens, torch.zeros(1, dtype=torch.long, device=device))


def _is_sure(values: Tensor, drawn: Tensor, token: int, chance: float, off: float, options: SamplingOptions) -> bool:
    """Return True if the same token is drawn from all values that are off by `off` at most.

    With temperature T, a logarithm of a probability, the difference of two of them, and the probability of a set of
    tokens then change by no more than 2 off / T, up to terms in its square; so it is once the kept tokens are the same.
    """
    if options.temperature == 0:
        return _gap(values, 1) > 2 * off
    kept, shift = temper(values.double().log_softmax(dim=-1), options.temperature), 2.1 * off / options.temperature
    if options.top_k:
        if not _gap(kept, options.top_k) > shift:
            return False
        kept = top_k(kept, options.top_k)
    if options.top_p < 1:
        nucleus = top_p(kept, options.top_p)
        count = int(nucleus.isfinite().sum())
        mass = kept.exp().sort(dim=-1, descending=True).values.cumsum(dim=-1)[0]
        is_needed = count == 1 or float(mass[count - 2]) + shift < options.top_p
        if not (is_needed and options.top_p < float(mass[count - 1]) - shift and _gap(kept, count) > shift):
            return False
        kept = nucleus
    if options.min_p > 0:
        relative = kept - kept.amax(dim=-1, keepdim=True) - math.log(options.min_p)
        if not float(relative.abs().min()) > shift:
            return False
    cumulative = drawn.exp().cumsum(dim=-1)[0]
    place, above = chance * float(cumulative[-1]), float(cumulative[token])
    below = float(cumulative[token - 1]) if token else 0.0
    is_last = not bool(drawn[0, token + 1 :].isfinite().any())
    return (below == 0.0 or place - below > shift) and (is_last or above - place > shift)


def _gap(values: Tensor, count: int) -> float:
    """Return by how much the `count` largest of one row exceed the others."""
    if count >= values.shape[-1]:
        return math.inf
    best = values[0].topk(count + 1).values
    return float(best[-2] - best[-1]) if bool(best[-1].isfinite()) else math.inf
