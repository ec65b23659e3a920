"""Texts between marks: [CLS] text [SEP], or [CLS] text [SEP] second text [SEP]."""

from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from regard.models.text.texts import TextRows

_OF_ONE, _OF_TWO = 2, 3  # marks around one text, and around two


class Marks(NamedTuple):
    """The tokens of padding, of what stands before a text ([CLS]) and behind it ([SEP])."""

    pad: int
    begin: int
    end: int


class Framed(NamedTuple):
    """Texts with their marks, and the segment of each place: 1 in a second text and its mark, where there is one."""

    tokens: Int[Tensor, "batch place"]
    lengths: Int[Tensor, " batch"]
    segments: Int[Tensor, "batch place"] | None


def frame(texts: TextRows, marks: Marks) -> Framed:
    """The texts between their marks; what is asked about each, where there is such a thing, is a second text."""
    tokens, lengths = texts.tokens, texts.lengths
    batch, time = tokens.shape
    second = 0 if texts.aspects is None else texts.aspects.shape[1] + 1
    places = torch.arange(time + _OF_ONE + second, device=tokens.device)[None]
    first_end = lengths[:, None] + 1  # where the mark behind the first text stands
    own = tokens.gather(1, (places - 1).clamp(0, time - 1).expand(batch, -1))
    framed = torch.where(places < first_end, own, marks.pad)
    framed = framed.masked_fill(places == 0, marks.begin).masked_fill(places == first_end, marks.end)
    if texts.aspects is None or texts.aspect_lengths is None:
        return Framed(framed, lengths + _OF_ONE, None)
    second_end = first_end + texts.aspect_lengths[:, None] + 1
    other = texts.aspects.gather(1, (places - first_end - 1).clamp(0, texts.aspects.shape[1] - 1))
    is_second = places > first_end
    framed = torch.where(is_second & (places < second_end), other, framed)
    framed = framed.masked_fill(places == second_end, marks.end)
    segments = (is_second & (places <= second_end)).long()
    return Framed(framed, lengths + texts.aspect_lengths + _OF_TWO, segments)


def room_for_text(longest: int, second: int | None) -> int:
    """How many tokens the first text may have, beside a second one of so many."""
    return longest - _OF_ONE if second is None else longest - _OF_TWO - second


def keep_ends(texts: TextRows, longest: int) -> TextRows:
    """Texts of which as much of the beginning and of the end is left as there is room for, and the middle is not.

    As "head and tail" of Sun et al. 2019, How to Fine-Tune BERT for Text Classification; here both are as long.
    """
    tokens, lengths = texts.tokens, texts.lengths
    room = lengths.new_tensor(longest - _OF_ONE).expand(len(lengths))
    if texts.aspect_lengths is not None:
        room = longest - _OF_TWO - texts.aspect_lengths
    left = lengths.minimum(room)[:, None]
    places = torch.arange(min(tokens.shape[1], longest - _OF_ONE), device=tokens.device)[None]
    chosen = places + torch.where(places >= left // 2, lengths[:, None] - left, 0)
    return texts._replace(tokens=tokens.gather(1, chosen.clamp(max=tokens.shape[1] - 1)), lengths=left[:, 0])
