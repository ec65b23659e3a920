"""Bodies of drawing networks, which remember the moves so far: causal attention blocks, or recurrent layers.

Both continue from their memory, with a whole drawing or one step, and both can summarise a whole drawing.
"""

from typing import Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Causal, Lengths
from regard.attention.editing import standing
from regard.attention.heads import Cache, MultiHead
from regard.attention.masks import real_places
from regard.attention.positions import Learned
from regard.models.gpt.network import Block
from regard.models.gpt.options import GPTOptions
from regard.models.parts import count_matrix_weights
from regard.models.recurrent.layers import Hidden, Stack

DRAWING = "drawing"  # the side that their attentions look from and at

Entering = Float[Tensor, "batch time depth"]
States = Float[Tensor, "batch time width"]


@runtime_checkable
class Body(Protocol):
    """Reads steps after those in its memory, and returns the new memory; or summarises a drawing."""

    def __call__(self, states: Entering, memory: list | None = None) -> tuple[States, list]: ...
    def summary(self, states: Entering, lengths: Int[Tensor, " batch"]) -> Float[Tensor, "batch width"]: ...
    def multiplications(self, length: int) -> int: ...


class Blocks(nn.Module):
    """GPT-2 blocks: every step looks back at all earlier steps and itself; for a summary, at the whole drawing."""

    def __init__(self, options: GPTOptions) -> None:
        super().__init__()
        self.places, self.dropout = Learned(options.context, options.width), nn.Dropout(options.dropout)
        self.blocks = nn.ModuleList(Block(options, side=DRAWING) for _ in range(options.layers))
        self.norm = nn.LayerNorm(options.width)

    def forward(self, states: States, memory: list[Cache] | None = None) -> tuple[States, list[Cache]]:
        before = memory[0].keys.shape[2] if memory else 0
        with standing(before):
            states, caches = self.dropout(self.places(states, before)), []
            for number, block in enumerate(self.blocks):
                states, cache = block(states, memory[number] if memory else None, Causal(), before)
                caches.append(cache)
            return self.norm(states), caches

    def summary(self, states: Entering, lengths: Int[Tensor, " batch"]) -> Float[Tensor, "batch width"]:
        """Return the mean over the steps of each drawing, each of which has seen all others."""
        states = self.dropout(self.places(states, 0))
        for block in self.blocks:
            states, _ = block(states, None, Lengths(lengths), 0)
        real = real_places(lengths, states.shape[1]).to(states.dtype)
        return (self.norm(states) * real[:, :, None]).sum(dim=1) / lengths[:, None]

    def multiplications(self, length: int) -> int:
        looks = [part for part in self.modules() if isinstance(part, MultiHead)]
        return length * count_matrix_weights(self.blocks) + sum(look.multiplications(length) for look in looks)


class Layers(nn.Module):
    """Recurrent layers with dropout between them; the state after the last step summarises a drawing."""

    def __init__(self, cell: str, depth: int, width: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.stack = Stack(cell, depth, width, layers, dropout=dropout)

    def forward(self, states: Entering, memory: list[Hidden] | None = None) -> tuple[States, list[Hidden]]:
        return self.stack(states, memory)

    def summary(self, states: Entering, lengths: Int[Tensor, " batch"]) -> Float[Tensor, "batch width"]:
        outputs, _ = self.stack(states)
        return outputs.gather(1, (lengths - 1)[:, None, None].expand(-1, 1, outputs.shape[2])).squeeze(1)

    def multiplications(self, length: int) -> int:
        return length * count_matrix_weights(self)
