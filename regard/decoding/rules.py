"""Rules on the next token, shared by beam search and sampling.

A mask is True where a token may be written. Other tokens get -inf, so rules that only forbid leave all other
log-probabilities unchanged; nothing is renormalised. Only the repetition penalty changes values: searches rank by the
changed ones, and the token scores they report remain the model's own.

Where rules conflict: a prefix is written whatever else is forbidden; after it, at its length limit, an output must end,
unless the search cuts it there; and the end is held back for the shortest length only while something else may be
written. So there is always a next token, unless the model itself gives none.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

import torch
from torch import Tensor

from regard.base.faults import Fault, TextFault
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands

NOTHING = float("-inf")


def penalise_repeats(log_probabilities: Tensor, tokens: Tensor, penalty: float) -> Tensor:
    """log p · penalty for every token already written (Keskar et al. 2019, section 4.1).

    The paper divides logits, whose zero is arbitrary: above zero the penalty lowers them, below zero it would raise
    them. A log-probability is never above zero, so here it always lowers.
    """
    written = torch.zeros_like(log_probabilities, dtype=torch.bool).scatter_(1, tokens, True)
    return torch.where(written, log_probabilities * penalty, log_probabilities)


def unrepeated_mask(tokens: Tensor, size: int, vocabulary: int) -> Tensor:
    """Mask (row, token) of tokens that repeat no sequence of `size` tokens of their row (Paulus et al. 2018, 2.5)."""
    rows, time = tokens.shape
    if time < size:
        return tokens.new_ones(rows, vocabulary, dtype=torch.bool)
    windows = tokens.unfold(1, size, 1)
    recent = tokens[:, time - size + 1 :]
    again = (windows[:, :, :-1] == recent[:, None]).all(dim=-1)
    return _without(again, windows[:, :, -1], vocabulary)


def unforbidden(tokens: Tensor, phrases: Tensor, vocabulary: int) -> Tensor:
    """Mask (row, token) of tokens that complete none of these phrases (phrase, length)."""
    rows, time = tokens.shape
    earlier = phrases.shape[1] - 1
    if time < earlier:
        return tokens.new_ones(rows, vocabulary, dtype=torch.bool)
    recent = tokens[:, time - earlier :]
    is_begun = (recent[:, None] == phrases[None, :, :-1]).all(dim=-1)
    return _without(is_begun, phrases[:, -1].expand(rows, -1), vocabulary)


def _without(blocked: Tensor, tokens: Tensor, vocabulary: int) -> Tensor:
    """Mask (row, token), False at those of the tokens (row, place) that are blocked (row, place)."""
    counts = torch.zeros(len(tokens), vocabulary, dtype=torch.long, device=tokens.device)
    return counts.scatter_add_(1, tokens, blocked.long()) == 0


class Rules:
    """All rules of one search: from its options, its demands, and the length limits of its sentences."""

    def __init__(self, options: DecodingOptions, demands: Demands, end: int, limits: Tensor) -> None:
        self.options, self.end, self.limits = options, end, limits
        _check(demands, end, limits)
        if options.form == "tree" and demands.form is None:
            raise Fault("Only a translator writes trees; leave out form = 'tree'.")
        device = limits.device
        by_length = groupby(sorted(demands.forbidden, key=len), key=len)
        self.forbidden = [torch.tensor([list(phrase) for phrase in group], device=device) for _, group in by_length]
        allowed = None if demands.allowed is None else [*demands.allowed, end]
        self.allowed = None if allowed is None else torch.tensor(allowed, device=device)
        self.form = demands.form
        self.prefixes = pad_rows(demands.prefixes, device) if demands.prefixes else None

    def __call__(self, log_probabilities: Tensor, tokens: Tensor, sentences: Tensor) -> Tensor:
        """Return ranking scores, float64 (row, token), with -inf for tokens that may not follow `tokens` (row, time).

        `sentences` holds the place of each row's sentence in the batch.
        """
        vocabulary, time = log_probabilities.shape[1], tokens.shape[1]
        values = log_probabilities.double()
        if self.options.repetition_penalty != 1:
            values = penalise_repeats(values, tokens, self.options.repetition_penalty)
        penalised = values
        for mask in self._masks(tokens, sentences, vocabulary):
            values = values.masked_fill(~mask, NOTHING)
        places = torch.arange(vocabulary, device=values.device)
        at_limit = (self.limits[sentences] <= time + 1)[:, None]
        if time < self.options.shortest:
            others = values.isfinite() & (places != self.end)
            early = others.any(dim=1, keepdim=True) & ~at_limit
            values = values.masked_fill(early & (places == self.end), NOTHING)
        values = values.masked_fill(at_limit & (places != self.end), NOTHING)
        if self.prefixes is not None and time < self.prefixes.shape[1]:
            forced = self.prefixes[sentences, time][:, None]
            values = torch.where(forced >= 0, penalised.masked_fill(places != forced, NOTHING), values)
        return values

    def can_change(self, time: int) -> bool:
        """Return True if a rule may change what is written as token number `time`, counted from 0."""
        options = self.options
        return (
            options.repetition_penalty != 1
            or options.unrepeated > 0
            or bool(self.forbidden)
            or self.allowed is not None
            or self.form is not None
            or time < options.shortest
            or time + 1 >= int(self.limits.min())
            or (self.prefixes is not None and time < self.prefixes.shape[1])
        )

    def _masks(self, tokens: Tensor, sentences: Tensor, vocabulary: int) -> Iterator[Tensor]:
        if self.allowed is not None:
            mask = torch.zeros(vocabulary, dtype=torch.bool, device=tokens.device)
            yield mask.index_fill(0, self.allowed, True)
        for phrases in self.forbidden:
            yield unforbidden(tokens, phrases, vocabulary)
        if self.options.unrepeated:
            yield unrepeated_mask(tokens, self.options.unrepeated, vocabulary)
        if self.form is not None:
            yield self.form.mask(tokens, sentences, self.limits[sentences], vocabulary)


def forced_ends(limits: Tensor, must_end: bool) -> Tensor:
    """Return the lengths at which outputs are forced to end; a search that cuts at the limits never reaches these."""
    return limits if must_end else limits + 1


def pad_rows(rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Return the rows as one tensor, padded with -1."""
    width = max((len(row) for row in rows), default=0)
    table = [[*row, *[-1] * (width - len(row))] for row in rows]
    return torch.tensor(table, dtype=torch.long, device=device).view(len(rows), width)


def _check(demands: Demands, end: int, limits: Tensor) -> None:
    """Refuse demands that no output can meet."""
    for name, demanded in (("prefixes", demands.prefixes), ("lists of required phrases", demands.required)):
        if demanded and len(demanded) != len(limits):
            raise ValueError(f"{len(demanded)} {name} were given for {len(limits)} sentences")
    required = (phrase for phrases_of in demands.wanted for phrase in phrases_of)
    phrases = [
        *demands.forbidden,
        *(spelling for phrase in required for spelling in (*phrase.spellings, *phrase.opening)),
    ]
    if any(not phrase for phrase in phrases):
        raise Fault("A phrase that must or must not occur is empty. Give it at least one token.")
    if any(end in phrase for phrase in [*phrases, *demands.prefixes]):
        raise Fault("A phrase or prefix contains the end token, after which nothing can be written. Leave it out.")
    for number, (prefix, limit) in enumerate(zip(demands.prefixes, limits.tolist(), strict=False), start=1):
        if len(prefix) >= limit:
            raise TextFault(
                number - 1,
                f"its prefix has {len(prefix)} tokens, but its output may have {limit} with the end; shorten the "
                "prefix or raise the limit.",
            )
