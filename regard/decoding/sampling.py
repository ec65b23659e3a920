"""Batched ancestral sampling over anything Stepwise.

Every step puts the model's log-probabilities through the rules (`rules.py`), then through temperature, top-k, top-p,
min-p and typical in this order (`filters.py`), and samples by one uniform number: the first token at which the
cumulative probabilities, in order of token number, exceed it. That number is a function of the seed, the line, the
sample and the time (`chance.py`), so a sample does not depend on its batch, its order or the device.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.base.pauses import between_steps
from regard.decoding.chance import uniform
from regard.decoding.filters import distribution
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis, check_numbers
from regard.decoding.phrases import refuse_unpromising
from regard.decoding.rules import NOTHING, Rules, forced_ends
from regard.protocols import State, Stepwise


@dataclass
class _Drawn:
    """The sentences that are not finished; every tensor's rows are (sentence, sample)."""

    numbers: Tensor  # (sentence) the place of each in the batch
    tokens: Tensor  # (sentence, sample, time)
    scores: Tensor  # (sentence, sample, time) the model's log-probability of each token
    ended: Tensor  # (sentence, sample)


@torch.no_grad()
def sample(
    task: Stepwise,
    batch: Any,
    limits: Tensor,
    options: DecodingOptions,
    lines: Sequence[int] | None = None,
    demands: Demands | None = None,
    must_end: bool = True,
) -> list[list[Hypothesis]]:
    """Return `options.sampling.samples` outputs for each sentence, in the order of their sample numbers.

    `limits` holds the longest length of each output, with its end, and `lines` the line of each sentence in the whole
    input (default: its place in the batch). At its limit an output either `must_end` or is cut. Scores are the sums of
    the model's own log-probabilities, undivided.
    """
    demands = demands or Demands()
    if any(demands.required):
        refuse_unpromising(options, draws=True)
    count, copies, device = len(limits), options.sampling.samples, limits.device
    rules = Rules(options, demands, task.end, forced_ends(limits, must_end))
    keys = torch.tensor(lines if lines is not None else range(count), dtype=torch.long, device=device)
    if len(keys) != count:
        raise ValueError(f"{len(keys)} line numbers were given for {count} sentences")
    nothing = torch.empty(count, copies, 0, device=device)
    samples = _Drawn(
        torch.arange(count, device=device),
        nothing.long(),
        nothing.double(),
        torch.zeros(count, copies, dtype=torch.bool, device=device),
    )
    state, last = task.start(batch).spread(copies), torch.full((count * copies,), task.begin, device=device)
    results: list[list[Hypothesis]] = [[] for _ in range(count)]
    while len(samples.numbers):
        between_steps()
        log_probabilities, state = task.step(last, state)
        values = rules(log_probabilities, samples.tokens.flatten(0, 1), samples.numbers.repeat_interleave(copies))
        chances = _chances(options.sampling.seed, keys[samples.numbers], copies, samples.tokens.shape[2])
        last = draw(distribution(never_stuck(values, task.end), options.sampling), chances)
        _append(samples, last, log_probabilities, task.end)
        samples.ended |= (limits[samples.numbers] <= samples.tokens.shape[2])[:, None]
        state, last = _move_on(samples, state, last, task.end, must_end, results)
    check_numbers(results)
    return results


def never_stuck(values: Tensor, end: int) -> Tensor:
    """Let rows end if the model and the rules leave them nothing to write."""
    stuck = ~values.isfinite().any(dim=1, keepdim=True)
    places = torch.arange(values.shape[1], device=values.device)
    return values.masked_fill(stuck, NOTHING).masked_fill(stuck & (places == end), 0.0)


def draw(log_probabilities: Tensor, chances: Tensor) -> Tensor:
    """Return, for each row, the first token at which the cumulative probabilities exceed its chance in [0, 1)."""
    cumulative = log_probabilities.double().exp().cumsum(dim=-1)
    whole = cumulative[:, -1:].contiguous()
    tokens = torch.searchsorted(cumulative, chances[:, None] * whole, right=True)
    # Rounding may carry a chance next to 1 up to the total, past the last token with any probability.
    return torch.minimum(tokens, torch.searchsorted(cumulative, whole)).squeeze(1)


def _chances(seed: int, lines: Tensor, copies: int, time: int) -> Tensor:
    line = lines.repeat_interleave(copies)
    number = torch.arange(copies, device=lines.device).repeat(len(lines))
    return uniform(seed, line, number, torch.full_like(line, time))


def _append(samples: _Drawn, tokens: Tensor, log_probabilities: Tensor, end: int) -> None:
    """Append the tokens; a sample that has ended continues in place and is cut when it is read."""
    token_scores = log_probabilities.double().gather(1, tokens[:, None])
    shape = (*samples.ended.shape, 1)
    samples.tokens = torch.cat([samples.tokens, tokens.view(shape)], dim=2)
    samples.scores = torch.cat([samples.scores, token_scores.view(shape)], dim=2)
    samples.ended = samples.ended | (tokens == end).view(shape[:2])


def _move_on(
    samples: _Drawn, state: State, last: Tensor, end: int, must_end: bool, results: list[list[Hypothesis]]
) -> tuple[State, Tensor]:
    """Store the results of sentences whose samples have all ended, and continue with the others."""
    done = samples.ended.all(dim=1)
    if not done.any():
        return state, last
    for place in done.nonzero().flatten().tolist():
        written = zip(samples.tokens[place].tolist(), samples.scores[place].tolist(), strict=True)
        results[int(samples.numbers[place])] = [hypothesis_of(*row, end, must_end) for row in written]
    remaining = (~done).nonzero().flatten()
    rows = (
        torch.arange(done.numel() * samples.ended.shape[1], device=remaining.device)
        .view(samples.ended.shape)[remaining]
        .flatten()
    )
    samples.numbers, samples.ended = samples.numbers[remaining], samples.ended[remaining]
    samples.tokens, samples.scores = samples.tokens[remaining], samples.scores[remaining]
    return state.keep(remaining, rows), last[rows]


def hypothesis_of(tokens: list[int], scores: list[float], end: int, must_end: bool) -> Hypothesis:
    """Return the output up to its first end, or all of it if it was cut before one.

    An end without probability means that nothing else could be written; an output that need not end was cut there.
    """
    length = tokens.index(end) if end in tokens else len(tokens)
    token_scores = scores[: length + 1]
    if not must_end and token_scores[length:] == [NOTHING]:
        token_scores = token_scores[:length]
    return Hypothesis(tokens[:length], token_scores, sum(token_scores))
