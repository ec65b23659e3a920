"""A Transformer decoder over a long sequence: every step looks back at all earlier steps, and at itself.

h_0 = W x + P,   h_l = block(h_{l−1}),   y_t = V norm(h_L)_t + c

Between any two steps a gradient passes only as many blocks as there are, however far apart the steps are; the price is
time and memory that grow with the square of the length. The blocks are those of GPT-2.
"""

from typing import Literal

from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import Causal
from regard.attention.heads import MultiHead
from regard.attention.positions import Learned, Sinusoidal
from regard.base.recipe import Options
from regard.models.bounds import MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.gpt.network import Block
from regard.models.gpt.options import GPTOptions
from regard.models.parts import count_matrix_weights
from regard.models.sequences.shape import Sequences, SequenceShape


class DecoderOptions(Options):
    """Options of a Transformer decoder over long sequences."""

    width: int = Field(64, ge=2, le=WIDEST, description="Width of the states between the blocks.")
    layers: int = Field(2, ge=1, le=MOST_LAYERS, description="Number of blocks.")
    heads: int = Field(4, ge=1, le=WIDEST, description="Attention heads of each block.")
    feed_forward: int = Field(128, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on inputs and on each sublayer's output.")
    positions: Literal["learned", "sinusoidal"] = Field("learned", description="Position encoding of the steps.")

    @model_validator(mode="after")
    def _check(self) -> "DecoderOptions":
        self.of_blocks(2)
        return self

    def of_blocks(self, length: int) -> GPTOptions:
        """Return the options of a GPT that looks back over `length` steps."""
        return GPTOptions(
            layers=self.layers,
            width=self.width,
            heads=self.heads,
            context=length,
            feed_forward=self.feed_forward,
            dropout=self.dropout,
            attention_dropout=0.0,
            positions=self.positions,
        )


class DecoderSequence(nn.Module):
    """Network from numbers to numbers, at every step or at the last."""

    def __init__(self, options: DecoderOptions, shape: SequenceShape) -> None:
        super().__init__()
        self.options, self.shape = options, shape
        self.enter = nn.Linear(shape.depth, options.width)
        learned = options.positions == "learned"
        self.places = Learned(shape.length, options.width) if learned else Sinusoidal()
        self.dropout = nn.Dropout(options.dropout)
        blocks = options.of_blocks(max(2, shape.length))
        self.blocks = nn.ModuleList(Block(blocks) for _ in range(options.layers))
        self.norm = nn.LayerNorm(options.width)
        self.out = nn.Linear(options.width, shape.outputs)

    def forward(self, inputs: Sequences) -> Float[Tensor, "batch *step output"]:
        states = self.dropout(self.places(self.enter(inputs), 0))
        for block in self.blocks:
            states, _ = block(states, None, Causal(), 0)
        return self.out(self.norm(states if self.shape.at_each_step else states[:, -1]))

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a sequence of this length."""
        looks = [part for part in self.modules() if isinstance(part, MultiHead)]
        outputs = self.out.weight.numel() * (length if self.shape.at_each_step else 1)
        inside = length * count_matrix_weights(self.enter, self.blocks)
        return outputs + inside + sum(look.multiplications(length) for look in looks)
