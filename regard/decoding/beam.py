"""Batched beam search over anything Stepwise; greedy search is a beam of one.

The rules, exactly. Every sentence keeps `beam` living hypotheses. Each step ranks their continuations by the sum of
log-probabilities (ties: the earlier hypothesis, then the smaller token, first) and looks at the 2·beam best: those
among the first `beam` that end are finished, and the first `beam` that do not end live on. A finished hypothesis of
n tokens, its end counted, scores sum / ((5 + n) / 6)^alpha; the best `beam` finished ones are kept. A sentence is
done when it has kept `beam` and no living hypothesis, scored at its present length, beats the worst of them. At its
length limit a hypothesis must end. A sentence's rows see nothing of other sentences, so a batch changes nothing.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from regard.decoding.options import DecodingOptions
from regard.protocols import State, Stepwise


@dataclass(frozen=True)
class Hypothesis:
    """One output: its tokens without the end, their log-probabilities with the end's last, and its score."""

    tokens: list[int]
    token_scores: list[float]
    score: float


@dataclass
class _Living:
    """What is known of the sentences still searched; every tensor's rows are (sentence, beam)."""

    numbers: list[int]  # which sentence of the batch each is
    limits: Tensor  # (sentence) tokens at most, the end counted
    sums: Tensor  # (sentence, beam) float64 sums of log-probabilities
    tokens: Tensor  # (sentence, beam, time)
    scores: Tensor  # (sentence, beam, time) log-probability of each token
    finished: list[list[Hypothesis]] = field(default_factory=list)


@torch.no_grad()
def beam_search(task: Stepwise, batch: Any, limits: Tensor, options: DecodingOptions) -> list[list[Hypothesis]]:
    """The best outputs for each sentence of the batch, best first; `limits` says how long each may be.

    The search happens where `limits` lies, which is where the model is.
    """
    state = task.start(batch)
    size, count, device = options.beam, len(limits), limits.device
    results: list[list[Hypothesis]] = [[] for _ in range(count)]
    # All but the first of a sentence's rows start dead, so that the first step does not find everything `size` times.
    sums = torch.full((count, size), float("-inf"), dtype=torch.float64, device=device)
    sums[:, 0] = 0.0
    nothing = torch.empty(count, size, 0, device=device)
    living = _Living(list(range(count)), limits, sums, nothing.long(), nothing.double(), [[] for _ in range(count)])
    state, last = state.spread(size), torch.full((count * size,), task.begin, device=device)
    while living.numbers:
        log_probabilities, state = task.step(last, state)
        rows = _advance(living, log_probabilities.view(len(living.numbers), size, -1), task.end, options)
        done = _done(living, options)
        for place in done:
            results[living.numbers[place]] = living.finished[place]
        state, last = _move_on(living, state, rows, done)
    return [hypotheses[: options.n_best] for hypotheses in results]


def length_penalty(length: int | Tensor, alpha: float) -> float | Tensor:
    """lp(n) = ((5 + n) / 6)^alpha (Wu et al. 2016, equation 14)."""
    return ((5 + length) / 6) ** alpha


def _advance(living: _Living, log_probabilities: Tensor, end: int, options: DecodingOptions) -> Tensor:
    """Lengthen the living hypotheses by one token, finish those that end; returns the row each survivor came from."""
    sentences, size, vocabulary = log_probabilities.shape
    length = living.tokens.shape[2] + 1
    step_scores = log_probabilities.double()
    at_limit = (living.limits <= length)[:, None, None]
    not_end = torch.arange(vocabulary, device=step_scores.device) != end
    step_scores = step_scores.masked_fill(at_limit & not_end, float("-inf"))
    sums = (living.sums[:, :, None] + step_scores).flatten(1)
    best, index = _ranked(sums, 2 * size)
    origin, token = index // vocabulary, index % vocabulary
    own = step_scores.flatten(1).gather(1, index)
    ends = token == end
    _finish(living, best, origin, own, ends & best.isfinite(), options)
    # The first `size` that do not end live on, in order: a stable sort moves the ended ones behind them.
    order = ends.to(torch.uint8).argsort(dim=1, stable=True)[:, :size]
    origin, token, own, best = (table.gather(1, order) for table in (origin, token, own, best))
    along = origin[:, :, None].expand(-1, -1, length - 1)
    living.tokens = torch.cat([living.tokens.gather(1, along), token[:, :, None]], dim=2)
    living.scores = torch.cat([living.scores.gather(1, along), own[:, :, None]], dim=2)
    living.sums = best.masked_fill(token == end, float("-inf"))
    return origin + torch.arange(sentences, device=origin.device)[:, None] * size


def _ranked(sums: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row, largest first, equal ones by place: topk alone leaves that order open."""
    count = min(count, sums.shape[1])
    best, index = sums.topk(count, dim=1)
    if ((best[:, 1:] == best[:, :-1]) & best[:, 1:].isfinite()).any():
        best, index = sums.sort(dim=1, descending=True, stable=True)
    return best[:, :count], index[:, :count]


def _finish(
    living: _Living, best: Tensor, origin: Tensor, own: Tensor, ended: Tensor, options: DecodingOptions
) -> None:
    size, length = options.beam, living.tokens.shape[2] + 1
    penalty = length_penalty(length, options.length_penalty)
    for place, rank in ended[:, :size].nonzero().tolist():
        row = int(origin[place, rank])
        hypothesis = Hypothesis(
            living.tokens[place, row].tolist(),
            [*living.scores[place, row].tolist(), float(own[place, rank])],
            float(best[place, rank] / penalty),
        )
        kept = living.finished[place]
        kept.append(hypothesis)
        kept.sort(key=lambda each: -each.score)  # stable: of equals the earlier found stays first
        del kept[size:]


def _done(living: _Living, options: DecodingOptions) -> list[int]:
    """Which sentences need no further step."""
    hopes = (living.sums.amax(dim=1) / length_penalty(living.tokens.shape[2], options.length_penalty)).tolist()
    return [
        place
        for place, kept in enumerate(living.finished)
        if not math.isfinite(hopes[place]) or (len(kept) == options.beam and hopes[place] <= kept[-1].score)
    ]


def _move_on(living: _Living, state: State, rows: Tensor, done: list[int]) -> tuple[State, Tensor]:
    """Carry the state over to the surviving rows, and drop the sentences that are done."""
    if not done:
        return state.select(rows.flatten()), living.tokens[:, :, -1].flatten()
    gone = set(done)
    stay = [place for place in range(len(living.numbers)) if place not in gone]
    living.numbers = [living.numbers[place] for place in stay]
    living.finished = [living.finished[place] for place in stay]
    index = torch.tensor(stay, dtype=torch.long, device=rows.device)
    living.limits, living.sums = living.limits[index], living.sums[index]
    living.tokens, living.scores = living.tokens[index], living.scores[index]
    return state.keep(index, rows[index].flatten()), living.tokens[:, :, -1].flatten()
