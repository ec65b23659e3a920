"""Prompts for networks that learn by gradient: their memory, and the vectors of their tokens."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.base.faults import TooLong
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.models.language import LanguageNetwork, Memory
from regard.protocols import TextVectors
from regard.tasks.language.batches import Prompts
from regard.tasks.language.lines import room_after
from regard.tasks.language.streams import padded_rows
from regard.tasks.text import text_vectors, words_of


def memory_of(network: LanguageNetwork, rows: Sequence[Sequence[int]], device: torch.device) -> Memory:
    """Return the memory of each row of tokens, read from the start; rows of one length are read together."""
    memories, order = [], []
    for length in {len(row) for row in rows}:
        numbers = [number for number, row in enumerate(rows) if len(row) == length]
        memory = network.begin(len(numbers))
        if length:
            memory = network.read(torch.tensor([rows[number] for number in numbers], device=device), memory).memory
        memories.append(memory)
        order += numbers
    places = torch.tensor(order, device=device).argsort()
    return {name: tensor[places] for name, tensor in network.join(memories).items()}


def limits_within(context: int, batch: Prompts) -> Int[Tensor, " row"]:
    """Return how many tokens, including the end, may be written after each prompt until the context is full."""
    return torch.tensor([room_after(len(tokens), context, number) for number, tokens in enumerate(batch.tokens)])


def check_fits(network: LanguageNetwork, batch: Prompts) -> None:
    """Refuse texts that do not fit into the context after an end token."""
    if network.context is None:
        return
    for number, tokens in enumerate(batch.tokens):
        if len(tokens) >= network.context:
            most = network.context - 1
            raise TooLong(number, f"it has {len(tokens):,} tokens, but the context has room for {most:,}; shorten it.")


def prompt_vectors(
    network: LanguageNetwork, tokeniser: Tokeniser, batch: Prompts, device: torch.device
) -> list[TextVectors]:
    """Return the vectors of every layer for each text, without the end token read before it."""
    check_fits(network, batch)
    rows = [np.array([*row, tokeniser.end]) for row in batch.tokens]
    tokens = padded_rows(rows, tokeniser.end).tokens.to(device)
    layers = [states[:, 1:] for states in network.layers(tokens)]
    return text_vectors([words_of(tokeniser, row) for row in batch.tokens], layers)
