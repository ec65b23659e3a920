"""A Transformer over the patches of a picture (Dosovitskiy et al. 2021, "An Image Is Worth 16x16 Words").

h_0 = W x_p + P,   h_l = block(h_{l−1}),   log p(y) = log softmax(V mean_p norm(h_L))

A picture is cut into squares, each square is a token, and the rest is the encoder of a Transformer with a norm before
each sublayer. Departure: the picture is summed up by the mean over the patches, which needs no class token (Beyer et
al. 2022, "Better Plain ViT Baselines").

Its heads look by the content of patches. With `heads_look_by = "place"` they look by place alone, each at a spot that
it learns (Cordonnier et al. 2020): such heads can express a convolution.
"""

import math
from collections.abc import Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention.glimpses import Pictures
from regard.attention.positions import Learned
from regard.attention.quadratic import QuadraticHeads
from regard.attention.rollout import roll_out
from regard.attention.watch import is_watched, note, watching
from regard.base.recipe import Options
from regard.models.bounds import MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.parts import FeedForward, Residual
from regard.models.picture_network import PictureNetwork
from regard.models.transformer.network import EncoderBlock
from regard.models.transformer.options import TransformerOptions

States = Float[Tensor, "batch patch unit"]


class PatchOptions(Options):
    """Options of a Transformer over patches."""

    patch: int = Field(4, ge=1, le=256, description="Side of a patch in pixels.")
    width: int = Field(64, ge=2, le=WIDEST, description="Width of the states between the blocks.")
    layers: int = Field(4, ge=1, le=MOST_LAYERS, description="Number of blocks.")
    heads: int = Field(4, ge=1, le=WIDEST, description="Attention heads of each block.")
    feed_forward: int = Field(128, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on patches and on each sublayer's output.")
    heads_look_by: Literal["content", "place"] = Field(
        "content",
        description="What heads look by: the content of patches, or place alone, each at a spot that it learns.",
    )

    @model_validator(mode="after")
    def _check(self) -> "PatchOptions":
        if self.heads_look_by == "content":
            self.of_blocks()
        return self

    def of_blocks(self) -> TransformerOptions:
        """Return the options of its blocks, which are Transformer blocks."""
        return TransformerOptions(
            encoder_layers=self.layers,
            decoder_layers=1,  # not built
            width=self.width,
            heads=self.heads,
            feed_forward=self.feed_forward,
            dropout=self.dropout,
            norm="before",
            positions="none",
            activation="gelu",
        )


class PlaceBlock(nn.Module):
    """Heads that look by place alone, then the feed-forward net; each head's values have width / heads, at least 1."""

    def __init__(self, options: PatchOptions, grid: tuple[int, int]) -> None:
        super().__init__()
        self.grid = grid
        depth = max(1, options.width // options.heads)
        self.look = QuadraticHeads(
            options.width, options.heads, depth, options.width, looks_from="source", looks_at="source"
        )
        self.feed_forward = FeedForward(options.width, options.feed_forward, "gelu", dropout=0.0)
        self.around_look = Residual(options.width, options.dropout, "before")
        self.around_feed_forward = Residual(options.width, options.dropout, "before")

    def forward(self, states: States, real: None = None) -> States:
        states = self.around_look(states, lambda s: self.look(s.unflatten(1, self.grid)).flatten(1, 2))
        return self.around_feed_forward(states, self.feed_forward)


class Rollout(nn.Module):
    """Where the information in the answer came from, for watchers: a gaze across all blocks."""

    looks_from, looks_at = "answer", "picture"
    not_edited = "The rollout follows from the weights of all blocks, so it cannot be edited itself; edit a block."

    def forward(self, blocks: Sequence[Float[Tensor, "batch head patch patch"]]) -> None:
        reached = roll_out(blocks).mean(dim=1)  # the answer comes from the mean of all patches
        note(self, self.looks_from, self.looks_at, reached[:, None, None])


class PatchEncoder(nn.Module):
    """Encoder of patches on a grid, `numbers` numbers each, to a state for each patch, row by row."""

    def __init__(self, options: PatchOptions, numbers: int, grid: tuple[int, int]) -> None:
        super().__init__()
        self.options = options
        self.enter = nn.Linear(numbers, options.width)
        self.places = Learned(math.prod(grid), options.width)
        self.dropout = nn.Dropout(options.dropout)
        self.blocks = nn.ModuleList(
            PlaceBlock(options, grid) if options.heads_look_by == "place" else EncoderBlock(options.of_blocks())
            for _ in range(options.layers)
        )
        self.norm = nn.LayerNorm(options.width)

    def forward(self, patches: Float[Tensor, "batch patch number"], kept: Sequence[int] | None = None) -> States:
        """Return the state of each patch, or of some patches that are read as if there were no others."""
        states = self.dropout(self.places(self.enter(patches)))
        if kept is not None:
            states = states[:, list(kept)]
        for block in self.blocks:
            states = block(states, None)
        return self.norm(states)


class PatchTransformer(PictureNetwork):
    """Network from pictures to log-probabilities of classes.

    A picture whose sides are not multiples of the patch is padded with zeros at its right and lower edge.
    """

    picture_sides = ("picture", "source")
    grid: tuple[int, int]

    def __init__(self, options: PatchOptions, classes: int, height: int, width: int) -> None:
        super().__init__()
        self.options, self.classes, self.patch = options, classes, options.patch
        self.grid = math.ceil(height / options.patch), math.ceil(width / options.patch)
        self.encoder = PatchEncoder(options, options.patch**2, self.grid)
        self.action = nn.Linear(options.width, classes)
        self.rollout = Rollout()

    def answer(self, pictures: Pictures, kept: Sequence[int] | None = None) -> Float[Tensor, "batch class"]:
        """Return the log-probabilities of the classes, by all patches or those that are kept."""
        states = self.encoder(cut_into_patches(pictures, self.options.patch), kept)
        return torch.log_softmax(self.action(states.mean(dim=1)), dim=-1)

    def step_sides(self) -> dict[str, list[str]]:
        return {self.rollout.looks_from: ["rollout"]}

    def note_answer(self, pictures: Pictures) -> None:
        """Note where the answer came from, if watched; this reads the pictures once more."""
        if is_watched(self.rollout):
            with watching(self.encoder) as gazes:
                self.encoder(cut_into_patches(pictures, self.options.patch))
            self.rollout([gaze.weights for gaze in gazes])

    def multiplications(self, height: int, width: int) -> int:
        """Return the multiplications for one picture of this size.

        Matrices count once per patch; a pair of patches costs a head the depth of a query, or 3 if it looks by place,
        plus the depth of a value.
        """
        options = self.options
        patches = math.ceil(height / options.patch) * math.ceil(width / options.patch)
        matrices = sum(layer.weight.numel() for layer in self.encoder.modules() if isinstance(layer, nn.Linear))
        of_query = options.width if options.heads_look_by == "content" else 3 * options.heads
        of_value = max(1, options.width // options.heads) * options.heads
        pairs = options.layers * patches**2 * (of_query + of_value)
        return patches * matrices + pairs + self.action.weight.numel()


def cut_into_patches(pictures: Pictures, side: int) -> Float[Tensor, "batch patch pixel"]:
    """Cut pictures into squares, row by row, each given as its pixels, row by row."""
    height, width = pictures.shape[1:]
    whole = F.pad(pictures, (0, -width % side, 0, -height % side))
    squares = whole.unflatten(2, (-1, side)).unflatten(1, (-1, side))  # (batch, row, down, column, across)
    return squares.transpose(2, 3).flatten(3).flatten(1, 2)
