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
    """The vocabulary of a network: its size, its special tokens, and its extra inputs.

    `begin` and `end` are the tokens that some networks put around a text.

    `vector_width` is the width of pretrained token vectors, if any, `beside` that of extra features of each token, and
    `contexts` are language models whose features are read too.
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
    """Texts as tokens, at least one in each; padding follows after each length.

    `aspects` holds the tokens of the aspect that each text is asked about, or of a second text, if any, and
    `aspect_places` the place in the text where the aspect begins. `beside` holds extra features of each token. If
    tokens are parts of words, `firsts` holds the place of each word's first token, and `beside` is per word.
    """

    tokens: Int[Tensor, "batch time"]
    lengths: Int[Tensor, " batch"]
    aspects: Int[Tensor, "batch aspect_time"] | None = None
    aspect_lengths: Int[Tensor, " batch"] | None = None
    beside: Float[Tensor, "batch word beside"] | None = None
    firsts: Int[Tensor, "batch word"] | None = None
    aspect_places: Int[Tensor, " batch"] | None = None

    def change(self, change: Callable[[Tensor], Tensor]) -> "TextRows":
        """Apply a function to every tensor that is set."""
        return self._replace(**{name: change(tensor) for name, tensor in self._asdict().items() if tensor is not None})


def mean_over_time(
    states: Float[Tensor, "batch time width"], lengths: Int[Tensor, " batch"]
) -> Float[Tensor, "batch width"]:
    """Return the mean over the places of each text, without padding."""
    real = real_places(lengths, states.shape[1])
    return states.masked_fill(~real[..., None], 0.0).sum(dim=1) / lengths[:, None]


def aspect_ends(texts: TextRows) -> tuple[Int[Tensor, " batch"], Int[Tensor, " batch"]]:
    """Return the places of each aspect's first and last word, limited to the end of the text that is read."""
    assert texts.aspect_places is not None
    assert texts.aspect_lengths is not None
    last = texts.lengths - 1
    return texts.aspect_places.minimum(last), (texts.aspect_places + texts.aspect_lengths - 1).minimum(last)


def nearness(texts: TextRows, time: int, reach: float) -> Float[Tensor, "batch time"]:
    """exp(−d² / (2 reach²)), with d the number of words from each place to the aspect; 1 within it."""
    first, last = aspect_ends(texts)
    places = torch.arange(time, device=first.device)
    distance = (first[:, None] - places).maximum(places - last[:, None]).clamp(min=0)
    return (-((distance / reach) ** 2) / 2).exp()
