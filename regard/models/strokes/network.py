"""Networks that continue a drawing step by step, and may start from a few numbers that summarise a whole one.

    h_t = body(enter(s_{t−1}) + W z, h_{t−1}, …),   o_t = V leave(h_t)

s are moves of the pen, or tokens for points; o_t are the parameters of a mixture density (Graves 2013; Ha and Eck 2017,
"A Neural Representation of Sketch Drawings") or the logits of the next token (Ribeiro et al. 2020, "Sketchformer").
With `latent` numbers z they are autoencoders: an encoder reads the whole drawing, and

    z = μ + σ ε,   (μ, log σ²) = U summary(drawing),   KL = −½ Σ (1 + log σ² − μ² − σ²)

Departures: z is added to the input of every step, where sketch-rnn also initialises its decoder with it and
Sketchformer attends to it; the recurrent encoder reads in one direction; the input also says where the pen is.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.cell_names import CellName
from regard.models.gpt.options import GPTOptions
from regard.models.parts import count_matrix_weights
from regard.models.strokes.bodies import Blocks, Body, Layers
from regard.models.strokes.mixture import PENS, outputs_of

FEATURES = 2 + 2 + PENS  # of a move: its offset, the new place, and the pen's action there


class StrokeShape(NamedTuple):
    """Steps of the longest drawing, and number of tokens; None if steps are moves."""

    steps: int
    tokens: int | None


class Summary(NamedTuple):
    """An encoder's summary of a drawing: a Gaussian over its latent numbers."""

    mean: Float[Tensor, "batch latent"]
    log_variance: Float[Tensor, "batch latent"]

    def divergence(self) -> Float[Tensor, " batch"]:
        """KL(N(μ, σ²) ‖ N(0, 1)) (Ha and Eck 2017, equation 10, summed and not averaged)."""
        return 0.5 * (self.mean.square() + self.log_variance.exp() - 1 - self.log_variance).sum(dim=-1)

    def with_noise(self, noise: Float[Tensor, "batch latent"]) -> Float[Tensor, "batch latent"]:
        return self.mean + (0.5 * self.log_variance).exp() * noise


class SketcherOptions(Options, ABC):
    """Options of all networks that draw."""

    width: int = Field(128, ge=2, le=WIDEST, description="Width of the inputs and outputs of the body.")
    layers: int = Field(4, ge=1, le=MOST_LAYERS, description="Number of blocks or recurrent layers.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout on inputs and sublayers, or between layers.")
    gaussians: int = Field(
        20, ge=1, le=200, description="Gaussians of the mixture density, if drawings are coded as triples."
    )
    latent: int = Field(
        0, ge=0, le=WIDEST, description="Latent numbers that summarise a drawing, for an autoencoder; 0: none."
    )

    @property
    def inside(self) -> int:
        """Width of the states of its body."""
        return self.width

    @abstractmethod
    def make_body(self, steps: int) -> Body:
        """Build the body for drawings of at most `steps` steps."""


class SketchformerOptions(SketcherOptions):
    """Options of a Transformer that draws."""

    heads: int = Field(4, ge=1, le=WIDEST, description="Attention heads of each block.")
    feed_forward: int = Field(512, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets.")

    @model_validator(mode="after")
    def _check(self) -> "SketchformerOptions":
        self._of_blocks(2)
        return self

    def make_body(self, steps: int) -> Body:
        return Blocks(self._of_blocks(steps))

    def _of_blocks(self, steps: int) -> GPTOptions:
        """Return the options of a GPT that looks back over `steps` steps."""
        return GPTOptions(
            layers=self.layers,
            width=self.width,
            heads=self.heads,
            context=max(2, steps),
            feed_forward=self.feed_forward,
            dropout=self.dropout,
            attention_dropout=0.0,
        )


class SketchRnnOptions(SketcherOptions):
    """Options of recurrent layers that draw."""

    layers: int = Field(1, ge=1, le=MOST_LAYERS, description="Number of recurrent layers.")
    cell: CellName = Field("lstm", description="Recurrent cell of all layers.")
    hidden: int = Field(384, ge=1, le=WIDEST, description="Width of the states.")

    @property
    def inside(self) -> int:
        return self.hidden

    def make_body(self, steps: int) -> Body:
        return Layers(self.cell, self.width, self.hidden, self.layers, self.dropout)


class Sketcher(nn.Module):
    """Network from steps to the parameters of the next step."""

    def __init__(self, options: SketcherOptions, shape: StrokeShape) -> None:
        super().__init__()
        self.options, self.shape, width, inside = options, shape, options.width, options.inside
        encoder, body = options.make_body(shape.steps) if options.latent else None, options.make_body(shape.steps)
        self.enter = make_entrance(width, shape)
        self.body, self.encoder = body, encoder
        self.leave = nn.Identity() if inside == width else nn.Linear(inside, width)
        if shape.tokens is None:
            self.out = nn.Linear(width, outputs_of(options.gaussians))
        if options.latent:
            self.summarise = nn.Linear(inside, 2 * options.latent)
            self.from_latent = nn.Linear(options.latent, width)

    @property
    def dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype

    def forward(
        self,
        steps: Float[Tensor, "batch time feature"] | Int[Tensor, "batch time"],
        latent: Float[Tensor, "batch latent"] | None = None,
        memory: list | None = None,
    ) -> tuple[Float[Tensor, "batch time output"], list]:
        """Return the output after each of these steps, which follow those in the memory."""
        states = self.enter(steps)
        if latent is not None:
            states = states + self.from_latent(latent).unsqueeze(1)
        states, memory = self.body(states, memory)
        return self._predict(self.leave(states)), memory

    def _predict(self, states: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time output"]:
        if isinstance(self.enter, nn.Embedding):
            return F.linear(states, self.enter.weight)  # one matrix for input and output, as in GPT-2
        return self.out(states)

    def sum_up(
        self, steps: Float[Tensor, "batch time feature"] | Int[Tensor, "batch time"], lengths: Int[Tensor, " batch"]
    ) -> Summary:
        """Summarise the whole drawing as a Gaussian over a few numbers."""
        if self.encoder is None:
            raise RuntimeError("only an autoencoder can summarise a drawing")
        return Summary(*self.summarise(self.encoder.summary(self.enter(steps), lengths)).chunk(2, dim=-1))

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a drawing of `length` steps."""
        bodies = [body for body in (self.body, self.encoder) if body is not None]
        around = [self.enter, self.leave, *([self.out] if self.shape.tokens is None else [])]
        return length * count_matrix_weights(*around) + sum(body.multiplications(length) for body in bodies)


def make_entrance(width: int, shape: StrokeShape) -> nn.Module:
    """Build the layer that embeds steps: the numbers of a move, or tokens."""
    if shape.tokens is None:
        return nn.Linear(FEATURES, width)
    entrance = nn.Embedding(shape.tokens, width)
    nn.init.normal_(entrance.weight, std=width**-0.5)
    return entrance


class Sketchformer(Sketcher):
    """A causal Transformer that draws; as an autoencoder, its encoder looks both ways."""


class SketchRnn(Sketcher):
    """Recurrent layers that draw."""
