"""A recurrent layer instead of an encoder block, for a Transformer of which only the decoder attends."""

from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Lengths
from regard.models.recurrent.layers import Stack
from regard.models.transformer.options import TransformerOptions


class RecurrentBlock(nn.Module):
    """A bidirectional layer with dropout on its output.

    It has the interface of an encoder block, so the Transformer need not know which it has.
    """

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.stack = Stack(options.cell, options.width, options.width, 1, bidirectional=True)
        self.dropout = nn.Dropout(options.dropout)

    def forward(
        self, states: Float[Tensor, "batch source width"], real: Lengths
    ) -> Float[Tensor, "batch source width"]:
        """Return the new states, with zeros beyond the end of each row."""
        return self.dropout(self.stack.read(states, real.lengths)[0])
