"""Inputs of networks of words: tokens of texts, and facts about their vocabulary."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.masks import real_places

if TYPE_CHECKING:
    from regard.models.text.contexts import ContextSource


@dataclass(frozen=True)
class InputTokens:
    """Number of tokens, which of them are padding and unknown, and what comes with them.

    `begin` and `end` are what networks that frame a text put before it and behind it.

    `vector_width` is the width of ready vectors of the tokens, where there are any, `beside` that of what is given of
    each token beside its vector, and `contexts` are language models whose features are read too.
    """

    size: int
    pad: int
    unknown: int
    vector_width: int | None = None
    beside: int = 0
    contexts: "ContextSource | None" = None
    begin: int = 0
    end: int = 0


class TextRows(NamedTuple):
    """Texts in tokens, every one of them with one at least; behind its length a row is padding.

    `aspects` are the tokens of what each text is asked about, or of a second text, where there is such a thing, and
    `aspect_places` the places of the text where an aspect begins. `beside` is what is known of each token beside its
    vector. Where tokens are parts of words, `firsts` are the places of the first token of each word, and `beside` is of
    words.
    """

    tokens: Int[Tensor, "batch time"]
    lengths: Int[Tensor, " batch"]
    aspects: Int[Tensor, "batch aspect_time"] | None = None
    aspect_lengths: Int[Tensor, " batch"] | None = None
    beside: Float[Tensor, "batch word beside"] | None = None
    firsts: Int[Tensor, "batch word"] | None = None
    aspect_places: Int[Tensor, " batch"] | None = None

    def change(self, change: Callable[[Tensor], Tensor]) -> "TextRows":
        """Map every tensor that is there."""
        return self._replace(**{name: change(each) for name, each in self._asdict().items() if each is not None})


def mean_over_time(
    states: Float[Tensor, "batch time width"], lengths: Int[Tensor, " batch"]
) -> Float[Tensor, "batch width"]:
    """The mean over the places of each text, its padding left out."""
    real = real_places(lengths, states.shape[1])
    return states.masked_fill(~real[..., None], 0.0).sum(dim=1) / lengths[:, None]


def aspect_ends(texts: TextRows) -> tuple[Int[Tensor, " batch"], Int[Tensor, " batch"]]:
    """The places of the first and of the last word of each aspect, or the text's end where it is read no further."""
    assert texts.aspect_places is not None
    assert texts.aspect_lengths is not None
    last = texts.lengths - 1
    return texts.aspect_places.minimum(last), (texts.aspect_places + texts.aspect_lengths - 1).minimum(last)


def nearness(texts: TextRows, time: int, reach: float) -> Float[Tensor, "batch time"]:
    """exp(−d² / (2 reach²)), with d the words from each place to the aspect; 1 within it."""
    first, last = aspect_ends(texts)
    places = torch.arange(time, device=first.device)
    distance = (first[:, None] - places).maximum(places - last[:, None]).clamp(min=0)
    return (-((distance / reach) ** 2) / 2).exp()
