"""Masks: True means "may look", and each mask equals the tensor it stands for."""

import pytest
import torch
from attention_cases import MASKS

from regard.attention import Causal, Every, Lengths, Mask, Packed, Window
from regard.attention.masks import as_tensor

CPU = torch.device("cpu")


def rows(mask: Mask, queries: int, keys: int) -> list[str]:
    table = as_tensor(mask, queries, keys, CPU)
    return ["".join("x" if cell else "." for cell in row) for row in table[-1, 0].tolist()]


def test_masks_on_paper() -> None:
    assert rows(Causal(), 3, 3) == ["x..", "xx.", "xxx"]
    assert rows(Causal(), 1, 3) == ["xxx"]  # the newest of three places
    assert rows(Lengths(torch.tensor([2])), 2, 3) == ["xx."]
    assert rows(Window(1), 3, 3) == ["x..", "xx.", ".xx"]
    assert rows(Window(0, 1), 3, 3) == ["xx.", ".xx", "..x"]
    assert rows(Window(1), 2, 3) == ["xx.", ".xx"]
    assert rows(Packed(torch.tensor([0, 1, 3])), 4, 4) == ["x...", ".xx.", ".xx.", "...."]
    assert rows(Packed(torch.tensor([0, 1, 3]), causal=True), 3, 3) == ["x..", ".x.", ".xx"]
    assert rows(Every((Causal(), Lengths(torch.tensor([2])))), 3, 3) == ["x..", "xx.", "xx."]
    assert rows(Every(()), 1, 2) == ["xx"]


@pytest.mark.parametrize("mask", [m for m in MASKS.values() if m is not None], ids=[n for n in MASKS if n != "none"])
def test_chosen_queries_are_the_same_rows_of_the_whole(mask: Mask) -> None:
    chosen = torch.tensor([5, 0, 2])
    whole = as_tensor(mask, 7, 7, CPU).expand(2, 3, 7, 7)
    part = as_tensor(mask, 7, 7, CPU, chosen).expand(2, 3, 3, 7)
    assert torch.equal(part, whole[:, :, chosen])


def test_packed_sequences_look_at_themselves() -> None:
    with pytest.raises(ValueError, match="got 2 queries and 3 keys"):
        as_tensor(Packed(torch.tensor([0, 3])), 2, 3, CPU)


@pytest.mark.usefixtures("unchecked_shapes")
def test_a_mask_of_numbers_is_refused() -> None:
    with pytest.raises(TypeError, match="True means 'may look'"):
        as_tensor(torch.ones(1, 1, 2, 2), 2, 2, CPU)
