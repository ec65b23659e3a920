"""Text encoders for CTC and transducers, which place labels along the input."""

from typing import Literal

from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.cell_names import CellName
from regard.models.recurrent.layers import Stack
from regard.models.transformer.block_encoder import BlockEncoder
from regard.models.transformer.encoder_blocks import block_options
from regard.models.transformer.options import TransformerOptions

ONLY = {"recurrent": ("cell",), "transformer": ("heads", "feed_forward")}  # options that only one encoder has


class TextEncoderOptions(Options):
    """Layers that read a text: bidirectional recurrent layers, or Transformer blocks."""

    encoder: Literal["recurrent", "transformer"] = Field(
        default="recurrent", description="Bidirectional recurrent layers, or Transformer blocks."
    )
    layers: int = Field(default=3, ge=1, le=MOST_LAYERS, description="Layers or blocks of the encoder.")
    width: int = Field(default=512, ge=2, le=WIDEST, description="Width of the embeddings and the states.")
    cell: CellName = Field(default="lstm", description="Cell of a recurrent encoder.")
    heads: int = Field(default=4, ge=1, le=WIDEST, description="Attention heads of each block of a Transformer.")
    feed_forward: int = Field(
        default=1024, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets of a Transformer."
    )
    dropout: float = Field(default=0.2, ge=0, lt=1, description="Dropout on embeddings, layers and sublayers.")
    longest: int = Field(default=1024, ge=1, le=LONGEST, description="Longest input or output in tokens.")

    @property
    def idle(self) -> tuple[str, ...]:
        return ONLY[self._other_encoder]

    @property
    def _other_encoder(self) -> str:
        return "transformer" if self.encoder == "recurrent" else "recurrent"

    @model_validator(mode="after")
    def _check(self) -> "TextEncoderOptions":
        for name in self.idle:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for encoder = '{self._other_encoder}', not '{self.encoder}'")
        if self.encoder == "transformer":
            self.of_blocks()
        elif self.width % 2:
            raise ValueError(f"width {self.width} is odd, but two directions share it")
        return self

    def of_blocks(self) -> TransformerOptions:
        """Return the options of its blocks, which are Transformer blocks."""
        return block_options(self, norm="before")

    @property
    def ample_tokens(self) -> int:
        """Batch size in tokens beyond which a large GPU still has room but the model learns no faster."""
        return 8192

    @property
    def adjustable(self) -> frozenset[str]:
        """Options that may change while the weights stay: neither weights nor outputs depend on them."""
        return frozenset({"dropout", "longest"})


def text_encoder(options: TextEncoderOptions) -> "RecurrentEncoder | BlockEncoder":
    """Build the encoder that the options describe."""
    if options.encoder == "recurrent":
        return RecurrentEncoder(options)
    return BlockEncoder(options.of_blocks(), options.dropout)


def encoder_cost(options: TextEncoderOptions, matrices: int, length: int) -> dict[str, int | float]:
    """Return the cost of reading `length` tokens, each multiplied by `matrices` weights, and of attention."""
    blocks = options.layers if options.encoder == "transformer" else 0
    looking = 2 * blocks * length**2 * options.width
    total = length * matrices + looking
    return {
        "multiplications": total,
        "attention_share": looking / total,
        "weights": blocks * options.heads * length**2,
    }


class RecurrentEncoder(nn.Module):
    """Bidirectional recurrent layers; returns the states of every layer."""

    def __init__(self, options: TextEncoderOptions) -> None:
        super().__init__()
        self.dropout = nn.Dropout(options.dropout)
        self.stack = Stack(
            options.cell, options.width, options.width, options.layers, dropout=options.dropout, bidirectional=True
        )

    def forward(self, embedded: Tensor, lengths: Tensor) -> list[Float[Tensor, "batch source width"]]:
        return self.stack.read_layers(self.dropout(embedded), lengths)
