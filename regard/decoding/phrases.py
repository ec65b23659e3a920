"""Phrases that must occur: how much of them a hypothesis has written.

A phrase occurs when one of its spellings stands unbroken somewhere in the output, or as whoever asks for it decides:
they may see it in other tokens, and see it go when a word grows longer. Phrases may overlap, and one asked for twice
need occur once. A hypothesis has *met* the phrases that occur in it, and of each spelling of the others it has *begun*
as many first tokens as it ends with. Its bank is the number of tokens of all met phrases (by the longest spelling of
each, so that to meet one is always more than to have begun it), plus those of the spelling begun furthest.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from regard.base.faults import Fault, TextFault
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Phrase, Wanted, occurs
from regard.decoding.rules import pad_rows


class Phrases:
    """The phrases required of each sentence of a batch, as tensors that a search can ask."""

    def __init__(self, demands: Demands, limits: Tensor) -> None:
        self.wanted = [[_possible(phrase, demands) for phrase in phrases] for phrases in demands.wanted]
        _check_lengths(self.wanted, demands, limits.tolist())
        device = limits.device
        sizes = [[max(map(len, (*each.spellings, *each.opening))) for each in own] for own in self.wanted]
        self.sizes = pad_rows(sizes, device).clamp(min=0)  # (sentence, phrase)
        spelled = [list(_spellings(phrases)) for phrases in self.wanted]
        most = max(len(several) for several in spelled)
        tokens = [[each for each, _, _ in several] for several in spelled]
        flat = [each for several in tokens for each in [*several, *[()] * (most - len(several))]]
        self.table = pad_rows(flat, device).view(len(spelled), most, -1)  # (sentence, spelling, place), -1 after it
        self.lengths = (self.table >= 0).sum(dim=2)  # (sentence, spelling)
        self.owners = pad_rows([[owner for _, owner, _ in several] for several in spelled], device).clamp(min=0)
        self.opens = pad_rows([[int(opens) for _, _, opens in several] for several in spelled], device) == 1

    def met_by_nothing(self, numbers: Tensor, size: int) -> tuple[Tensor, Tensor]:
        """Return what empty hypotheses have met (sentence, beam, phrase) and begun (sentence, beam, spelling)."""
        return self.after(numbers, torch.empty(len(numbers), size, 0, dtype=torch.long, device=numbers.device))

    def after(self, numbers: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return what `tokens` (sentence, row, time) meet and begin."""
        rows, most = tokens.shape[1], self.sizes.shape[1]
        seen = [
            [[*(each.occurs_in(own) for each in self.wanted[number]), *[True] * (most - len(self.wanted[number]))]
             for own in written]
            for number, written in zip(numbers.tolist(), tokens.tolist(), strict=True)
        ]  # fmt: skip
        met = torch.tensor(seen, dtype=torch.bool, device=tokens.device).view(len(numbers), rows, most)
        table, lengths = self.table[numbers][:, None], self.lengths[numbers][:, None]
        begun = torch.zeros(len(numbers), rows, table.shape[2], dtype=torch.long, device=tokens.device)
        for size in range(1, min(table.shape[3], tokens.shape[2]) + 1):
            same = (tokens[:, :, None, -size:] == table[..., :size]).all(dim=-1)
            begun = begun.masked_fill(same & (size < lengths), size)  # one that is whole and yet not met is over
        is_late = self.opens[numbers][:, None] & (begun != tokens.shape[2])
        return met, begun.masked_fill(self._are_met(numbers, met) | is_late, 0)

    def bank(self, numbers: Tensor, met: Tensor, begun: Tensor) -> Tensor:
        """Return how many tokens of the phrases each row has, (sentence, row)."""
        return (met * self.sizes[numbers][:, None]).sum(dim=2) + begun.amax(dim=2)

    def next_tokens(self, numbers: Tensor, met: Tensor, begun: Tensor, time: int) -> Tensor:
        """The next token of every spelling for each row of `time` tokens, (sentence, row, spelling).

        It is -1 for what is met, and for what can only begin an output that has begun in another way.
        """
        table = self.table[numbers][:, None].expand(-1, met.shape[1], -1, -1)
        is_late = self.opens[numbers][:, None] & (begun != time)
        return table.gather(3, begun[..., None]).squeeze(3).masked_fill(self._are_met(numbers, met) | is_late, -1)

    def _are_met(self, numbers: Tensor, met: Tensor) -> Tensor:
        """Return whether the phrase of each spelling is met, (sentence, row, spelling)."""
        return met.gather(2, self.owners[numbers][:, None].expand(-1, met.shape[1], -1))


def _spellings(phrases: Sequence[Wanted]) -> Iterator[tuple[Phrase, int, bool]]:
    """Every spelling of some phrases, with the number of its phrase and whether it can only begin an output."""
    for number, phrase in enumerate(phrases):
        yield from ((tokens, number, False) for tokens in phrase.spellings)
        yield from ((tokens, number, True) for tokens in phrase.opening)


def _possible(phrase: Wanted, demands: Demands) -> Wanted:
    """A phrase without the spellings that other demands rule out; if none is left it is refused."""
    if demands.allowed is not None:
        allowed = set(demands.allowed)
        phrase = _those(phrase, lambda tokens: set(tokens) <= allowed)
        if not phrase.spellings:
            raise Fault("A phrase that must occur has tokens outside the restricted vocabulary; allow them.")
    phrase = _those(phrase, lambda tokens: not any(occurs(forbidden, tokens) for forbidden in demands.forbidden))
    if not phrase.spellings:
        raise Fault("A phrase that must occur holds one that must not; give up one of them.")
    return phrase


def _those(phrase: Wanted, is_possible: Callable[[Phrase], bool]) -> Wanted:
    spellings, opening = (tuple(filter(is_possible, each)) for each in (phrase.spellings, phrase.opening))
    return replace(phrase, spellings=spellings, opening=opening)


def _check_lengths(wanted: Sequence[Sequence[Wanted]], demands: Demands, limits: Sequence[int]) -> None:
    """Refuse phrases for which there is no room."""
    for number, (several, limit) in enumerate(zip(wanted, limits, strict=True)):
        prefix = demands.prefixes[number] if demands.prefixes else ()
        lengths = [min(map(len, (*each.spellings, *each.opening))) for each in several if not each.occurs_in(prefix)]
        needed = len(prefix) + 1 + sum(lengths)
        if several and needed > limit:
            raise TextFault(
                number,
                f"what is asked of it takes {needed} tokens, its end counted, but its output may have {limit}; ask for "
                "less or raise the limit.",
            )


def refuse_unpromising(options: DecodingOptions, draws: bool) -> None:
    """Refuse a search that cannot promise that a phrase occurs."""
    if draws:
        raise Fault("Sampling cannot promise phrases that must occur; use beam search for them.")
    if options.groups > 1 or options.nested:
        raise Fault("A beam with groups or a nested beam cannot promise phrases that must occur; use a plain one.")
