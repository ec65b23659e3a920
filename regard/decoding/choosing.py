"""Choose which continuations live on and which are finished: one step of a beam search, in three ways.

`sums` (sentence, beam, token) holds the summed log-probabilities of all continuations, -inf for those not allowed. They
are ranked by sum, ties by the earlier hypothesis, then the smaller token.
"""

import math
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.decoding.phrases import Phrases

NOTHING = float("-inf")


@dataclass(frozen=True)
class Choice:
    """Candidates (sentence, candidate), and their fates."""

    origin: Tensor  # the hypothesis each continues
    token: Tensor
    sums: Tensor
    finishes: Tensor
    survivors: Tensor  # (sentence, beam) the candidates that live on
    alive: Tensor  # (sentence, beam) False where there are too few


def choose_in_groups(sums: Tensor, end: int, groups: int, diversity: float) -> Choice:
    """Divide the beam into groups that choose one after another; one group is plain beam search.

    Of a group's 2·width best, those among the first `width` that end are finished, and the first `width` that do not
    end live on. A group ranks by sum - diversity · count, where count is how many survivors of earlier groups just
    wrote the token: Hamming diversity (Vijayakumar et al. 2018, section 3.2). The sums themselves stay unchanged.
    """
    sentences, beam, vocabulary = sums.shape
    width = beam // groups
    counts = sums.new_zeros(sentences, vocabulary)
    choices: list[Choice] = []
    for group, group_sums in enumerate(sums.split(width, dim=1)):
        values = group_sums - diversity * counts[:, None] if group else group_sums
        _, index = largest_first(values.flatten(1), 2 * width)
        best, token = group_sums.flatten(1).gather(1, index), index % vocabulary
        choice = settle(index // vocabulary + group * width, token, best, end, width)
        counts = counts.scatter_add(1, token.gather(1, choice.survivors), choice.alive.to(counts.dtype))
        choices.append(replace(choice, survivors=choice.survivors + group * index.shape[1]))
    return choices[0] if groups == 1 else _join(choices)


def settle(origin: Tensor, token: Tensor, sums: Tensor, end: int, width: int) -> Choice:
    """Choose among the 2·width best candidates (sentence, candidate) of a plain beam, best first."""
    ends, possible = token == end, sums.isfinite()
    first = torch.arange(token.shape[1], device=token.device) < width
    # A stable sort moves the ended ones behind the others and keeps both in order.
    survivors = ends.to(torch.uint8).argsort(dim=1, stable=True)[:, :width]
    return Choice(origin, token, sums, ends & possible & first, survivors, (possible & ~ends).gather(1, survivors))


def _join(choices: list[Choice]) -> Choice:
    fields = ("origin", "token", "sums", "finishes", "survivors", "alive")
    return Choice(*(torch.cat([getattr(choice, name) for choice in choices], dim=1) for name in fields))


def choose_nested(sums: Tensor, end: int) -> Choice:
    """Let every place of the beam choose as if it were the last (Lemons et al. 2022, monotonic beam search).

    Place by place, take the best continuation of the hypotheses in this and earlier places that is still free and does
    not end; those that end and rank above it are finished. A place does not depend on later places, so a beam of three
    does everything that a beam of two does, and its first place is greedy search.
    """
    sentences, beam, vocabulary = sums.shape
    # No place can need more than `beam` continuations of one hypothesis, and one more may end.
    _, candidates = largest_first(sums.flatten(0, 1), beam + 1)
    is_candidate = torch.zeros_like(sums, dtype=torch.bool).scatter_(2, candidates.view(sentences, beam, -1), True)
    best, index = largest_first(sums.masked_fill(~is_candidate, NOTHING).flatten(1), beam * candidates.shape[1])
    origin, token = index // vocabulary, index % vocabulary
    free, ends = best.isfinite(), token == end
    finishes, places = torch.zeros_like(free), torch.arange(index.shape[1], device=index.device)
    survivors, alive = [], []
    for place in range(beam):
        eligible = free & (origin <= place)
        living = eligible & ~ends
        chosen = living.to(torch.uint8).argmax(dim=1, keepdim=True)  # the first; 0 where there is none
        is_found = living.any(dim=1, keepdim=True)
        above = eligible & ends & ((places < chosen) | ~is_found)
        finishes |= above
        free = free & ~above & ~((places == chosen) & is_found)
        survivors.append(chosen)
        alive.append(is_found)
    return Choice(origin, token, best, finishes, torch.cat(survivors, dim=1), torch.cat(alive, dim=1))


@dataclass(frozen=True)
class BegunSearch:
    """Progress of hypotheses with the phrases required of their sentences."""

    phrases: Phrases
    numbers: Tensor  # (sentence) the place of each in the batch
    met: Tensor  # (sentence, beam, phrase)
    begun: Tensor  # (sentence, beam, spelling)


def choose_in_banks(sums: Tensor, end: int, tokens: Tensor, standing: BegunSearch) -> Choice:
    """Divide the beam among banks, after dynamic beam allocation (Post and Vilar 2018).

    Candidates are the 2·beam best continuations, the best one of each hypothesis, and every hypothesis with the next
    token of each spelling of the phrases it has not met, or with its end if it has met them all. A candidate's bank is
    its number of tokens of phrases. Places are handed out in rounds, one to every bank that has candidates left, the
    fullest bank first, so the fullest always gets one. Those that end are finished if they get one of the first `beam`
    places; then the `beam` places are handed out again among those that do not end, and these live on.

    Departures: the paper gives every bank an equal share at once and redistributes unused places, in no stated order;
    it counts a broken-off phrase as not begun, where ours sees that its end may be a new beginning; and its met phrases
    stay met, where ours may be lost as a word grows longer, which is why the end is a candidate.
    """
    vocabulary, size = sums.shape[2], sums.shape[1]
    best, index = _bank_candidates(sums, end, tokens.shape[2], standing)
    origin, token = index // vocabulary, index % vocabulary
    extended = torch.cat([_of(tokens, origin), token[:, :, None]], dim=2)
    bank = standing.phrases.bank(standing.numbers, *standing.phrases.after(standing.numbers, extended))
    ends, possible = token == end, best.isfinite()
    turns = _turns(bank, possible)
    # argsort twice: how many candidates are served before each.
    finishes = ends & possible & (turns.argsort(dim=1).argsort(dim=1) < size)
    turns = _turns(bank, possible & ~ends)
    survivors = turns.argsort(dim=1, stable=True)[:, :size]
    return Choice(origin, token, best, finishes, survivors, (possible & ~ends).gather(1, survivors))


def _bank_candidates(sums: Tensor, end: int, time: int, standing: BegunSearch) -> tuple[Tensor, Tensor]:
    size = sums.shape[1]
    wanted = standing.phrases.next_tokens(standing.numbers, standing.met, standing.begun, time)
    best = sums.argmax(dim=2, keepdim=True)
    last = torch.where(standing.met.all(dim=2, keepdim=True), end, best)
    candidates = torch.cat([best, torch.where(wanted >= 0, wanted, best), last], dim=2)
    is_candidate = torch.zeros_like(sums, dtype=torch.bool).scatter_(2, candidates, True).flatten(1)
    _, top = largest_first(sums.flatten(1), 2 * size)
    is_candidate = is_candidate.scatter(1, top, True)
    return largest_first(sums.flatten(1).masked_fill(~is_candidate, NOTHING), 2 * size + candidates[0].numel())


def _turns(bank: Tensor, taking_part: Tensor) -> Tensor:
    """Return when each candidate is served: by its rank within its bank, with the fuller bank first among equals."""
    places = torch.arange(bank.shape[1], device=bank.device)
    before = (bank[:, :, None] == bank[:, None, :]) & (places[:, None] > places) & taking_part[:, None, :]
    banks = bank.amax() + 1
    turns = before.sum(dim=2) * banks + (banks - 1 - bank)
    return turns.masked_fill(~taking_part, torch.iinfo(torch.long).max)


def _of(table: Tensor, origin: Tensor) -> Tensor:
    """Return the hypotheses' entries (sentence, beam, …) for each candidate (sentence, candidate, …)."""
    return table.gather(1, origin[:, :, None].expand(-1, -1, table.shape[2]))


def largest_first(sums: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the `count` largest of each row in order, equal ones by place; topk alone does not fix that order."""
    # Look at one more: equals may also compete for the last place.
    best, index = sums.topk(min(count + 1, sums.shape[1]), dim=1)
    if ((best[:, 1:] == best[:, :-1]) & best[:, 1:].isfinite()).any():
        best, index = sums.sort(dim=1, descending=True, stable=True)
    return best[:, :count], index[:, :count]


def ranked_in_parts(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Rank without asking the device for ties, so that nothing waits for it; `count` is small.

    The rows are cut into parts. The `count` best lie in the `count` parts with the best maxima, so only these are
    sorted as a whole; both sorts are stable, which keeps equals in order.
    """
    width = values.shape[1]
    count = min(count, width)
    # Near √(width / count) both sorts have the least to do, and vocabularies often divide by a power of two.
    size = 2 ** round(math.log2(width / count) / 2)
    parts = F.pad(values, (0, -width % size), value=NOTHING).unflatten(1, (-1, size))
    chosen = parts.amax(dim=2).sort(dim=1, descending=True, stable=True).indices[:, :count].sort(dim=1).values
    among = parts.gather(1, chosen[:, :, None].expand(-1, -1, size)).flatten(1)
    best, index = among.sort(dim=1, descending=True, stable=True)
    best, index = best[:, :count], index[:, :count]
    return best, chosen.gather(1, index // size) * size + index % size
