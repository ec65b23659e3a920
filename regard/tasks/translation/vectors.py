"""The vectors that a translator's encoder has for the tokens of a text, layer by layer."""

import torch

from regard.base.faults import TooLong
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.protocols import TextVectors
from regard.tasks.text import text_vectors
from regard.tasks.translation.batches import PairBatch, TranslationNetwork


@torch.no_grad()
def source_vectors(network: TranslationNetwork, tokeniser: Tokeniser, batch: PairBatch) -> list[TextVectors]:
    """What the encoder makes of each sentence; the end token, which it reads too, is left out."""
    longest = network.options.longest
    for row, length in enumerate(batch.source_lengths.tolist()):
        if length > longest:
            raise TooLong(row, f"it has {length} tokens, but the model takes {longest} at most; split it.")
    layers = network.layers(batch.source, batch.source_lengths)
    return text_vectors(tokeniser, batch.source, batch.source_lengths - 1, layers)
