"""A painter: a codebook turns pictures into codes, and a Transformer writes a picture's codes given its caption.

p(picture | caption) = Π_t p(k_t | k_1 … k_{t−1}, caption), cell by cell from the upper left, as in DALL·E (Ramesh et
al. 2021, "Zero-Shot Text-to-Image Generation"). Departures: the encoder and the decoder of a Transformer read caption
and picture, which are not one sequence, so that a cell's attention to the caption can be seen by itself; and both
stages learn at once, from the same batch, the Transformer from codes without a gradient.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.painting.codebook import Codebook, Coded, Codes, Painted
from regard.models.parts import choose_by
from regard.models.transformer.network import Past, Transformer
from regard.models.transformer.options import TransformerOptions

BEGIN = 0  # token before the first code of a picture; the token of a code is its number plus one

Captions = Int[Tensor, "batch word"]
Lengths = Int[Tensor, " batch"]


class PainterOptions(Options):
    """Options of a painter: the codebook, then the Transformer."""

    codes: int = Field(128, ge=2, le=WIDEST, description="Number of codes in the codebook.")
    code_depth: int = Field(16, ge=1, le=WIDEST, description="Numbers per code.")
    halvings: int = Field(
        2, ge=1, le=8, description="How often the sides of a picture are halved: 2 makes cells of 4 × 4 pixels."
    )
    channels: int = Field(64, ge=1, le=WIDEST, description="Filters of the convolutions around the codebook.")
    commitment: float = Field(0.25, ge=0, le=100, description="Weight β that keeps the encoder close to the codes.")
    width: int = Field(128, ge=2, le=WIDEST, description="Width of the Transformer's states.")
    layers: int = Field(4, ge=1, le=MOST_LAYERS, description="Blocks of its decoder, which writes the codes.")
    caption_layers: int = Field(1, ge=1, le=MOST_LAYERS, description="Blocks of its encoder, which reads the caption.")
    heads: int = Field(4, ge=1, le=WIDEST, description="Attention heads of each attention.")
    feed_forward: int = Field(256, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of the Transformer.")

    @model_validator(mode="after")
    def _check(self) -> "PainterOptions":
        self.of_transformer(1)
        return self

    def of_transformer(self, places: int) -> TransformerOptions:
        """Return the options of a Transformer with `places` places."""
        return TransformerOptions(
            encoder_layers=self.caption_layers,
            decoder_layers=self.layers,
            width=self.width,
            heads=self.heads,
            feed_forward=self.feed_forward,
            dropout=self.dropout,
            norm="before",
            positions="learned",
            activation="gelu",
            longest=places,
            tied=False,
        )


class Learnt(NamedTuple):
    """The loss: the nats of each picture's codes, and its pass through the codebook."""

    nats: Float[Tensor, " batch"]
    coded: Coded


class Painter(nn.Module):
    """Network from pictures and captions to nats, or from captions and random numbers to codes and pictures."""

    def __init__(
        self, options: PainterOptions, words: int, longest: int, channels: int, height: int, width: int
    ) -> None:
        """Build a network for captions of up to `longest` of `words` words; cells must fill the picture evenly."""
        super().__init__()
        self.options = options
        cell = 2**options.halvings
        self.grid = height // cell, width // cell
        places = max(longest, self.grid[0] * self.grid[1])
        self.codebook = Codebook(
            channels, options.channels, options.halvings, options.codes, options.code_depth, options.commitment
        )
        self.transformer = Transformer(
            options.of_transformer(places), words + 1, options.codes + 1, shared=False, pad=BEGIN
        )

    @property
    def dtype(self) -> torch.dtype:
        return self.codebook.vectors.dtype

    @property
    def cells(self) -> int:
        return self.grid[0] * self.grid[1]

    def forward(self, pictures: Painted, captions: Captions, lengths: Lengths) -> Learnt:
        coded = self.codebook(pictures)
        return Learnt(self.nats(coded.codes, captions, lengths), coded)

    def nats(self, codes: Codes, captions: Captions, lengths: Lengths) -> Float[Tensor, " batch"]:
        """Return −log p(codes | caption) of each picture."""
        wanted = codes.flatten(1)
        inputs = F.pad(wanted[:, :-1] + 1, (1, 0), value=BEGIN)
        memory = self.transformer.read(captions, lengths)
        states, _ = self.transformer.write(inputs, memory, [])
        logits = self._logits(states)
        surprise = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none")
        return surprise.unflatten(0, wanted.shape).sum(dim=1)

    def paint(
        self, captions: Captions, lengths: Lengths, chance: Float[Tensor, "batch cell"], temperature: float
    ) -> Codes:
        """Sample codes for these captions one after another, by random numbers from 0 to 1."""
        memory = self.transformer.read(captions, lengths)
        past: list[Past] = []
        newest = captions.new_full((len(captions), 1), BEGIN)
        codes = []
        for cell in range(self.cells):
            states, past = self.transformer.write(newest, memory, past)
            codes.append(choose_by(self._logits(states[:, -1]).double() / temperature, chance[:, cell]))
            newest = codes[-1][:, None] + 1
        return torch.stack(codes, dim=1).unflatten(1, self.grid)

    def _logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place code"]:
        """Return the score of every code; the begin token is never written."""
        return self.transformer.logits(states)[..., 1:]
