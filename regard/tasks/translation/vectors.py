"""What a translator's encoder makes of a text: the vectors of its tokens, and its places as they were read."""

import torch

from regard.base.faults import TooLong
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.protocols import Followed, TextVectors
from regard.tasks.text import text_vectors, words_of
from regard.tasks.translation.batches import PairBatch, TranslationNetwork


@torch.no_grad()
def source_vectors(network: TranslationNetwork, tokeniser: Tokeniser, batch: PairBatch) -> list[TextVectors]:
    """What the encoder makes of each sentence; the end token, which it reads too, is left out."""
    _check_lengths(network, batch)
    layers = network.layers(batch.source, batch.source_lengths)
    rows = zip(batch.source.tolist(), batch.source_lengths.tolist(), strict=True)
    return text_vectors([words_of(tokeniser, row[: length - 1]) for row, length in rows], layers)


@torch.no_grad()
def follow_source(network: TranslationNetwork, tokeniser: Tokeniser, batch: PairBatch) -> Followed:
    """Let the encoder read the one sentence of a batch; its end is a place too."""
    _check_lengths(network, batch)
    network.read(batch.source, batch.source_lengths)
    return Followed(words_of(tokeniser, batch.source[0].tolist()))


def _check_lengths(network: TranslationNetwork, batch: PairBatch) -> None:
    longest = network.options.longest
    for row, length in enumerate(batch.source_lengths.tolist()):
        if length > longest:
            raise TooLong(row, f"it has {length} tokens, but the model takes {longest} at most; split it.")
