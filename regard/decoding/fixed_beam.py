"""Beam search in which no tensor changes its shape, so that its whole step can be captured (`step_graphs.py`).

It finds the same as `beam_search`, by the same rules, for plain beams; `fits` says which those are. The difference is
where things are. A step, including the model's step, the choice of survivors and the moving of rows, is one function on
the device. Sentences that are done stay in their places, dead. Each step leaves a small record, and the outputs are
read from the records at the end (`records.py`), so the host waits for the device only a few times in a whole search.

A search runs in stretches. A stretch ends when nothing lives, when the room reserved for tokens is full, or when at
most half of the sentences live. Then the living ones are carried over into a tree with fewer sentences or more room.
The numbers of sentences and the lengths take few values, so that there are few graphs to capture.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from regard.base.pauses import between_steps
from regard.decoding.choosing import NOTHING, ranked_in_parts, settle
from regard.decoding.hypothesis_scores import length_penalty
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis, check_numbers
from regard.decoding.records import Records, record_of
from regard.decoding.step_graphs import CapturedSteps, Delayed
from regard.hardware.cuda_graphs import CapturedStep, Step
from regard.protocols import State

FIRST_ROOM = 32  # tokens that rows have room for at first; it is doubled whenever it is full
FEWEST = 4  # fewest sentences in a tree; some may be padding


@runtime_checkable
class Reserves(Protocol):
    """Stepwise, with states of fixed shapes.

    `start` reads a batch; `reserve` gives a started state `copies` rows per sentence and room for `length` tokens, and
    `extend` gives more room. A step writes into the state it is given, which is then used up.
    """

    begin: int
    end: int

    def start(self, batch: Any) -> State: ...
    def reserve(self, state: State, copies: int, length: int) -> State: ...
    def extend(self, state: State, length: int) -> State: ...
    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]: ...


class _Standing(NamedTuple):
    """State of a search; dead rows have sums of -inf."""

    time: Tensor  # (1) number of tokens written
    last: Tensor  # (row) the last of them
    sums: Tensor  # (sentence, beam) float64
    kept: Tensor  # (sentence, beam) float64 scores of the best finished ones, best first, -inf where there are none
    limits: Tensor  # (sentence)
    farthest: Tensor  # (sentence) float64 length penalties at the limits
    penalties: Tensor  # (length) float64 length penalties at all lengths there is room for
    living: Tensor  # () number of sentences that live
    record: Tensor  # (sentence, beam, …) record of the step


class _Tree(NamedTuple):
    """Input and output of a step."""

    standing: _Standing
    sentence: Any
    row: Any


def fits(options: DecodingOptions, demands: Demands) -> bool:
    """Return True if a search is a plain beam without rules other than length limits."""
    default = DecodingOptions()
    ruling = ("coverage_penalty", "ctc", "nested", "groups", "shortest", "repetition_penalty", "unrepeated", "form")
    free = not (demands.prefixes or demands.required or demands.forbidden) and demands.allowed is None
    return free and all(getattr(options, name) == getattr(default, name) for name in ruling)


@dataclass(frozen=True)
class _Search:
    """State that stays the same from step to step."""

    task: Reserves
    options: DecodingOptions
    must_end: bool = True

    @property
    def key(self) -> Hashable:
        options = self.options
        return options.beam, options.length_penalty, options.length_penalty_kind, options.stop, self.must_end

    def penalty(self, length: int) -> float:
        return float(length_penalty(length, self.options.length_penalty, self.options.length_penalty_kind))

    def penalties(self, lengths: Sequence[int], device: torch.device) -> Tensor:
        values = [self.penalty(max(1, length)) for length in lengths]  # an empty output is never scored
        return torch.tensor(values, dtype=torch.float64, device=device)


@torch.no_grad()
def fixed_beam_search(
    task: Reserves,
    batch: Any,
    limits: Tensor,
    options: DecodingOptions,
    captures: CapturedSteps,
    must_end: bool = True,
) -> list[list[Hypothesis]]:
    """Return the best outputs of each sentence, as `beam_search` does; `limits` are on the model's device."""
    with captures.taken():
        records = run_fixed_beam(task, batch, limits, options, captures, must_end)
    outputs = records.best(options.n_best).hypotheses()
    check_numbers(outputs)
    return outputs


@torch.no_grad()
def run_fixed_beam(
    task: Reserves,
    batch: Any,
    limits: Tensor,
    options: DecodingOptions,
    captures: CapturedSteps,
    must_end: bool = True,
) -> Records:
    """Do everything that needs the device, inside `taken`; the outputs can be read from the records without it."""
    search, most = _Search(task, options, must_end), limits.tolist()
    numbers, time = list(range(len(most))), 0
    records = Records(len(most), options.beam)
    tree, room = _begin(search, batch, most, limits.device), FIRST_ROOM
    while True:
        captured = captures.of(search.key, partial(_step, search), tree)
        done = _stretch(captured, min(room, max(most)) - time)
        records.add(done, numbers)
        time += len(done)
        alive = captured.held.standing.sums.isfinite().any(dim=1).nonzero().flatten().tolist()
        if not alive:
            return records
        numbers, tree = [numbers[place] for place in alive], _carry_over(captured.held, alive, options.beam)
        if time == room:
            room *= 2
            tree = _with_room(search, tree, room)


def round_up(count: int, least: int) -> int:
    """Return the smallest of `least` · 1, 2, 3, 4, 6, 8, 12, 16, … that is not below the count."""
    size = least
    while size < count:
        size *= 2
    between = size // 4 * 3
    return between if size >= 4 * least and between >= count else size


def round_down(count: int, least: int) -> int:
    """Return the largest of those numbers that is not above the count; `least` or the count if there is none."""
    size = least
    while round_up(size + 1, least) <= count:
        size = round_up(size + 1, least)
    return min(size, count)


def _begin(search: _Search, batch: Any, limits: list[int], device: torch.device) -> _Tree:
    """Return the tree before anything is written; copies of the last sentence, dead, fill up the places."""
    size, beam = round_up(len(limits), FEWEST), search.options.beam
    places = list(range(len(limits))) + [len(limits) - 1] * (size - len(limits))
    index = torch.tensor(places, device=device)
    # All but the first row start dead, so that the first step does not find everything several times.
    sums = torch.full((size, beam), NOTHING, dtype=torch.float64, device=device)
    sums[: len(limits), 0] = 0.0
    own_limits = [limits[place] for place in places]
    standing = _Standing(
        time=torch.zeros(1, dtype=torch.long, device=device),
        last=torch.full((size * beam,), search.task.begin, device=device),
        sums=sums,
        kept=torch.full_like(sums, NOTHING),
        limits=torch.tensor(own_limits, device=device),
        farthest=search.penalties(own_limits, device),
        penalties=search.penalties(range(FIRST_ROOM + 1), device),
        living=torch.tensor(len(limits), device=device),
        record=record_of(sums, sums, sums, sums, sums, sums, sums),
    )
    state = search.task.reserve(search.task.start(batch).keep(index, index), beam, FIRST_ROOM)
    return _Tree(standing, state.sentence, state.row)


def _stretch(captured: CapturedStep, steps: int) -> list[Tensor]:
    """Run until nothing lives, half of the sentences are done or `steps` steps are taken; return their records."""
    standing: _Standing = captured.held.standing
    half, living, records = len(standing.sums) // 2, Delayed(), []
    for _ in range(steps):
        between_steps(is_free=False)  # the captured steps belong to this search alone
        captured()
        records.append(standing.record.clone())
        living.send(standing.living)
        remaining = living.read()
        if remaining is not None and remaining <= (half if half >= FEWEST else 0):
            break
    return records


def _carry_over(tree: _Tree, alive: list[int], beam: int) -> _Tree:
    """Return the living sentences in a tree that is no larger than they need."""
    size, device = round_up(len(alive), FEWEST), tree.standing.sums.device
    index = torch.tensor(alive + [alive[-1]] * (size - len(alive)), device=device)
    rows = (index[:, None] * beam + torch.arange(beam, device=device)).flatten()
    state = State(tree.sentence, tree.row).keep(index, rows)
    old = tree.standing
    by_sentence = {name: getattr(old, name)[index] for name in ("sums", "kept", "limits", "farthest", "record")}
    by_sentence["sums"][len(alive) :] = NOTHING
    standing = old._replace(**by_sentence, last=old.last[rows])
    return _Tree(standing, state.sentence, state.row)


def _with_room(search: _Search, tree: _Tree, room: int) -> _Tree:
    state = search.task.extend(State(tree.sentence, tree.row), room)
    penalties = search.penalties(range(room + 1), tree.standing.sums.device)
    return _Tree(tree.standing._replace(penalties=penalties), state.sentence, state.row)


def _step(search: _Search) -> Step:
    def step(tree: _Tree) -> _Tree:
        log_probabilities, state = search.task.step(tree.standing.last, State(tree.sentence, tree.row))
        standing, rows = _advance(search, tree.standing, log_probabilities)
        state = state.select(rows)
        return _Tree(standing, state.sentence, state.row)

    return step


def _advance(search: _Search, old: _Standing, log_probabilities: Tensor) -> tuple[_Standing, Tensor]:
    """Extend the living rows by one token and finish those that end; also return the rows the survivors came from."""
    (sentences, beam), end, options = old.sums.shape, search.task.end, search.options
    time = old.time + 1
    at_limit = old.limits <= time
    forced = at_limit if search.must_end else torch.zeros_like(at_limit)
    token_scores, token = _candidates(log_probabilities, forced, end, beam)
    ranks = (old.sums[:, :, None] + token_scores.double()).flatten(1).sort(dim=1, descending=True, stable=True)
    sums, index = ranks.values[:, : 2 * beam], ranks.indices[:, : 2 * beam]
    choice = settle(index // token_scores.shape[2], token.flatten(1).gather(1, index), sums, end, beam)
    token_scores = token_scores.flatten(1).gather(1, index)
    penalty = old.penalties.index_select(0, time)
    scores = (sums / penalty).masked_fill(~choice.finishes, NOTHING)[:, :beam]
    kept = torch.cat([old.kept, scores], dim=1).sort(dim=1, descending=True).values[:, :beam]
    origin, written, sums, written_scores = (
        table.gather(1, choice.survivors) for table in (choice.origin, choice.token, choice.sums, token_scores)
    )
    sums = sums.masked_fill(~choice.alive, NOTHING)
    hope = sums.amax(dim=1) / (old.farthest if options.stop == "exhaustive" else penalty)
    worst = kept[:, -1]
    over = worst.isfinite() if options.stop == "first" else worst.isfinite() & (hope <= worst)
    sums = sums.masked_fill(over[:, None], NOTHING)
    cut = (sums / penalty).masked_fill(~at_limit[:, None], NOTHING)  # what lives at the limit is finished unchanged
    sums = sums.masked_fill(at_limit[:, None], NOTHING)
    standing = old._replace(
        time=time,
        last=written.flatten(),
        sums=sums,
        kept=kept,
        living=sums.isfinite().any(dim=1).sum(),
        record=record_of(origin, written, written_scores, choice.origin[:, :beam], token_scores[:, :beam], scores, cut),
    )
    return standing, (origin + torch.arange(sentences, device=origin.device)[:, None] * beam).flatten()


def _candidates(log_probabilities: Tensor, forced: Tensor, end: int, beam: int) -> tuple[Tensor, Tensor]:
    """Return the 2·beam best tokens of each row, (sentence, beam, candidate), with their scores; if forced, the end."""
    shape = len(forced), beam, -1
    scores, token = (table.view(shape) for table in ranked_in_parts(log_probabilities, 2 * beam))
    ending = log_probabilities[:, end].view(*shape[:2], 1)
    only = torch.cat([ending, torch.full_like(scores[:, :, 1:], NOTHING)], dim=2)
    limited = forced[:, None, None]
    return torch.where(limited, only, scores), token.masked_fill(limited, end)
