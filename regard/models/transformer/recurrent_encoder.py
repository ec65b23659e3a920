"""A recurrent layer in the place of an encoder block, for a Transformer whose decoder alone attends."""

from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Lengths
from regard.models.recurrent.layers import Stack
from regard.models.transformer.options import TransformerOptions


class RecurrentBlock(nn.Module):
    """A layer that reads from both ends, with dropout on what it gives.

    It takes and gives what an encoder block does, so that a Transformer has either and asks neither which it is.
    """

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.stack = Stack(options.cell, options.width, options.width, 1, bidirectional=True)
        self.dropout = nn.Dropout(options.dropout)

    def forward(
        self, states: Float[Tensor, "batch source width"], real: Lengths
    ) -> Float[Tensor, "batch source width"]:
        """Return the new states, zero behind the end of each row."""
        return self.dropout(self.stack.read(states, real.lengths)[0])
