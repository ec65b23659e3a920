"""What a translator learns from, pairs as tensors, and what it asks of a network."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Int
from torch import Tensor, nn


@dataclass(frozen=True)
class PairBatch:
    """Some pairs as tensors; the target ends with the end token, and begins nowhere: inputs are shifted right."""

    source: Int[Tensor, "batch source"]
    source_lengths: Int[Tensor, " batch"]  # on the host wherever the rest is: recurrent layers must know them there
    target: Int[Tensor, "batch target"]
    inputs: Int[Tensor, "batch target"]  # the target, shifted right behind the begin token
    places: Int[Tensor, " token"]  # where in the flattened target the real tokens stand

    @property
    def rows(self) -> int:
        return self.source.shape[0]

    @property
    def tokens(self) -> int:
        return self.places.shape[0]

    def to(self, device: torch.device) -> "PairBatch":
        if device.type == "cpu":
            return self
        pinned = {name: tensor.pin_memory() for name, tensor in vars(self).items()}
        moved = {name: tensor.to(device, non_blocking=True) for name, tensor in pinned.items()}
        return PairBatch(**moved | {"source_lengths": pinned["source_lengths"]})

    def twice(self) -> "PairBatch":
        """Every row two times: first all of them, then all of them again."""
        again = self.places + self.target.numel()
        doubled = {name: torch.cat([tensor, tensor]) for name, tensor in vars(self).items()}
        return PairBatch(**doubled | {"places": torch.cat([self.places, again])})

    def split(self, parts: int) -> list["PairBatch"]:
        """The same rows in `parts` smaller batches."""
        real = torch.zeros(self.target.numel(), dtype=torch.bool, device=self.target.device)
        real[self.places] = True
        masks = real.view(self.target.shape).chunk(parts)
        fields = [tensor.chunk(parts) for tensor in (self.source, self.source_lengths, self.target, self.inputs)]
        return [
            PairBatch(source, lengths, target, inputs, mask.flatten().nonzero().squeeze(1))
            for source, lengths, target, inputs, mask in zip(*fields, masks, strict=True)
        ]


@runtime_checkable
class Translator(Protocol):
    """A network that reads source tokens whole and writes target tokens one after another.

    `read` gives what belongs to a sentence and `begin` what belongs to a row before its first token, both trees of
    tensors; `write` takes some tokens of each row and gives their states and what the row then remembers.
    """

    options: Any  # with `longest` and `ample_tokens`
    out: nn.Linear

    def read(self, source: Tensor, lengths: Tensor) -> Any: ...
    def begin(self, memory: Any) -> Any: ...
    def write(self, target: Tensor, memory: Any, past: Any) -> tuple[Tensor, Any]: ...
    def logits(self, states: Tensor) -> Tensor: ...
    def cost(self, length: int) -> dict[str, int | float]: ...
    def parameters(self) -> Iterator[nn.Parameter]: ...
    def named_modules(self) -> Iterator[tuple[str, nn.Module]]: ...
