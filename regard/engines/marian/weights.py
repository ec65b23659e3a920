"""The weights of a Marian model by our names and by Hugging Face's, and how to convert them.

Both are the published Transformer with the norm after each sublayer; three things differ.

- Ours keeps keys and values in one matrix.
- Marian's sinusoids have all sines before all cosines, ours pair them. The blocks do not depend on the order of a
  state's coordinates, so all weights that read or write states are reordered, and the result is the same.
- Ours scales embeddings by √width, Marian may not. Embeddings are then divided by it, and if they are tied to the
  output layer, the last norm before it is multiplied by it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

SOURCE, TARGET, OUT = "model.source_embedding.weight", "model.target_embedding.weight", "model.out.weight"
BIAS, THEIR_BIAS = "model.output_bias", "final_logits_bias"
_HEADS = {"self_look": "self_attn", "cross": "encoder_attn"}
_NORMS = {
    "around_self.norm": "self_attn_layer_norm",
    "around_cross.norm": "encoder_attn_layer_norm",
    "around_feed_forward.norm": "final_layer_norm",
}


class WeightPart(NamedTuple):
    """One of our tensors, those of theirs stacked in it, and whether its axes are coordinates of states."""

    ours: str
    theirs: tuple[str, ...]
    reads: bool = False  # its last axis
    writes: bool = False  # its first axis


def block_parts(side: str, number: int) -> Iterator[WeightPart]:
    """Yield the weights of a block; `side` is encoder or decoder."""
    ours, theirs = f"model.{side}.{number}", f"model.{side}.layers.{number}"
    modules = [
        WeightPart("feed_forward.inner", ("fc1",), reads=True),
        WeightPart("feed_forward.outer", ("fc2",), writes=True),
    ]
    for mine, other in _HEADS.items():
        modules += [
            WeightPart(f"{mine}.to_query", (f"{other}.q_proj",), reads=True),
            WeightPart(f"{mine}.to_key_value", (f"{other}.k_proj", f"{other}.v_proj"), reads=True),
            WeightPart(f"{mine}.out", (f"{other}.out_proj",), writes=True),
        ]
    modules += [WeightPart(mine, (other,), writes=True) for mine, other in _NORMS.items()]
    for module in modules:
        if side == "encoder" and "cross" in module.ours:
            continue
        for kind in ("weight", "bias"):
            names = tuple(f"{theirs}.{name}.{kind}" for name in module.theirs)
            yield WeightPart(f"{ours}.{module.ours}.{kind}", names, module.reads and kind == "weight", module.writes)


def order(width: int) -> Tensor:
    """Return which of Marian's coordinates each of ours is: sine and cosine of one angle side by side."""
    return torch.arange(width).view(2, -1).T.flatten()


def arrange(tensor: Tensor, part: WeightPart, places: Tensor) -> Tensor:
    """Return the tensor with its state coordinates in the order of `places`."""
    if part.writes:
        tensor = tensor.index_select(0, places)
    return tensor.index_select(-1, places) if part.reads else tensor
