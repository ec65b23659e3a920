"""A vector for each word from its letters, so that unknown words can be recognised by their endings.

It comes from a convolution with max-pooling (dos Santos and Zadrozny 2014, section 2.1), or from a bidirectional LSTM
(Lample et al. 2016, section 4.1).
"""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention.masks import real_places
from regard.base.recipe import Options
from regard.models.bounds import WIDEST
from regard.models.recurrent.layers import Stack

_USUAL = 8  # typical number of letters in a word, with its begin and end


class LetterOptions(Options):
    """Options for reading the letters of a word."""

    reader: Literal["none", "convolution", "lstm"] = Field(
        "convolution", description="Network that reads the letters of each word."
    )
    embedding: int = Field(32, ge=1, le=WIDEST, description="Width of the letter embeddings.")
    width: int = Field(64, ge=2, le=WIDEST, description="Width of the vector made from a word's letters.")
    reach: int = Field(1, ge=0, le=16, description="Letters to either side that a convolution sees.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on the letter embeddings.")

    @model_validator(mode="after")
    def _check_width(self) -> "LetterOptions":
        if self.reader == "lstm" and self.width % 2:
            raise ValueError(f"width {self.width} is odd, but two directions share it evenly")
        return self


class LetterReader(nn.Module):
    """Makes a vector of `width` numbers for each word from its letters."""

    def __init__(self, options: LetterOptions, letters: int, pad: int) -> None:
        super().__init__()
        self.options, self.pad, self.width = options, pad, options.width
        self.embedding = nn.Parameter(torch.empty(letters, options.embedding))
        nn.init.normal_(self.embedding, std=options.embedding**-0.5)
        self.dropout = nn.Dropout(options.dropout)
        self.filters: nn.Conv1d | None = None
        self.stack: Stack | None = None
        if options.reader == "lstm":
            self.stack = Stack("lstm", options.embedding, options.width, 1, bidirectional=True)
        else:
            self.filters = nn.Conv1d(options.embedding, options.width, 2 * options.reach + 1, padding=options.reach)

    def forward(self, letters: Int[Tensor, "form letter"]) -> Float[Tensor, "form width"]:
        lengths = (letters != self.pad).sum(dim=1)
        vectors = self.dropout(F.embedding(letters, self.embedding, padding_idx=self.pad))
        if self.stack is not None:
            return self.stack.last(vectors, lengths)
        assert self.filters is not None
        # Padding becomes zeros, as the convolution pads the ends of a word anyway.
        features = self.filters((vectors * (letters != self.pad)[..., None]).mT).mT
        real = real_places(lengths, letters.shape[1])
        return features.masked_fill(~real[..., None], float("-inf")).amax(dim=1)

    def multiplications(self) -> int:
        """Return the multiplications for a word of typical length."""
        network = self.filters or self.stack
        assert network is not None
        return _USUAL * sum(weights.numel() for weights in network.parameters() if weights.dim() > 1)
