"""Plain beam search, one sentence at a time: the definition that the batched search must match."""

import math
from typing import Any, NamedTuple

import torch
from plain_rules import bank, met, next_tokens, plain_rules

from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Wanted
from regard.protocols import State, Stepwise

Output = tuple[list[int], float]


class Living(NamedTuple):
    """A hypothesis, the sum it is ranked by, and its group."""

    tokens: list[int]
    total: float
    group: int


class Candidate(NamedTuple):
    """A living hypothesis with one more token."""

    total: float
    row: int
    token: int
    tokens: list[int]


NOBODY = Candidate(-math.inf, 0, 0, [])  # in a place of a nested beam without a candidate


def plain_beam(
    task: Stepwise,
    batch: Any,
    limit: int,
    size: int,
    alpha: float,
    options: DecodingOptions | None = None,
    demands: Demands | None = None,
    must_end: bool = True,
) -> list[Output]:
    """Return the finished hypotheses for one sentence as (tokens without the end, score), best first.

    `size` and `alpha` override the beam and length penalty of the options. At the limit hypotheses must end, or are
    finished unchanged.
    """
    options, demands = options or DecodingOptions(), demands or Demands()
    groups, width = options.groups, size // options.groups

    def scored(total: float, length: int) -> float:
        bases = {"wu": (5 + length) / 6, "average": length, "none": 1.0}
        return total / bases[options.length_penalty_kind] ** alpha

    state = task.start(batch).spread(groups)
    alive = [Living([], 0.0, group) for group in range(groups)]
    finished: list[list[Output]] = [[] for _ in range(groups)]
    for length in range(1, limit + 1):
        last = torch.tensor([hypothesis.tokens[-1] if hypothesis.tokens else task.begin for hypothesis in alive])
        log_probabilities, state = task.step(last, state)
        forced = limit if must_end else limit + 1
        candidates = continuations(alive, log_probabilities.tolist(), task.end, forced, options, demands)
        for row, (tokens, total, group) in enumerate(alive):
            is_stuck = all(candidate.row != row for candidate in candidates)
            if is_stuck and tokens and not must_end and all(met(tokens, phrase) for phrase in required(demands)):
                score = scored(total, length - 1) + uncovered(task, state, row, options.coverage_penalty)
                finished[group].append((tokens, score))
        survivors: list[tuple[Candidate, int]] = []
        written: list[int] = []  # by survivors of earlier groups at this step
        for group in range(groups):
            choices = ranked(
                [candidate for candidate in candidates if alive[candidate.row].group == group],
                written,
                options.diversity,
            )
            ended, living = choose(choices, alive, width, task.end, options, demands)
            for candidate in ended:
                score = scored(candidate.total, length) + uncovered(
                    task, state, candidate.row, options.coverage_penalty
                )
                finished[group].append((candidate.tokens[:-1], score))
            finished[group] = sorted(finished[group], key=lambda hypothesis: -hypothesis[1])[:width]
            written += [candidate.token for candidate in living]
            hope = scored(max((candidate.total for candidate in living), default=-math.inf),
                          limit if options.stop == "exhaustive" else length)  # fmt: skip
            filled = len(finished[group]) == width
            if filled and (options.stop == "first" or hope <= finished[group][-1][1]):
                continue
            if length < limit:
                survivors += [(candidate, group) for candidate in living]
                continue
            for candidate in living:
                if candidate is not NOBODY and all(met(candidate.tokens, phrase) for phrase in required(demands)):
                    score = scored(candidate.total, length) + uncovered(
                        task, state, candidate.row, options.coverage_penalty
                    )
                    finished[group].append((candidate.tokens, score))
            finished[group] = sorted(finished[group], key=lambda hypothesis: -hypothesis[1])[:width]
        if not survivors:
            break
        state = state.select(torch.tensor([candidate.row for candidate, _ in survivors]))
        alive = [Living(candidate.tokens, candidate.total, group) for candidate, group in survivors]
    best = sorted(
        (hypothesis for hypotheses in finished for hypothesis in hypotheses), key=lambda hypothesis: -hypothesis[1]
    )
    return [
        hypothesis
        for number, hypothesis in enumerate(best)
        if hypothesis[0] not in [tokens for tokens, _ in best[:number]]
    ]


def continuations(
    alive: list[Living], given: list[list[float]], end: int, limit: int, options: DecodingOptions, demands: Demands
) -> list[Candidate]:
    """Return all candidates except those of probability zero."""
    candidates = []
    for row, (tokens, total, _) in enumerate(alive):
        values = plain_rules(given[row], tokens, end, limit, options, demands)
        if not all(met(tokens, phrase) for phrase in required(demands)):
            values[end] = -math.inf
        candidates += [Candidate(total + value, row, token, [*tokens, token]) for token, value in enumerate(values)]
    return [candidate for candidate in candidates if candidate.total > -math.inf]


def ranked(candidates: list[Candidate], written: list[int], diversity: float) -> list[Candidate]:
    """Return candidates sorted by value to a group, given what earlier groups wrote at this step."""
    return sorted(candidates, key=lambda c: (-(c.total - diversity * written.count(c.token)), c.row, c.token))


def choose(
    candidates: list[Candidate], alive: list[Living], width: int, end: int, options: DecodingOptions, demands: Demands
) -> tuple[list[Candidate], list[Candidate]]:
    """Return the hypotheses that finish and those that live on."""
    if required(demands):
        return choose_in_banks(candidates, [hypothesis.tokens for hypothesis in alive], width, end, required(demands))
    if options.nested:
        return choose_nested(candidates, width, end)
    living = [candidate for candidate in candidates if candidate.token != end][:width]
    return [candidate for candidate in candidates[:width] if candidate.token == end], living


def choose_nested(candidates: list[Candidate], width: int, end: int) -> tuple[list[Candidate], list[Candidate]]:
    """Fill each place with the best of its own and earlier rows; endings that rank above it are finished."""
    ended: list[Candidate] = []
    places: list[Candidate] = []
    for place in range(width):
        mine = [
            candidate
            for candidate in candidates
            if candidate.row <= place and candidate not in ended and candidate not in places
        ]
        chosen = next((number for number, candidate in enumerate(mine) if candidate.token != end), len(mine))
        ended += mine[:chosen]
        places.append(mine[chosen] if chosen < len(mine) else NOBODY)
    return ended, places if any(candidate is not NOBODY for candidate in places) else []


def choose_in_banks(
    candidates: list[Candidate], alive: list[list[int]], width: int, end: int, phrases: list[Wanted]
) -> tuple[list[Candidate], list[Candidate]]:
    """Choose in turn by bank, fullest first, among the best: the best of each row, next phrase tokens and ends."""
    eligible = {
        (row, token)
        for row, tokens in enumerate(alive)
        for phrase in phrases
        if not met(tokens, phrase)
        for token in next_tokens(tokens, phrase)
    }
    eligible |= {(row, end) for row, tokens in enumerate(alive) if all(met(tokens, phrase) for phrase in phrases)}
    for row in range(len(alive)):
        eligible |= {(row, candidate.token) for candidate in [other for other in candidates if other.row == row][:1]}
    among = [
        candidate
        for n, candidate in enumerate(candidates)
        if n < 2 * width or (candidate.row, candidate.token) in eligible
    ]
    ended = [candidate for candidate in served(among, width, phrases) if candidate.token == end]
    return ended, served([candidate for candidate in among if candidate.token != end], width, phrases)


def served(candidates: list[Candidate], places: int, phrases: list[Wanted]) -> list[Candidate]:
    """Return the candidates that get places: in each round one of every bank, the fullest first."""
    banks = [bank(candidate.tokens, phrases) for candidate in candidates]
    turns = [(banks[:number].count(count), -count) for number, count in enumerate(banks)]
    return [candidates[number] for number in sorted(range(len(turns)), key=turns.__getitem__)][:places]


def required(demands: Demands) -> list[Wanted]:
    return demands.wanted[0] if demands.required else []


def uncovered(task: Stepwise, state: State, row: int, beta: float) -> float:
    """Return the coverage penalty of a row."""
    if not beta:
        return 0.0
    return beta * sum(math.log(min(max(seen, 1e-6), 1.0)) for seen in task.coverage(state)[row].tolist())
