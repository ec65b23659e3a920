"""Sums over the paths of CTC, in logarithms: the forward–backward algorithm of Graves et al. 2006.

A network gives each frame t a distribution y^t over labels and a blank, the last symbol. A path has one symbol per
frame. B turns a path into a labelling: it merges repeated symbols, then removes blanks. For a labelling l,

    p(l | x) = Σ over π with B(π) = l of Π_t y^t_{π_t}                                       (equation 3)

All its paths walk along l′, which is l with a blank before, between and behind its labels. From a state s of l′ they
may stay, move on to s+1, or skip the blank between two different labels. This is a lattice of (frame, state), in which

    α_t(s) = y^t_{l′_s} · Σ over r that lead to s of α_{t−1}(r)                              (equations 6 and 7)
    β_t(s) =              Σ over r that s leads to of β_{t+1}(r) · y^{t+1}_{l′_r}
    p(l | x) = Σ_s α_t(s) · β_t(s)   at every t                                              (equation 14)

Departure: here β_t does not include y^t, so every product contains it once and nothing is divided by it.
Rows with fewer frames or labels than others are padded; a row whose labels do not fit its frames has log p = −∞.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.attention.masks import real_places
from regard.base.pauses import between_steps
from regard.models.transcriber import Counts, Labels

Frames = Float[Tensor, "batch frame symbol"]  # log y, the blank last
Lattice = Float[Tensor, "batch frame state"]

NEVER = float("-inf")


class _States(NamedTuple):
    """The states of l′ in each row: their symbols, which are real, and which can be reached by skipping a blank."""

    symbols: Int[Tensor, "batch state"]
    real: Bool[Tensor, "batch state"]
    from_two_before: Bool[Tensor, "batch state"]
    last: Int[Tensor, "batch 2"]  # the blank behind the last label, and the last label (or that blank again)


def frames_needed(labels: Labels, label_counts: Counts) -> Counts:
    """Return the fewest frames for a labelling: one per label, and a blank between two equal ones."""
    places = torch.arange(1, labels.shape[1], device=labels.device)
    repeated = (labels[:, 1:] == labels[:, :-1]) & (places < label_counts[:, None])
    return label_counts + repeated.sum(1)


def log_likelihood(frames: Frames, counts: Counts, labels: Labels, label_counts: Counts) -> Float[Tensor, " batch"]:
    """Return log p(l | x) of each row."""
    states = _states(labels, label_counts, blank=frames.shape[-1] - 1)
    forward = _forward(_emitted(frames, states), states)
    return log_sum(_at_the_end(forward, counts, states))


def occupancy(frames: Frames, counts: Counts, labels: Labels, label_counts: Counts) -> Lattice:
    """γ_t(s) = α_t(s) · β_t(s) / p(l | x): the probability that a path of l is in state s at frame t.

    It sums to one over the states of every real frame, and is zero behind them and where the labels do not fit.
    """
    states = _states(labels, label_counts, blank=frames.shape[-1] - 1)
    emitted = _emitted(frames, states)
    forward = _forward(emitted, states)
    whole = log_sum(_at_the_end(forward, counts, states))
    shares = (forward + _backward(emitted, counts, states) - whole[:, None, None]).exp()
    possible = real_places(counts, frames.shape[1]) & whole.isfinite()[:, None]
    return torch.where(possible[..., None], shares, torch.zeros_like(shares))


def best_alignment(
    frames: Frames, counts: Counts, labels: Labels, label_counts: Counts
) -> tuple[Int[Tensor, "batch frame"], Float[Tensor, " batch"]]:
    """Return the state of l′ at each frame on the most probable path of l, and the log-probability of that path.

    This is Viterbi: the same recursion with a maximum instead of the sum. Label n is state 2n + 1; padding is −1.
    """
    states = _states(labels, label_counts, blank=frames.shape[-1] - 1)
    emitted = _emitted(frames, states)
    best, before = _start(emitted), []
    columns = [best]
    for time in range(1, frames.shape[1]):
        between_steps()
        best, steps = _arriving(best, states).max(dim=-1)
        before.append(steps)  # 0: stayed, 1: from one before, 2: from two before
        best = best + emitted[:, time]
        columns.append(best)
    ends = _at_the_end(torch.stack(columns, dim=1), counts, states)
    score, end = ends.max(dim=-1)
    state = states.last.gather(1, end[:, None]).squeeze(1)
    path = torch.full_like(counts, -1)[:, None].repeat(1, frames.shape[1])
    for time in reversed(range(frames.shape[1])):
        between_steps()
        inside = time < counts
        path[:, time] = torch.where(inside, state, path[:, time])
        if time:
            step = before[time - 1].gather(1, state[:, None]).squeeze(1)
            state = torch.where(inside, state - step, state)
    return path.where(score.isfinite()[:, None], torch.full_like(path, -1)), score


def best_path(frames: Frames, counts: Counts) -> list[list[int]]:
    """Return B of each frame's most probable symbol (section 3.2): quick, often but not always the best labelling."""
    symbols, blank = frames.argmax(dim=-1), frames.shape[-1] - 1
    new = torch.ones_like(symbols, dtype=torch.bool)
    new[:, 1:] = symbols[:, 1:] != symbols[:, :-1]
    is_label = new & (symbols != blank) & real_places(counts, frames.shape[1])
    return [row[mask].tolist() for row, mask in zip(symbols.cpu(), is_label.cpu(), strict=True)]


def log_sum(terms: Float[Tensor, "*places term"]) -> Float[Tensor, "*places"]:
    """Return log Σ exp over the last axis; where all terms are −∞, so is the sum, with a gradient of zero, not NaN."""
    largest = terms.detach().amax(dim=-1)
    finite = largest.where(largest.isfinite(), torch.zeros_like(largest))
    total = (terms - finite[..., None]).exp().sum(dim=-1)
    never = total == 0
    return (total.masked_fill(never, 1.0).log() + finite).masked_fill(never, NEVER)


def _states(labels: Labels, label_counts: Counts, blank: int) -> _States:
    batch, longest = labels.shape
    symbols = labels.new_full((batch, 2 * longest + 1), blank)
    symbols[:, 1::2] = labels
    real = real_places(2 * label_counts + 1, symbols.shape[1])
    from_two_before = torch.zeros_like(real)
    from_two_before[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    behind = 2 * label_counts
    return _States(
        symbols.where(real, torch.full_like(symbols, blank)),
        real,
        from_two_before,
        torch.stack([behind, (behind - 1).clamp(min=0)], dim=1),
    )


def _emitted(frames: Frames, states: _States) -> Lattice:
    """Return log y^t_{l′_s}, and −∞ where a row has no such state."""
    logs = frames.gather(2, states.symbols[:, None].expand(-1, frames.shape[1], -1))
    return logs.masked_fill(~states.real[:, None], NEVER)


def _start(emitted: Lattice) -> Float[Tensor, "batch state"]:
    """Return the first column: paths begin with a blank or with the first label."""
    begins = torch.arange(emitted.shape[2], device=emitted.device) < 2
    return emitted[:, 0].masked_fill(~begins, NEVER)


def _arriving(before: Float[Tensor, "batch state"], states: _States) -> Float[Tensor, "batch state 3"]:
    """Return the ways into each state: from itself, from one before, or from two before if a blank may be skipped."""
    never = before.new_full((before.shape[0], 2), NEVER)
    padded = torch.cat([never, before], dim=1)
    skipping = padded[:, :-2].masked_fill(~states.from_two_before, NEVER)
    return torch.stack([before, padded[:, 1:-1], skipping], dim=-1)


def _forward(emitted: Lattice, states: _States) -> Lattice:
    """Return log α."""
    columns = [_start(emitted)]
    for time in range(1, emitted.shape[1]):
        between_steps()
        columns.append(emitted[:, time] + log_sum(_arriving(columns[-1], states)))
    return torch.stack(columns, dim=1)


def _backward(emitted: Lattice, counts: Counts, states: _States) -> Lattice:
    """Return log β; at the last frame of a row it is 0 in the two states where paths may end."""
    places = torch.arange(emitted.shape[2], device=emitted.device)
    ends = (places == states.last[:, :1]) | (places == states.last[:, 1:])
    at_end = torch.zeros_like(emitted[:, 0]).masked_fill(~ends, NEVER)
    after = torch.full_like(at_end, NEVER)
    columns = []
    skips = states.from_two_before[:, 2:]
    for time in reversed(range(emitted.shape[1])):
        between_steps()
        is_last = (counts == time + 1)[:, None]
        after = torch.where(is_last, at_end, after)
        columns.append(after)
        onward = after + emitted[:, time]
        never = onward.new_full((len(onward), 2), NEVER)
        padded = torch.cat([onward, never], dim=1)
        skipping = padded[:, 2:].clone()
        skipping[:, :-2] = skipping[:, :-2].masked_fill(~skips, NEVER)
        after = log_sum(torch.stack([onward, padded[:, 1:-1], skipping], dim=-1))
    return torch.stack(columns[::-1], dim=1)


def _at_the_end(forward: Lattice, counts: Counts, states: _States) -> Float[Tensor, "batch 2"]:
    """Return log α of the two states where paths may end, at the last frame of each row."""
    column = forward[torch.arange(len(forward), device=forward.device), (counts - 1).clamp(min=0)]
    ends = column.gather(1, states.last)
    only_blank = states.last[:, 0] == states.last[:, 1]  # without labels the two are the same state
    return torch.cat([ends[:, :1], ends[:, 1:].masked_fill(only_blank[:, None], NEVER)], dim=1)
