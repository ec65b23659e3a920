"""An encoder of Transformer blocks, for models whose other half is something else."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Lengths
from regard.models.transformer.network import EncoderBlock, places_of
from regard.models.transformer.options import TransformerOptions

States = Float[Tensor, "batch source width"]


class BlockEncoder(nn.Module):
    """Positions, blocks and a final norm; `dropout` applies to the embeddings with their positions."""

    def __init__(self, options: TransformerOptions, dropout: float) -> None:
        super().__init__()
        self.places, self.dropout = places_of(options), nn.Dropout(dropout)
        self.blocks = nn.ModuleList(EncoderBlock(options) for _ in range(options.encoder_layers))
        self.norm = nn.LayerNorm(options.width)

    def forward(self, embedded: States, lengths: Int[Tensor, " batch"]) -> list[States]:
        """Return the states of every block, the lowest first; those of the last are normalised."""
        real = Lengths(lengths.to(embedded.device, non_blocking=True))  # batches keep lengths on the host
        states, layers = self.dropout(self.places(embedded)), list[Tensor]()
        for block in self.blocks:
            states = block(states, real)
            layers.append(states)
        return [*layers[:-1], self.norm(states)]
