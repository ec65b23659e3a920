"""The weights of a GPT-2 by our names and by Hugging Face's, whose matrices are transposed."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

PREFIX = "transformer."  # missing in the published files
EMBEDDING, PLACES, OUT = "model.embedding.weight", "model.places.places.weight", "model.output.weight"
THEIR_OUT = "lm_head.weight"
_MODULES = {
    "look_back.out": "attn.c_proj",
    "feed_forward.inner": "mlp.c_fc",
    "feed_forward.outer": "mlp.c_proj",
    "around_look.norm": "ln_1",
    "around_feed_forward.norm": "ln_2",
}
_QUERY, _KEY_VALUE, _ALL = "look_back.to_query", "look_back.to_key_value", "attn.c_attn"


class Part(NamedTuple):
    """One of their tensors, those of ours that are stacked to make it, and whether it is transposed."""

    theirs: str
    ours: tuple[str, ...]
    turned: bool = False

    def stored(self, tensors: list[Tensor]) -> Tensor:
        """Return their tensor from ours."""
        whole = torch.cat(tensors) if len(tensors) > 1 else tensors[0]
        return whole.T if self.turned else whole

    def own(self, tensor: Tensor, sizes: list[int]) -> tuple[Tensor, ...]:
        """Return our tensors, with these numbers of rows, from theirs."""
        return (tensor.T if self.turned else tensor).split(sizes)


def parts_of(layers: int, tied: bool) -> Iterator[Part]:
    """Yield all tensors; their names are without the prefix."""
    yield Part("wte.weight", (EMBEDDING,))
    yield Part("wpe.weight", (PLACES,))
    for number in range(layers):
        ours, theirs = f"model.blocks.{number}", f"h.{number}"
        for kind in ("weight", "bias"):
            both = f"{ours}.{_QUERY}.{kind}", f"{ours}.{_KEY_VALUE}.{kind}"
            yield Part(f"{theirs}.{_ALL}.{kind}", both, turned=kind == "weight")
            for mine, other in _MODULES.items():
                is_matrix = kind == "weight" and "norm" not in mine
                yield Part(f"{theirs}.{other}.{kind}", (f"{ours}.{mine}.{kind}",), turned=is_matrix)
    for kind in ("weight", "bias"):
        yield Part(f"ln_f.{kind}", (f"model.norm.{kind}",))
    if not tied:
        yield Part(THEIR_OUT, (OUT,))
