"""Sampling in which no tensor changes its shape, so that its whole step can be captured (`step_graphs.py`).

It samples the same as `sample`, for plain sampling; `fits` of `fixed_beam.py` says what that is. Samples that have
ended stay in their places, and what they write after that is cut off at the end. Each step leaves a small record, so
the host waits for the device only a few times in a whole search.
"""

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.base.pauses import between_steps
from regard.decoding.chance import uniform
from regard.decoding.filters import distribution
from regard.decoding.fixed_beam import FEWEST, FIRST_ROOM, Reserves, round_up
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis, check_numbers
from regard.decoding.rules import NOTHING
from regard.decoding.sampling import draw, hypothesis_of, never_stuck
from regard.decoding.step_graphs import CapturedSteps, Delayed
from regard.hardware.cuda_graphs import CapturedStep, Step
from regard.protocols import State


class _Standing(NamedTuple):
    """State of the sampling; rows are (sentence, sample)."""

    time: Tensor  # (1) number of tokens written
    last: Tensor  # (row) the last of them
    score: Tensor  # (row) float64 the model's log-probability of it
    ended: Tensor  # (row)
    limits: Tensor  # (row)
    lines: Tensor  # (row) number of the line in the whole input
    numbers: Tensor  # (row) number of the sample
    living: Tensor  # number of rows that have not ended


class _Tree(NamedTuple):
    """Input and output of a step."""

    standing: _Standing
    sentence: Any
    row: Any


@torch.no_grad()
def fixed_sample(
    task: Reserves,
    batch: Any,
    limits: Tensor,
    options: DecodingOptions,
    lines: Sequence[int],
    captures: CapturedSteps,
    must_end: bool = True,
) -> list[list[Hypothesis]]:
    """Return the samples of each sentence, as `sample` does; `limits` are on the model's device."""
    copies, most, time, room = options.sampling.samples, int(limits.max()), 0, FIRST_ROOM
    records: list[Tensor] = []
    with captures.taken():
        tree = _begin(task, batch, limits, lines, copies)
        while True:
            captured = captures.of(_key(options, task, must_end), partial(_step, task, options, must_end), tree)
            records += _stretch(captured, min(room, most) - time)
            time = len(records) // 2
            if time == most or not int(captured.held.standing.living):
                break
            room *= 2
            state = task.extend(State(captured.held.sentence, captured.held.row), room)
            tree = _Tree(captured.held.standing, state.sentence, state.row)
        tokens, scores = (torch.stack(records[first::2], dim=1)[: len(limits) * copies].tolist() for first in (0, 1))
    most_of_rows = limits.repeat_interleave(copies).tolist()
    rows = [
        hypothesis_of(written[:limit], row_scores[:limit], task.end, must_end)
        for written, row_scores, limit in zip(tokens, scores, most_of_rows, strict=True)
    ]
    samples = [rows[first : first + copies] for first in range(0, len(rows), copies)]
    check_numbers(samples)
    return samples


def _key(options: DecodingOptions, task: Reserves, must_end: bool) -> Hashable:
    return "sampling", task.end, options.sampling.model_dump_json(), must_end


def _begin(task: Reserves, batch: Any, limits: Tensor, lines: Sequence[int], copies: int) -> _Tree:
    """Return the tree before anything is written; copies of the last sentence, ended, fill up the places."""
    count, device = len(limits), limits.device
    size = round_up(count, FEWEST)
    index = torch.arange(size, device=device).clamp(max=count - 1)
    by_row = index.repeat_interleave(copies)
    ended = torch.arange(size, device=device).repeat_interleave(copies) >= count
    keys = torch.tensor(lines, dtype=torch.long, device=device)
    standing = _Standing(
        time=torch.zeros(1, dtype=torch.long, device=device),
        last=torch.full((size * copies,), task.begin, device=device),
        score=torch.zeros(size * copies, dtype=torch.float64, device=device),
        ended=ended,
        limits=limits[by_row],
        lines=keys[by_row],
        numbers=torch.arange(copies, device=device).repeat(size),
        living=(~ended).sum(),
    )
    state = task.reserve(task.start(batch).keep(index, index), copies, FIRST_ROOM)
    return _Tree(standing, state.sentence, state.row)


def _stretch(captured: CapturedStep, steps: int) -> list[Tensor]:
    """Run until nothing lives or `steps` steps are taken; return each row's token and score, step by step."""
    standing: _Standing = captured.held.standing
    living, records = Delayed(), []
    for _ in range(steps):
        between_steps(is_free=False)  # the captured steps belong to this search alone
        captured()
        records += [standing.last.clone(), standing.score.clone()]
        living.send(standing.living)
        if living.read() == 0:
            break
    return records


def _step(task: Reserves, options: DecodingOptions, must_end: bool) -> Step:
    def step(tree: _Tree) -> _Tree:
        old = tree.standing
        scores, state = task.step(old.last, State(tree.sentence, tree.row))
        at_limit = old.limits <= old.time + 1
        values = scores.double()
        if must_end:
            is_end = torch.arange(scores.shape[1], device=scores.device) == task.end
            values = values.masked_fill(at_limit[:, None] & ~is_end, NOTHING)
        chances = uniform(options.sampling.seed, old.lines, old.numbers, old.time.expand_as(old.lines))
        token = draw(distribution(never_stuck(values, task.end), options.sampling), chances)
        ended = old.ended | (token == task.end) | at_limit
        standing = old._replace(
            time=old.time + 1,
            last=token,
            score=scores.double().gather(1, token[:, None])[:, 0],
            ended=ended,
            living=(~ended).sum(),
        )
        return _Tree(standing, state.sentence, state.row)

    return step
