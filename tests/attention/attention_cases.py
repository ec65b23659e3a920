"""Shared cases for the attention tests: numbers to attend to, and every kind of mask."""

import torch
from torch import Tensor

from regard.attention import Causal, Every, Lengths, Mask, Packed, Window

SIDES = {"looks_from": "target", "looks_at": "source"}


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# For 2 rows, 3 heads, 7 queries and 7 keys. Some queries may look nowhere.
MASKS: dict[str, Mask | None] = {
    "none": None,
    "tensor": draw(2, 1, 7, 7, seed=3) > 0,
    "per head": draw(1, 3, 7, 7, seed=4) > 0,
    "causal": Causal(),
    "lengths": Lengths(torch.tensor([7, 3])),
    "no keys at all": Lengths(torch.tensor([0, 3])),
    "window": Window(before=2, after=1),
    "packed": Packed(torch.tensor([0, 3, 7])),
    "packed causal": Packed(torch.tensor([0, 3, 5]), causal=True),
    "causal and lengths": Every((Causal(), Lengths(torch.tensor([7, 3])))),
    "window, lengths and tensor": Every(
        (Window(before=1, after=1), Lengths(torch.tensor([6, 0])), draw(2, 1, 7, 7, seed=5) > -1)
    ),
}
