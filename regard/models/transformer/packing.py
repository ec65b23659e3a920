"""Conditions for training a Transformer on packed sentences; the pass itself, which needs Triton, is in `packed`.

It needs the published encoder, decoder and heads, ReLU, no CTC head, a GPU, weights that are all whole, sentences that
fit its kernels, and no rounding, watching or editing; everything else takes the plain path.
"""

from typing import NamedTuple

from jaxtyping import Int
from torch import Tensor

from regard.attention.editing import is_observed
from regard.kernels import available, obstacle
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions

__all__ = ["LONGEST", "PackedSentences", "obstacle", "serves"]

LONGEST = 128  # longest sentence in tokens whose attention one program of the kernel can hold


class PackedSentences(NamedTuple):
    """Sentences end to end: the tokens, the place of each in its sentence, and the sentences' starts and last end."""

    tokens: Int[Tensor, " token"]
    places: Int[Tensor, " token"]
    offsets: Int[Tensor, " end"]


def serves(network: object, longest: int) -> bool:
    """Return True if this network can take the packed path with sentences of at most `longest` tokens."""
    return (
        isinstance(network, Transformer)
        and longest <= min(LONGEST, network.options.longest)
        and not is_observed()
        and not network.is_in_sections
        and network.rounding is None
        and network.out.weight.is_cuda
        and available()
        and _fits(network.options)
    )


def _fits(options: TransformerOptions) -> bool:
    counts = {options.heads, options.decoder_heads or options.heads}
    depths = {options.width // heads for heads in counts}
    return (
        options.encoder == "transformer"
        and options.decoder_cell == "attention"
        and options.score == "scaled-dot"
        and (options.key_value_heads is None or counts == {options.key_value_heads})
        and not options.shared_key_value
        and options.join == "concatenated"
        and not options.copies
        and not options.ctc
        and options.activation == "relu"
        and options.positions in ("sinusoidal", "learned", "none")
        and depths <= {16, 32, 64, 128}
    )
