"""Required phrases: how much of them a hypothesis has written.

A phrase occurs when one of its spellings is unbroken somewhere in the output, or when its `is_in` says so: that may see
it in other tokens, and see it vanish when a word grows longer. Phrases may overlap, and one that is required twice need
occur only once. A hypothesis has *met* the phrases that occur in it, and of each spelling of the others it has *begun*
as many first tokens as it ends with. Its bank is the number of tokens of all met phrases (by the longest spelling of
each, so that meeting one always counts more than having begun it), plus those of the spelling begun furthest.
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
    """The phrases required of each sentence of a batch, as tensors for a search."""

    def __init__(self, demands: Demands, limits: Tensor) -> None:
        self.wanted = [[_possible(phrase, demands) for phrase in phrases] for phrases in demands.wanted]
        _check_lengths(self.wanted, demands, limits.tolist())
        device = limits.device
        sizes = [[max(map(len, (*phrase.spellings, *phrase.opening))) for phrase in phrases] for phrases in self.wanted]
        self.sizes = pad_rows(sizes, device).clamp(min=0)  # (sentence, phrase)
        spelled = [list(_spellings(phrases)) for phrases in self.wanted]
        most = max(len(spellings) for spellings in spelled)
        tokens = [[tokens_of for tokens_of, _, _ in spellings] for spellings in spelled]
        flat = [spelling for spellings in tokens for spelling in [*spellings, *[()] * (most - len(spellings))]]
        self.table = pad_rows(flat, device).view(len(spelled), most, -1)  # (sentence, spelling, place), -1 after it
        self.lengths = (self.table >= 0).sum(dim=2)  # (sentence, spelling)
        self.owners = pad_rows([[owner for _, owner, _ in spellings] for spellings in spelled], device).clamp(min=0)
        self.opens = pad_rows([[int(opens) for _, _, opens in spellings] for spellings in spelled], device) == 1

    def met_by_nothing(self, numbers: Tensor, size: int) -> tuple[Tensor, Tensor]:
        """Return what empty hypotheses have met (sentence, beam, phrase) and begun (sentence, beam, spelling)."""
        return self.after(numbers, torch.empty(len(numbers), size, 0, dtype=torch.long, device=numbers.device))

    def after(self, numbers: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return what `tokens` (sentence, row, time) meet and begin."""
        rows, most = tokens.shape[1], self.sizes.shape[1]
        seen = [
            [[*(phrase.occurs_in(row) for phrase in self.wanted[number]), *[True] * (most - len(self.wanted[number]))]
             for row in written]
            for number, written in zip(numbers.tolist(), tokens.tolist(), strict=True)
        ]  # fmt: skip
        met = torch.tensor(seen, dtype=torch.bool, device=tokens.device).view(len(numbers), rows, most)
        table, lengths = self.table[numbers][:, None], self.lengths[numbers][:, None]
        begun = torch.zeros(len(numbers), rows, table.shape[2], dtype=torch.long, device=tokens.device)
        for size in range(1, min(table.shape[3], tokens.shape[2]) + 1):
            same = (tokens[:, :, None, -size:] == table[..., :size]).all(dim=-1)
            begun = begun.masked_fill(same & (size < lengths), size)  # a whole spelling that is not met counts no more
        is_late = self.opens[numbers][:, None] & (begun != tokens.shape[2])
        return met, begun.masked_fill(self._are_met(numbers, met) | is_late, 0)

    def bank(self, numbers: Tensor, met: Tensor, begun: Tensor) -> Tensor:
        """Return the number of tokens of phrases in each row, (sentence, row)."""
        return (met * self.sizes[numbers][:, None]).sum(dim=2) + begun.amax(dim=2)

    def next_tokens(self, numbers: Tensor, met: Tensor, begun: Tensor, time: int) -> Tensor:
        """Return the next token of every spelling for each row of `time` tokens, (sentence, row, spelling).

        It is -1 for met phrases, and for opening spellings if the output has begun in another way.
        """
        table = self.table[numbers][:, None].expand(-1, met.shape[1], -1, -1)
        is_late = self.opens[numbers][:, None] & (begun != time)
        return table.gather(3, begun[..., None]).squeeze(3).masked_fill(self._are_met(numbers, met) | is_late, -1)

    def _are_met(self, numbers: Tensor, met: Tensor) -> Tensor:
        """Return whether the phrase of each spelling is met, (sentence, row, spelling)."""
        return met.gather(2, self.owners[numbers][:, None].expand(-1, met.shape[1], -1))


def _spellings(phrases: Sequence[Wanted]) -> Iterator[tuple[Phrase, int, bool]]:
    """Yield every spelling of some phrases, with its phrase's number and whether it can only begin an output."""
    for number, phrase in enumerate(phrases):
        yield from ((tokens, number, False) for tokens in phrase.spellings)
        yield from ((tokens, number, True) for tokens in phrase.opening)


def _possible(phrase: Wanted, demands: Demands) -> Wanted:
    """Remove the spellings that other demands rule out; refuse the phrase if none is left."""
    if demands.allowed is not None:
        allowed = set(demands.allowed)
        phrase = _those(phrase, lambda tokens: set(tokens) <= allowed)
        if not phrase.spellings:
            raise Fault("A phrase that must occur has tokens outside the restricted vocabulary. Allow them.")
    phrase = _those(phrase, lambda tokens: not any(occurs(forbidden, tokens) for forbidden in demands.forbidden))
    if not phrase.spellings:
        raise Fault("A phrase that must occur contains one that must not. Give up one of them.")
    return phrase


def _those(phrase: Wanted, is_possible: Callable[[Phrase], bool]) -> Wanted:
    spellings, opening = (tuple(filter(is_possible, candidates)) for candidates in (phrase.spellings, phrase.opening))
    return replace(phrase, spellings=spellings, opening=opening)


def _check_lengths(wanted: Sequence[Sequence[Wanted]], demands: Demands, limits: Sequence[int]) -> None:
    """Refuse phrases for which there is no room."""
    for number, (phrases, limit) in enumerate(zip(wanted, limits, strict=True)):
        prefix = demands.prefixes[number] if demands.prefixes else ()
        lengths = [min(map(len, (*one.spellings, *one.opening))) for one in phrases if not one.occurs_in(prefix)]
        needed = len(prefix) + 1 + sum(lengths)
        if phrases and needed > limit:
            raise TextFault(
                number,
                f"the required phrases take {needed} tokens with the end, but its output may have {limit}; ask for "
                "less or raise the limit.",
            )


def refuse_unpromising(options: DecodingOptions, draws: bool) -> None:
    """Refuse a search that cannot guarantee that a phrase occurs."""
    if draws:
        raise Fault("Sampling cannot guarantee phrases that must occur. Use beam search for them.")
    if options.groups > 1 or options.nested:
        raise Fault("A beam with groups or a nested beam cannot guarantee phrases that must occur. Use a plain one.")
