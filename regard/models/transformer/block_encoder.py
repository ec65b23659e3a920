"""An encoder of a Transformer's blocks, for models whose other half is something else."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Lengths
from regard.models.transformer.network import EncoderBlock, places_of
from regard.models.transformer.options import TransformerOptions

States = Float[Tensor, "batch source width"]


class BlockEncoder(nn.Module):
    """Places, blocks and a norm behind the last; `dropout` falls on the embeddings with their places."""

    def __init__(self, options: TransformerOptions, dropout: float) -> None:
        super().__init__()
        self.places, self.dropout = places_of(options), nn.Dropout(dropout)
        self.blocks = nn.ModuleList(EncoderBlock(options) for _ in range(options.encoder_layers))
        self.norm = nn.LayerNorm(options.width)

    def forward(self, embedded: States, lengths: Int[Tensor, " batch"]) -> list[States]:
        """Return the states that every block makes, the lowest first; of the last, their norm."""
        real = Lengths(lengths.to(embedded.device, non_blocking=True))  # batches leave them on the host
        states, layers = self.dropout(self.places(embedded)), list[Tensor]()
        for block in self.blocks:
            states = block(states, real)
            layers.append(states)
        return [*layers[:-1], self.norm(states)]
