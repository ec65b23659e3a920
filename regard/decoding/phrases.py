"""Phrases that must occur: how much of them a hypothesis has written.

A phrase occurs when its tokens stand unbroken somewhere in the output; phrases may overlap, and one asked for twice
need occur once. A hypothesis has *met* the phrases that occur in it, and has *begun* as many first tokens of each other
phrase as it ends with. Its bank is the number of tokens of all met phrases, plus those of the phrase begun furthest.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.decoding.output import Demands, Phrase
from regard.decoding.rules import occurs, padded
from regard.faults import Fault, OfText


class Phrases:
    """The phrases required of each sentence of a batch, as tensors that a search can ask."""

    def __init__(self, demands: Demands, limits: Tensor) -> None:
        asked = [list(dict.fromkeys(tuple(phrase) for phrase in phrases)) for phrases in demands.required]
        _check(asked, demands, limits.tolist())
        most = max(len(phrases) for phrases in asked)
        flat = [phrase for phrases in asked for phrase in [*phrases, *[()] * (most - len(phrases))]]
        self.table = padded(flat, limits.device).view(len(asked), most, -1)  # (sentence, phrase, place), -1 after it
        self.lengths = (self.table >= 0).sum(dim=2)  # (sentence, phrase)

    def met_by_nothing(self, numbers: Tensor, size: int) -> tuple[Tensor, Tensor]:
        """What empty hypotheses have met and begun, both (sentence, beam, phrase); a phrase of no tokens is met."""
        met = (self.lengths[numbers] == 0)[:, None].repeat(1, size, 1)
        return met, torch.zeros_like(met, dtype=torch.long)

    def after(self, numbers: Tensor, met: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """What is met and begun by `tokens` (sentence, row, time), of which `met` was without the last of them."""
        table, begun = self.table[numbers][:, None], torch.zeros_like(met, dtype=torch.long)
        for size in range(1, min(table.shape[3], tokens.shape[2]) + 1):
            same = (tokens[:, :, None, -size:] == table[..., :size]).all(dim=-1)
            begun = begun.masked_fill(same, size)
        met = met | (begun == self.lengths[numbers][:, None])
        return met, begun.masked_fill(met, 0)

    def bank(self, numbers: Tensor, met: Tensor, begun: Tensor) -> Tensor:
        """How many tokens of the phrases each row has, (sentence, row)."""
        return (met * self.lengths[numbers][:, None]).sum(dim=2) + begun.amax(dim=2)

    def wanted(self, numbers: Tensor, met: Tensor, begun: Tensor) -> Tensor:
        """The next token of every phrase for each row, -1 for what is met, (sentence, row, phrase)."""
        table = self.table[numbers][:, None].expand(-1, met.shape[1], -1, -1)
        return table.gather(3, begun[..., None]).squeeze(3).masked_fill(met, -1)


def _check(asked: Sequence[Sequence[Phrase]], demands: Demands, limits: Sequence[int]) -> None:
    """Refuse phrases that other demands or the length limit rule out."""
    phrases = [phrase for several in asked for phrase in several]
    if any(occurs(forbidden, phrase) for forbidden in demands.forbidden for phrase in phrases):
        raise Fault("A phrase that must occur holds one that must not; give up one of them.")
    if demands.allowed is not None and any(set(phrase) - set(demands.allowed) for phrase in phrases):
        raise Fault("A phrase that must occur has tokens outside the restricted vocabulary; allow them.")
    for number, (several, limit) in enumerate(zip(asked, limits, strict=True), start=1):
        prefix = demands.prefixes[number - 1] if demands.prefixes else ()
        needed = len(prefix) + 1 + sum(len(phrase) for phrase in several if not occurs(phrase, prefix))
        if several and needed > limit:
            raise OfText(
                number - 1,
                f"what is asked of it takes {needed} tokens, its end counted, but its output may have {limit}; ask for "
                "less or raise the limit.",
            )
