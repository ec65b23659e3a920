"""What the recurrent layers of a trained encoder were given, when the model read one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from regard.base.faults import Fault
from regard.data.tokenisers.labels import is_spelled_word, labels
from regard.tasks.translation.lengths import check_length
from regard.verbs.translate.model import TranslationModel


@dataclass(frozen=True)
class LayerReading:
    """One recurrent layer, in float64 on the CPU, and what it read (1, time, depth)."""

    module: nn.RNNBase
    inputs: Tensor


@dataclass(frozen=True)
class Reading:
    """A sentence as its tokens and words, and the recurrent layers that read it, lowest first."""

    tokens: list[str]
    words: list[str]
    of_token: list[int]  # the word that each token belongs to
    layers: list[LayerReading]

    def layer(self, number: int | None, backward: bool) -> LayerReading:
        """The layer of this number, counted from 1, by default the first; refuses what the encoder has not."""
        if number is not None and number > len(self.layers):
            count = "1 recurrent layer" if len(self.layers) == 1 else f"{len(self.layers)} recurrent layers"
            raise Fault(f"This encoder has {count}; --layer {number} is none of them.")
        layer = self.layers[(number or 1) - 1]
        if backward and not layer.module.bidirectional:
            raise Fault("This encoder reads forward only; leave --direction backward away.")
        return layer


@torch.no_grad()
def read(model: TranslationModel, text: str, needed: str) -> Reading:
    """Let the model read `text`; a model without recurrent layers is refused with what is `needed`."""
    if not text.strip():
        raise Fault("There is no text to read; give a sentence with --text.")
    task = model.task
    check_length(task, text, 0)
    layers = [
        part
        for name, part in task.model.named_modules()
        if name.startswith("encoder.") and isinstance(part, nn.RNNBase)
    ]
    if not layers:
        raise Fault(f"The encoder of this {model.recipe.family} has no recurrent layers; {needed}.")
    batch = task.read([text])
    with _overheard(layers) as inputs:
        task.model.read(batch.source, batch.source_lengths)
    tokens = [*task.source.encode(text.strip()), task.source.end]
    words, of_token = labels(task.source, tokens, by_word=not is_spelled_word(task.source, tokens))
    readings = [
        LayerReading(deepcopy(layer).double().cpu(), heard.double().cpu())
        for layer, heard in zip(layers, inputs, strict=True)
    ]
    return Reading(task.source.pieces(tokens), words, of_token, readings)


@contextmanager
def _overheard(layers: list[nn.RNNBase]) -> Iterator[list[Tensor]]:
    """What each layer is given inside this block, in the order of the calls."""
    heard: list[Tensor] = []

    def listen(_: nn.Module, given: tuple[Any, ...]) -> None:
        inputs = given[0]
        heard.append(pad_packed_sequence(inputs, batch_first=True)[0] if isinstance(inputs, PackedSequence) else inputs)

    hooks = [layer.register_forward_pre_hook(listen) for layer in layers]
    try:
        yield heard
    finally:
        for hook in hooks:
            hook.remove()
