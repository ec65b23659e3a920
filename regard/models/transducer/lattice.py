"""Sums over the alignments of a transducer, in logarithms: the forward–backward algorithm of Graves 2012.

At frame t, with u labels written, the network has a distribution y(t, u) over the labels and a blank, φ. An alignment
of a labelling l begins at (0, 0). Label l_{u+1} leads from (t, u) to (t, u+1), since a frame may write several labels,
and a blank leads to (t+1, u). It ends with the blank from (T−1, U) to (T, U). With l_{u+1} as k,

    α(t, u) = α(t−1, u) · φ(t−1, u) + α(t, u−1) · y(l_u | t, u−1)         α(0, 0) = 1         (equation 16)
    β(t, u) = β(t+1, u) · φ(t, u)   + β(t, u+1) · y(k | t, u)             β(T, U) = 1         (equation 18)
    p(l | x) = α(T, U) = β(0, 0) = Σ over t + u = n of α(t, u) · β(t, u), for every n         (equations 17 and 19)

    ∂ log p(l | x) / ∂ log φ(t, u)     = α(t, u) · φ(t, u) · β(t+1, u) / p(l | x)             (equation 20)
    ∂ log p(l | x) / ∂ log y(k | t, u) = α(t, u) · y(k | t, u) · β(t, u+1) / p(l | x)

These are also the probabilities that an alignment of l takes this step. Departures: frames and labels are counted from
0, and the end is a separate place after the last blank, so that the last frame needs no special case.

All cells of a diagonal, t + u = n, follow from those of the previous one, so a diagonal is one step for all rows of a
batch; no step waits for the host. Rows that end early continue to the last diagonal by blanks without cost. All sums
are in float64.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.attention.masks import real_places
from regard.base.pauses import between_steps
from regard.models.transcriber import Counts, Labels

NEVER = float("-inf")

Cells = Float[Tensor, "batch frame place"]  # a place for each number of written labels: 0 to U
StepDiagonals = Float[Tensor, "step batch place"]  # the steps that begin on each diagonal
Diagonals = Float[Tensor, "diagonal batch place"]  # α or β; one diagonal more, where the last steps end


class Lattice(NamedTuple):
    """log φ(t, u) and log y(l_{u+1} | t, u) of each row, −∞ outside it, and its numbers of frames and labels."""

    waits: Cells
    writes: Cells
    counts: Counts
    label_counts: Counts


class Steps(NamedTuple):
    """log p(l | x), and the probabilities that an alignment of l waits at a cell, or writes there."""

    score: Float[Tensor, " batch"]
    waits: Cells
    writes: Cells


def lattice_of(
    logs: Float[Tensor, "batch frame place symbol"], labels: Labels, counts: Counts, label_counts: Counts
) -> Lattice:
    """Return the steps of all alignments of some labels, from log-probabilities of all symbols, the blank last."""
    return within_rows(*waits_and_writes(logs, labels), counts, label_counts)


def waits_and_writes(logs: Float[Tensor, "batch frame place symbol"], labels: Labels) -> tuple[Cells, Cells]:
    """Return the log-probabilities of the blank and, at each place, of the next label; any after the last."""
    following = F.pad(labels, (0, 1))[:, None, :, None].expand(-1, logs.shape[1], -1, 1)
    return logs[..., -1], logs.gather(3, following).squeeze(3)


def within_rows(waits: Cells, writes: Cells, counts: Counts, label_counts: Counts) -> Lattice:
    """Return the lattice of these steps, with −∞ for steps that a row does not have."""
    frames, places = waits.shape[1:]
    inside = real_places(counts, frames)[:, :, None]
    unwritten = inside & real_places(label_counts, places)[:, None]
    possible = inside & real_places(label_counts + 1, places)[:, None]
    return Lattice(waits.masked_fill(~possible, NEVER), writes.masked_fill(~unwritten, NEVER), counts, label_counts)


def log_likelihood(lattice: Lattice) -> Float[Tensor, " batch"]:
    """Return log p(l | x) of each row; a row without frames has −∞, or 0 if it has no labels either."""
    if torch.is_grad_enabled() and lattice.waits.requires_grad:
        return steps_of(lattice).score
    return _at_the_end(_forward(*_as_diagonals(lattice)), lattice)


def steps_of(lattice: Lattice) -> Steps:
    """Return each row's probability, and where its alignments wait and write; only the first has a gradient."""
    return Steps(*_Alignments.apply(*lattice))


class _Alignments(torch.autograd.Function):
    """Run both recursions at once, since the share of a step in the sum is its gradient."""

    @staticmethod
    def forward(ctx: Any, waits: Cells, writes: Cells, counts: Counts, label_counts: Counts) -> tuple[Tensor, ...]:
        lattice = Lattice(waits, writes, counts, label_counts)
        waiting, writing = _as_diagonals(lattice)
        forward, backward = _forward(waiting, writing), _backward(waiting, writing, lattice)
        score = _at_the_end(forward, lattice)
        before = forward[:-1] - score.where(score.isfinite(), 0.0)[:, None]
        waited = (before + waiting + backward[1:]).exp()
        wrote = (before[..., :-1] + writing[..., :-1] + backward[1:, :, 1:]).exp()
        pairs = ((waits, waited), (writes, F.pad(wrote, (0, 1))))
        shares_of_steps = [_as_cells(shares, like.shape[1]).to(like).where(like > NEVER, 0.0) for like, shares in pairs]
        ctx.save_for_backward(*shares_of_steps)
        ctx.mark_non_differentiable(*shares_of_steps)
        return (score, *shares_of_steps)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, *unused: Tensor) -> tuple[Tensor | None, ...]:
        waits, writes = ctx.saved_tensors
        factor = upstream[:, None, None].to(waits.dtype)
        return waits * factor, writes * factor, None, None


def best_frames(lattice: Lattice) -> Int[Tensor, "batch label"]:
    """Return the frame at which each label is written along the most probable alignment (Viterbi).

    This is the forward recursion with a maximum instead of the sum; labels that a row does not have are at frame 0.
    """
    waiting, writing = _as_diagonals(lattice)
    best, by_writing = _start(waiting), list[Bool[Tensor, "batch place"]]()
    for waited, wrote in zip(waiting, writing, strict=True):
        between_steps()
        one, other = best + waited, _shift(best + wrote)
        by_writing.append(other > one)
        best = torch.maximum(one, other)
    place = lattice.label_counts
    frames = torch.zeros_like(waiting[0], dtype=torch.long)
    for number in reversed(range(1, len(by_writing) + 1)):
        between_steps()
        wrote = by_writing[number - 1].gather(1, place[:, None])
        written = (number - place)[:, None]
        frames = torch.where(wrote, frames.scatter(1, place[:, None], written), frames)
        place = place - wrote.squeeze(1).long()
    return frames[:, 1:]


def _as_diagonals(lattice: Lattice) -> tuple[StepDiagonals, StepDiagonals]:
    """Return the steps with the cells of a diagonal, t + u = n, side by side in order of u; −∞ where there is none."""
    frames, places = lattice.waits.shape[1:]
    place = torch.arange(places, device=lattice.waits.device)
    frame = torch.arange(frames + places - 1, device=place.device)[:, None] - place
    chosen = frame.clamp(0, frames - 1).expand(len(lattice.waits), -1, -1)
    is_cell = (frame >= 0) & (frame < frames)
    waits, writes = (
        cells.detach().double().gather(1, chosen).masked_fill(~is_cell, NEVER).transpose(0, 1) for cells in lattice[:2]
    )
    is_over = (frame[:, None] >= lattice.counts[:, None]) & (place == lattice.label_counts[:, None])
    return waits.masked_fill(is_over, 0.0), writes.contiguous()


def _as_cells(diagonals: StepDiagonals, frames: int) -> Cells:
    """Return the steps by frames again."""
    place = torch.arange(diagonals.shape[2], device=diagonals.device)
    number = torch.arange(frames, device=place.device)[:, None] + place
    return diagonals.transpose(0, 1).gather(1, number.expand(diagonals.shape[1], -1, -1))


def _start(waiting: StepDiagonals) -> Float[Tensor, "batch place"]:
    """Return log α of the first diagonal: every alignment begins before the first frame, with nothing written."""
    start = torch.full_like(waiting[0], NEVER)
    start[:, 0] = 0.0
    return start


def _shift(cells: Float[Tensor, "*any place"]) -> Float[Tensor, "*any place"]:
    """Shift cells by one place."""
    return F.pad(cells[..., :-1], (1, 0), value=NEVER)


def _forward(waiting: StepDiagonals, writing: StepDiagonals) -> Diagonals:
    """Return log α."""
    steps, rows, places = waiting.shape
    sums = waiting.new_full((steps + 1, rows, 1 + places), NEVER)  # an extra first column, from which nothing comes
    sums[0, :, 1] = 0.0
    arriving = _shift(writing)
    for number in range(steps):
        between_steps()
        before = sums[number]
        torch.logaddexp(before[:, 1:] + waiting[number], before[:, :-1] + arriving[number], out=sums[number + 1, :, 1:])
    return sums[..., 1:]


def _backward(waiting: StepDiagonals, writing: StepDiagonals, lattice: Lattice) -> Diagonals:
    """Return log β; all rows end on the last diagonal, with all their labels written."""
    steps, rows, places = waiting.shape
    sums = waiting.new_full((steps + 1, rows, places + 1), NEVER)  # an extra last column, to which nothing leads
    sums[-1] = sums[-1].scatter(1, lattice.label_counts[:, None], 0.0)
    for number in reversed(range(steps)):
        between_steps()
        after = sums[number + 1]
        torch.logaddexp(after[:, :-1] + waiting[number], after[:, 1:] + writing[number], out=sums[number, :, :-1])
    return sums[..., :-1]


def _at_the_end(forward: Diagonals, lattice: Lattice) -> Float[Tensor, " batch"]:
    """Return log α(T, U) of each row."""
    return forward[-1].gather(1, lattice.label_counts[:, None]).squeeze(1)
