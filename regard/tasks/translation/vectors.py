"""The vectors that a translator's encoder has for the tokens of a text, layer by layer."""

import torch

from regard.base.faults import TooLong
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.protocols import TextVectors
from regard.tasks.text import words_of
from regard.tasks.translation.batches import PairBatch, TranslationNetwork


@torch.no_grad()
def source_vectors(network: TranslationNetwork, tokeniser: Tokeniser, batch: PairBatch) -> list[TextVectors]:
    """What the encoder makes of each sentence; the end token, which it reads too, is left out."""
    longest = network.options.longest
    for row, length in enumerate(batch.source_lengths.tolist()):
        if length > longest:
            raise TooLong(row, f"it has {length} tokens, but the model takes {longest} at most; split it.")
    layers = [states.cpu() for states in network.layers(batch.source, batch.source_lengths)]
    found = []
    for row, length in enumerate((batch.source_lengths - 1).tolist()):
        text = words_of(tokeniser, batch.source[row, :length].tolist())
        found.append(TextVectors(text, {number: states[row, :length] for number, states in enumerate(layers)}))
    return found
