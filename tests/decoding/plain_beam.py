"""Beam search, one sentence at a time, as plainly as it can be said: the definition the batched search is held to."""

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
    """A living hypothesis with one token more."""

    total: float
    row: int
    token: int
    tokens: list[int]


NOBODY = Candidate(-math.inf, 0, 0, [])  # in a place of a nested beam that finds nothing


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
    """The finished hypotheses of a batch of one sentence as (tokens without the end, score), best first.

    `size` and `alpha` are the beam and the length penalty, whatever the options say of these. At the limit hypotheses
    must end, or are finished as they are.
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
        last = torch.tensor([each.tokens[-1] if each.tokens else task.begin for each in alive])
        log_probabilities, state = task.step(last, state)
        forced = limit if must_end else limit + 1
        candidates = continuations(alive, log_probabilities.tolist(), task.end, forced, options, demands)
        for row, (tokens, total, group) in enumerate(alive):
            is_stuck = all(each.row != row for each in candidates)
            if is_stuck and tokens and not must_end and all(met(tokens, phrase) for phrase in required(demands)):
                score = scored(total, length - 1) + uncovered(task, state, row, options.coverage_penalty)
                finished[group].append((tokens, score))
        survivors: list[tuple[Candidate, int]] = []
        written: list[int] = []  # by survivors of earlier groups, just now
        for group in range(groups):
            own = ranked([each for each in candidates if alive[each.row].group == group], written, options.diversity)
            ended, living = choose(own, alive, width, task.end, options, demands)
            for each in ended:
                score = scored(each.total, length) + uncovered(task, state, each.row, options.coverage_penalty)
                finished[group].append((each.tokens[:-1], score))
            finished[group] = sorted(finished[group], key=lambda each: -each[1])[:width]
            written += [each.token for each in living]
            hope = scored(max((each.total for each in living), default=-math.inf),
                          limit if options.stop == "exhaustive" else length)  # fmt: skip
            filled = len(finished[group]) == width
            if filled and (options.stop == "first" or hope <= finished[group][-1][1]):
                continue
            if length < limit:
                survivors += [(each, group) for each in living]
                continue
            for each in living:
                if each is not NOBODY and all(met(each.tokens, phrase) for phrase in required(demands)):
                    score = scored(each.total, length) + uncovered(task, state, each.row, options.coverage_penalty)
                    finished[group].append((each.tokens, score))
            finished[group] = sorted(finished[group], key=lambda each: -each[1])[:width]
        if not survivors:
            break
        state = state.select(torch.tensor([each.row for each, _ in survivors]))
        alive = [Living(each.tokens, each.total, group) for each, group in survivors]
    best = sorted((each for kept in finished for each in kept), key=lambda each: -each[1])
    return [each for number, each in enumerate(best) if each[0] not in [tokens for tokens, _ in best[:number]]]


def continuations(
    alive: list[Living], given: list[list[float]], end: int, limit: int, options: DecodingOptions, demands: Demands
) -> list[Candidate]:
    """All there are, but those of no probability."""
    found = []
    for row, (tokens, total, _) in enumerate(alive):
        values = plain_rules(given[row], tokens, end, limit, options, demands)
        if not all(met(tokens, phrase) for phrase in required(demands)):
            values[end] = -math.inf
        found += [Candidate(total + value, row, token, [*tokens, token]) for token, value in enumerate(values)]
    return [each for each in found if each.total > -math.inf]


def ranked(candidates: list[Candidate], written: list[int], diversity: float) -> list[Candidate]:
    """By what they are worth to a group, given what earlier groups wrote just now."""
    return sorted(candidates, key=lambda c: (-(c.total - diversity * written.count(c.token)), c.row, c.token))


def choose(
    candidates: list[Candidate], alive: list[Living], width: int, end: int, options: DecodingOptions, demands: Demands
) -> tuple[list[Candidate], list[Candidate]]:
    """Who is finished and who lives on."""
    if required(demands):
        return choose_in_banks(candidates, [each.tokens for each in alive], width, end, required(demands))
    if options.nested:
        return choose_nested(candidates, width, end)
    living = [each for each in candidates if each.token != end][:width]
    return [each for each in candidates[:width] if each.token == end], living


def choose_nested(candidates: list[Candidate], width: int, end: int) -> tuple[list[Candidate], list[Candidate]]:
    """Place after place takes the best of its own and earlier rows; what ends and ranks above that is finished."""
    ended: list[Candidate] = []
    places: list[Candidate] = []
    for place in range(width):
        mine = [each for each in candidates if each.row <= place and each not in ended and each not in places]
        chosen = next((number for number, each in enumerate(mine) if each.token != end), len(mine))
        ended += mine[:chosen]
        places.append(mine[chosen] if chosen < len(mine) else NOBODY)
    return ended, places if any(each is not NOBODY for each in places) else []


def choose_in_banks(
    candidates: list[Candidate], alive: list[list[int]], width: int, end: int, phrases: list[Wanted]
) -> tuple[list[Candidate], list[Candidate]]:
    """Of the best, the best of each row, the next tokens of phrases or the end, in turn, the fullest bank first."""
    wanted = {
        (row, token)
        for row, tokens in enumerate(alive)
        for phrase in phrases
        if not met(tokens, phrase)
        for token in next_tokens(tokens, phrase)
    }
    wanted |= {(row, end) for row, tokens in enumerate(alive) if all(met(tokens, phrase) for phrase in phrases)}
    for row in range(len(alive)):
        wanted |= {(row, each.token) for each in [each for each in candidates if each.row == row][:1]}
    among = [each for n, each in enumerate(candidates) if n < 2 * width or (each.row, each.token) in wanted]
    ended = [each for each in served(among, width, phrases) if each.token == end]
    return ended, served([each for each in among if each.token != end], width, phrases)


def served(candidates: list[Candidate], places: int, phrases: list[Wanted]) -> list[Candidate]:
    """Who gets the places: in each round one of every bank, the fullest first."""
    banks = [bank(each.tokens, phrases) for each in candidates]
    turns = [(banks[:number].count(each), -each) for number, each in enumerate(banks)]
    return [candidates[number] for number in sorted(range(len(turns)), key=turns.__getitem__)][:places]


def required(demands: Demands) -> list[Wanted]:
    return demands.wanted[0] if demands.required else []


def uncovered(task: Stepwise, state: State, row: int, beta: float) -> float:
    """The coverage penalty of a row."""
    if not beta:
        return 0.0
    return beta * sum(math.log(min(max(seen, 1e-6), 1.0)) for seen in task.coverage(state)[row].tolist())
