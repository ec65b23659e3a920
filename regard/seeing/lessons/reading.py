"""Inputs of a trained model's recurrent layers while it reads one sentence."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.recurrent.bilm import Bilm
from regard.protocols import Answer, Followed, Follows
from regard.seeing.sentences import Translator
from regard.viewing.sides import Words


@dataclass(frozen=True)
class LayerReading:
    """A recurrent layer, in float64 on the CPU, and its inputs (1, time, depth)."""

    module: nn.RNNBase
    inputs: Tensor


@dataclass(frozen=True)
class Reading:
    """A sentence as its tokens and words, and the recurrent layers that read it, lowest first."""

    tokens: list[str]
    words: list[str]
    of_token: list[int]  # the word of each token
    layers: list[LayerReading]
    answers: Sequence[Answer] = ()  # the answer if the text ended at each token

    def layer(self, number: int | None, backward: bool) -> LayerReading:
        """Return the layer of this number, counted from 1, by default the first; refuse one that the model lacks."""
        if number is not None and number > len(self.layers):
            count = "1 recurrent layer" if len(self.layers) == 1 else f"{len(self.layers)} recurrent layers"
            raise Fault(f"This model has {count}; there is no layer {number}.")
        layer = self.layers[(number or 1) - 1]
        if backward and not layer.module.bidirectional:
            raise Fault("This model reads forward only; omit --direction backward.")
        return layer


@torch.no_grad()
def read(model: Loaded | Translator, text: str, needed: str) -> Reading:
    """Let the model read `text`; refuse one without recurrent layers, with what is `needed`."""
    if not text.strip():
        raise Fault("There is no text to read; give a sentence with --text.")
    task, followed = model.task, Followed(Words([], [], []))
    with _overheard(model) as inputs:
        if isinstance(task, Follows):
            followed = task.follow(text)
    if not inputs:
        raise Fault(f"This {model.recipe.family} has no recurrent layers; {needed}.")
    layers = [
        LayerReading(deepcopy(layer).double().cpu(), layer_inputs.double().cpu())
        for layer, layer_inputs in inputs.items()
    ]
    places = followed.places
    return Reading(list(places.tokens), list(places.words), list(places.places), layers, followed.answers)


@contextmanager
def _overheard(model: Loaded | Translator) -> Iterator[dict[nn.RNNBase, Tensor]]:
    """Record the first input of each recurrent layer inside this block, in the order of the calls."""
    recorded: dict[nn.RNNBase, Tensor] = {}

    def listen(layer: nn.Module, arguments: tuple[Any, ...]) -> None:
        inputs = arguments[0]
        if isinstance(inputs, PackedSequence):
            inputs, _ = pad_packed_sequence(inputs, batch_first=True)
        assert isinstance(layer, nn.RNNBase)
        recorded.setdefault(layer, inputs)

    parts = [part for _, part in model.named_modules()]
    # Language models used for features were trained before, and their layers are not part of this model's reading.
    borrowed = {inner for part in parts if isinstance(part, Bilm) for inner in part.modules()}
    layers = (part for part in parts if isinstance(part, nn.RNNBase) and part not in borrowed)
    hooks = [part.register_forward_pre_hook(listen) for part in layers]
    try:
        yield recorded
    finally:
        for hook in hooks:
            hook.remove()
