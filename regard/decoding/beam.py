"""Batched beam search over anything Stepwise; greedy search is a beam of one.

The exact rules: every sentence keeps `beam` living hypotheses. Each step ranks their continuations by the sum of
log-probabilities (ties: the earlier hypothesis, then the smaller token, first) and looks at the 2·beam best: those
among the first `beam` that end are finished, and the first `beam` that do not end live on. `choosing.py` says how
groups, a nested beam and required phrases change that. `rules.py` says what may be written at all.

At its limit an output must end, and its end counts with its own probability, however small, so a translation has the
same score as when it is forced. If outputs need not end, those alive at the limit are cut and finished unchanged, and
so are those that nothing may follow. Then no end is added or counted, as in a continuation that stops after n tokens.

A finished hypothesis of n tokens, including its end if it has one, scores sum / lp(n) + cp (`hypothesis_scores.py`);
the best `beam` finished ones are kept. (Groups are separate beams of beam / groups each, and their results are joined
at the end.)
A sentence is done when nothing lives, or when `beam` are kept and, with `stop`
- "settled": no living hypothesis, scored at its present length, beats the worst of them;
- "first": at once;
- "exhaustive": no living hypothesis, with its sum unchanged and its length the limit, beats the worst of them. As sums
  only fall and length penalties only rise, no continuation could.
Both assume that it covers the whole source. Sentences do not see each other's rows, so batching changes nothing.

The sum is over the values used for ranking: the model's log-probabilities or, with a repetition penalty, the penalised
ones. The reported token scores are always the model's own log-probabilities.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.base.faults import TextFault
from regard.base.pauses import between_steps
from regard.decoding.choosing import BegunSearch, Choice, choose_in_banks, choose_in_groups, choose_nested
from regard.decoding.hypothesis_scores import length_penalty, penalties_of_rows
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis, check_numbers
from regard.decoding.phrases import Phrases, refuse_unpromising
from regard.decoding.rules import NOTHING, Rules, forced_ends
from regard.decoding.trace import Trace
from regard.protocols import State, Stepwise

__all__ = ["Hypothesis", "beam_search", "length_penalty", "search_in_parts"]
ROWS = 1024  # hypotheses that a search in parts handles at a time


@dataclass(frozen=True)
class _Search:
    """State that stays the same from step to step."""

    end: int
    limits: Tensor
    must_end: bool
    options: DecodingOptions
    rules: Rules
    phrases: Phrases | None
    trace: Trace | None

    def penalty(self, length: int) -> float:
        return float(length_penalty(length, self.options.length_penalty, self.options.length_penalty_kind))


@dataclass
class _Living:
    """State of the sentences still searched; every tensor's rows are (sentence, beam)."""

    numbers: Tensor  # (sentence) the place of each in the batch
    sums: Tensor  # (sentence, beam) float64 sums of the values used for ranking
    tokens: Tensor  # (sentence, beam, time)
    scores: Tensor  # (sentence, beam, time) the model's log-probability of each token
    met: Tensor  # (sentence, beam, phrase) True for required phrases that occur
    begun: Tensor  # (sentence, beam, spelling) how many tokens of the others are written
    finished: list[list[list[Hypothesis]]]  # for each sentence and group, best first


@torch.no_grad()
def beam_search(
    task: Stepwise,
    batch: Any,
    limits: Tensor,
    options: DecodingOptions,
    demands: Demands | None = None,
    trace: Trace | None = None,
    must_end: bool = True,
) -> list[list[Hypothesis]]:
    """Return the best outputs for each sentence of the batch, best first; `limits` are their longest lengths with end.

    At its limit an output either `must_end` or is cut. The search runs on the device of `limits`, which is that of the
    model. A `trace` records everything that is kept, in a search whose outputs must end.
    """
    search = _prepare(task, limits, options, demands or Demands(), trace, must_end)
    size, count = options.beam, len(limits)
    results: list[list[Hypothesis]] = [[] for _ in range(count)]
    living = _begin(search, limits)
    state, last = task.start(batch).spread(size), torch.full((count * size,), task.begin, device=limits.device)
    while len(living.numbers):
        between_steps()
        log_probabilities, state = task.step(last, state)
        coverage = penalties_of_rows(task, state, living.sums, options)
        rows = _advance(search, living, log_probabilities, coverage)
        done = _done(search, living)
        done += _cut_at_limits(search, living, coverage.flatten()[rows], done)
        for place in done:
            results[int(living.numbers[place])] = _gather(living.finished[place])
        state, last = _move_on(living, state, rows, done)
    if search.phrases is not None:
        _check_found(results)
    check_numbers(results)
    return [hypotheses[: options.n_best] for hypotheses in results]


def search_in_parts(task: Any, batch: Any, options: DecodingOptions, demands: Demands) -> list[list[Hypothesis]]:
    """Return the best outputs for each input of a batch, searched in parts that have not too many rows."""
    outputs: list[list[Hypothesis]] = []
    for part in batch.split(-(-batch.rows // max(1, ROWS // options.beam))):
        outputs += beam_search(task, part, task.limits(part, options), options, demands)
    return outputs


def _prepare(
    task: Stepwise, limits: Tensor, options: DecodingOptions, demands: Demands, trace: Trace | None, must_end: bool
) -> _Search:
    rules = Rules(options, demands, task.end, forced_ends(limits, must_end))
    if trace is not None:
        if not must_end:
            raise ValueError("a trace needs a search whose outputs must end")
        trace.begin(len(limits), options)
    phrases = None
    if any(demands.required):
        refuse_unpromising(options, draws=False)
        phrases = Phrases(demands, limits)
    return _Search(task.end, limits, must_end, options, rules, phrases, trace)


def _begin(search: _Search, limits: Tensor) -> _Living:
    size, count, device = search.options.beam, len(limits), limits.device
    groups = search.options.groups
    numbers = torch.arange(count, device=device)
    # All but the first row of a group start dead, so that the first step does not find everything several times.
    sums = torch.full((count, size), NOTHING, dtype=torch.float64, device=device)
    sums[:, :: size // groups] = 0.0
    nothing = torch.empty(count, size, 0, device=device)
    met, begun = search.phrases.met_by_nothing(numbers, size) if search.phrases else (nothing.bool(), nothing.long())
    finished: list[list[list[Hypothesis]]] = [[[] for _ in range(groups)] for _ in range(count)]
    return _Living(numbers, sums, nothing.long(), nothing.double(), met, begun, finished)


def _advance(search: _Search, living: _Living, log_probabilities: Tensor, coverage: Tensor) -> Tensor:
    """Extend the living hypotheses by one token, and finish those that end; return the row of each survivor."""
    sentences, size = living.sums.shape
    of_rows = living.numbers.repeat_interleave(size)
    values = search.rules(log_probabilities, living.tokens.flatten(0, 1), of_rows).view(sentences, size, -1)
    if not search.must_end and living.tokens.shape[2]:
        _cut(search, living, coverage, ~values.isfinite().any(dim=2))
    choice = _choose(search, living, values)
    index = choice.origin * values.shape[2] + choice.token
    token_scores = log_probabilities.double().view(sentences, -1).gather(1, index)
    _finish(search, living, choice, token_scores, coverage)
    origin, token, sums, token_scores = (
        table.gather(1, choice.survivors) for table in (choice.origin, choice.token, choice.sums, token_scores)
    )
    living.tokens = torch.cat([_take(living.tokens, origin), token[:, :, None]], dim=2)
    living.scores = torch.cat([_take(living.scores, origin), token_scores[:, :, None]], dim=2)
    living.sums = sums.masked_fill(~choice.alive, NOTHING)
    if search.phrases is not None:
        living.met, living.begun = search.phrases.after(living.numbers, living.tokens)
    if search.trace is not None:
        search.trace.live_on(living.numbers, origin, token, living.sums, token_scores)
    return origin + torch.arange(sentences, device=origin.device)[:, None] * size


def _choose(search: _Search, living: _Living, values: Tensor) -> Choice:
    options, end = search.options, search.end
    if search.phrases is not None:
        places = torch.arange(values.shape[2], device=values.device)
        too_early = ~living.met.all(dim=2, keepdim=True)
        values = values.masked_fill(too_early & (places == end), NOTHING)
        standing = BegunSearch(search.phrases, living.numbers, living.met, living.begun)
        return choose_in_banks(living.sums[:, :, None] + values, end, living.tokens, standing)
    sums = living.sums[:, :, None] + values
    return (
        choose_nested(sums, end) if options.nested else choose_in_groups(sums, end, options.groups, options.diversity)
    )


def _take(table: Tensor, origin: Tensor) -> Tensor:
    """Return the rows (sentence, beam, …) that the survivors came from."""
    return table.gather(1, origin[:, :, None].expand(-1, -1, table.shape[2]))


def _finish(search: _Search, living: _Living, choice: Choice, token_scores: Tensor, coverage: Tensor) -> None:
    penalty = search.penalty(living.tokens.shape[2] + 1)
    for place, rank in choice.finishes.nonzero().tolist():
        row = int(choice.origin[place, rank])
        hypothesis = Hypothesis(
            living.tokens[place, row].tolist(),
            [*living.scores[place, row].tolist(), float(token_scores[place, rank])],
            float(choice.sums[place, rank] / penalty + coverage[place, row]),
        )
        if search.trace is not None:
            total = float(choice.sums[place, rank])
            search.trace.finish(int(living.numbers[place]), row, search.end, total, hypothesis)
        _keep(search, living, place, row, hypothesis)


def _keep(search: _Search, living: _Living, place: int, row: int, hypothesis: Hypothesis) -> None:
    """Keep a finished hypothesis of a row if it is among the best of its group."""
    width = search.options.beam // search.options.groups
    best = living.finished[place][row // width]
    best.append(hypothesis)
    best.sort(key=lambda finished: -finished.score)  # stable: the one found earlier stays first among equals
    del best[width:]


def _cut_at_limits(search: _Search, living: _Living, coverage: Tensor, done: list[int]) -> list[int]:
    """Cut the hypotheses at their limits, if outputs need not end; return the sentences that are done by this."""
    if search.must_end:
        return []
    reached = search.limits[living.numbers] <= living.tokens.shape[2]
    reached[done] = False
    _cut(search, living, coverage, reached[:, None])
    return reached.nonzero().flatten().tolist()


def _cut(search: _Search, living: _Living, coverage: Tensor, rows: Tensor) -> None:
    """Finish the living ones of these rows (sentence, beam) unchanged, without an end."""
    penalty = search.penalty(living.tokens.shape[2])
    for place, row in (rows & living.sums.isfinite() & living.met.all(dim=2)).nonzero().tolist():
        score = float(living.sums[place, row] / penalty + coverage[place, row])
        hypothesis = Hypothesis(living.tokens[place, row].tolist(), living.scores[place, row].tolist(), score)
        _keep(search, living, place, row, hypothesis)


def _done(search: _Search, living: _Living) -> list[int]:
    """Return the sentences that need no further step; groups that need none are stopped."""
    options = search.options
    width = options.beam // options.groups
    hopes = living.sums.unflatten(1, (options.groups, width)).amax(dim=2).tolist()
    lengths = [living.tokens.shape[2]] * len(hopes)
    if options.stop == "exhaustive":
        lengths = search.limits[living.numbers].tolist()
    done = []
    for place, groups in enumerate(living.finished):
        penalty = search.penalty(lengths[place])
        over = [
            _over(options.stop, hope / penalty, best, width) for hope, best in zip(hopes[place], groups, strict=True)
        ]
        for group in [group for group, is_over in enumerate(over) if is_over and options.groups > 1]:
            living.sums[place, group * width : (group + 1) * width] = NOTHING
        if all(over):
            done.append(place)
    return done


def _over(stop: str, hope: float, best: list[Hypothesis], width: int) -> bool:
    if not math.isfinite(hope):
        return True
    return len(best) == width and (stop == "first" or hope <= best[-1].score)


def _gather(groups: list[list[Hypothesis]]) -> list[Hypothesis]:
    """Return the finished hypotheses of all groups, best first, without duplicates."""
    best = sorted((hypothesis for group in groups for hypothesis in group), key=lambda hypothesis: -hypothesis.score)
    distinct: dict[tuple[int, ...], Hypothesis] = {}
    for hypothesis in best:
        distinct.setdefault(tuple(hypothesis.tokens), hypothesis)
    return list(distinct.values())


def _check_found(results: list[list[Hypothesis]]) -> None:
    for number, hypotheses in enumerate(results):
        if not hypotheses:
            raise TextFault(
                number,
                "no output was found that has all required phrases and keeps to the rules; ask for less or raise the "
                "limit.",
            )


def _move_on(living: _Living, state: State, rows: Tensor, done: list[int]) -> tuple[State, Tensor]:
    """Carry the state over to the surviving rows, and drop the sentences that are done."""
    if not done:
        return state.select(rows.flatten()), living.tokens[:, :, -1].flatten()
    done_places = set(done)
    remaining = [place for place in range(len(living.numbers)) if place not in done_places]
    living.finished = [living.finished[place] for place in remaining]
    index = torch.tensor(remaining, dtype=torch.long, device=rows.device)
    living.numbers, living.sums = living.numbers[index], living.sums[index]
    living.tokens, living.scores = living.tokens[index], living.scores[index]
    living.met, living.begun = living.met[index], living.begun[index]
    return state.keep(index, rows[index].flatten()), living.tokens[:, :, -1].flatten()
