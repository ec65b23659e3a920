"""Vectors of a translator: ready ones to initialise its embeddings, and those its encoder computes."""

import torch
from torch import Tensor

from regard.base.faults import Fault, TooLong
from regard.base.progress import silent
from regard.base.recipe import CheckRecipe
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.protocols import Followed, TextVectors
from regard.tasks.text import text_vectors, words_of
from regard.tasks.translation.batches import PairBatch, TranslationNetwork


@torch.no_grad()
def source_vectors(network: TranslationNetwork, tokeniser: Tokeniser, batch: PairBatch) -> list[TextVectors]:
    """Return the encoder's vectors of each sentence, without the end token, which it also reads."""
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


@torch.no_grad()
def take_vectors(
    network: TranslationNetwork, source: Tokeniser, target: Tokeniser, name: str, check: CheckRecipe
) -> str:
    """Initialise the embeddings of both sides from a file or folder; return a line that says how many have a vector.

    Vectors are scaled to the mean square of random embeddings, 1/width; words without a vector keep their random one.
    """
    from regard.data.corpora.text import file_of
    from regard.data.labelled.ready import ready_vectors
    from regard.tasks.words.ready_vectors import (
        open_vectors,  # loads all of word vectors, so only on demand
    )

    vectors = open_vectors(check, file_of(name), silent, lambda text: None)
    tokenisers = {"source": source, "target": target}
    sides = {embedding: tokenisers[side] for side, embedding in network.embeddings().items()}  # one, if they are shared
    count_known = words = 0
    for embedding, tokeniser in sides.items():
        width = embedding.weight.shape[1]
        if vectors.width != width:
            raise Fault(f"The vectors of {name} are {vectors.width} wide, but the embeddings of the model are {width}.")
        table, is_known = map(torch.from_numpy, ready_vectors(tokeniser, vectors))
        if is_known.any():
            embedding.weight[is_known] = table[is_known] / _root_mean_square(table[is_known]) * width**-0.5
        count_known, words = count_known + int(is_known.sum()), words + len(is_known)
    return f"{count_known:,} of {words:,} embeddings start from the vectors of {name}"


def _root_mean_square(numbers: Tensor) -> Tensor:
    return numbers.square().mean().sqrt()
