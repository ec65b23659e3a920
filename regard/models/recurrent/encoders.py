"""Encoders of recurrent translators: recurrent layers, or Transformer blocks.

Each returns the states of all places and one vector for the whole source, which initialises the decoder.
"""

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.masks import real_places
from regard.models.recurrent.layers import Stack
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.models.transformer.block_encoder import BlockEncoder

Embedded = Float[Tensor, "batch source depth"]
States = Float[Tensor, "batch source width"]
Lengths = Int[Tensor, " batch"]
Whole = Float[Tensor, "batch width"]


class Encoder(nn.Module):
    """h_i: the state at each place of the source; bidirectional layers see both sides of it."""

    def __init__(self, options: Seq2SeqOptions) -> None:
        super().__init__()
        self.stack = Stack(
            options.cell,
            options.embedding,
            options.states_width,
            options.encoder_layers,
            dropout=options.dropout,
            residual=options.residual,
            bidirectional=options.bidirectional,
        )

    @property
    def layers(self) -> nn.ModuleList:
        return self.stack.layers

    def forward(self, embedded: Embedded, lengths: Lengths) -> tuple[States, Whole]:
        """Return the states of all places, and the last state of the top layer."""
        return self.stack.read(embedded, lengths)

    def whole(self, embedded: Embedded, lengths: Lengths) -> Whole:
        """Return only the last state of the top layer."""
        return self.stack.last(embedded, lengths)

    def layer_states(self, embedded: Embedded, lengths: Lengths) -> list[States]:
        """Return the states of every layer, the lowest first."""
        return self.stack.read_layers(embedded, lengths)


class AttentionEncoder(nn.Module):
    """Transformer blocks instead of recurrent layers; the mean of the states represents the whole source."""

    def __init__(self, options: Seq2SeqOptions) -> None:
        super().__init__()
        equal = options.embedding == options.states_width
        self.enter = nn.Identity() if equal else nn.Linear(options.embedding, options.states_width)
        self.blocks = BlockEncoder(options.of_blocks(), dropout=0.0)  # the embeddings already have dropout

    def forward(self, embedded: Embedded, lengths: Lengths) -> tuple[States, Whole]:
        """Return the states of all places, and their mean."""
        states = self.layer_states(embedded, lengths)[-1]
        real = real_places(lengths.to(states.device), states.shape[1])[..., None]
        return states, (states * real).sum(dim=1) / real.sum(dim=1)

    def whole(self, embedded: Embedded, lengths: Lengths) -> Whole:
        """Return only the mean of the states."""
        return self(embedded, lengths)[1]

    def layer_states(self, embedded: Embedded, lengths: Lengths) -> list[States]:
        """Return the states of every block, the lowest first."""
        return self.blocks(self.enter(embedded), lengths)


def encoder_of(options: Seq2SeqOptions) -> Encoder | AttentionEncoder:
    """Build the encoder that the options name."""
    return Encoder(options) if options.encoder == "recurrent" else AttentionEncoder(options)
