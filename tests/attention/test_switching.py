"""Switching heads off."""

import pytest
import torch
from attention_cases import draw

from regard.attention.heads import HeadOptions, MultiHead
from regard.attention.switching import switched_off
from regard.base.faults import Fault


class Holder(torch.nn.Module):
    def __init__(self, heads: MultiHead) -> None:
        super().__init__()
        self.cross = heads


def test_a_head_gives_nothing_until_the_block_ends() -> None:
    """Without head 2 of 3, W_O reads the others alone: written out from the contexts of all heads."""
    heads = MultiHead(12, 3, looks_from="target", looks_at="source").double().eval()
    states, memory = draw(2, 4, 12).double(), draw(2, 5, 12).double()
    contexts: list[torch.Tensor] = []
    heads.look.register_forward_hook(lambda module, inputs, context: contexts.append(context))
    whole = heads(states, heads.remember(memory))
    with switched_off(Holder(heads), "cross.look", 1):
        without = heads(states, heads.remember(memory))
    context = contexts[0].clone()
    context[:, 1] = 0
    expected = context.transpose(1, 2).flatten(2) @ heads.out.weight.T + heads.out.bias
    torch.testing.assert_close(without, expected)
    assert not torch.allclose(whole, without)
    assert torch.equal(heads(states, heads.remember(memory)), whole)


def test_the_head_is_back_after_a_fault() -> None:
    heads = MultiHead(12, 3, looks_from="target", looks_at="source")
    before = heads.out.weight.detach().clone()
    seen: list[bool] = []

    def fail() -> None:
        with switched_off(Holder(heads), "cross.look", 0):
            seen.append(bool(heads.out.weight[:, :4].any()))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert seen == [False]
    assert torch.equal(heads.out.weight, before)


def test_heads_without_an_output_matrix_are_refused() -> None:
    heads = MultiHead(12, 3, looks_from="target", looks_at="source", options=HeadOptions(join="averaged"))
    with pytest.raises(Fault, match="not joined by a matrix W_O"), switched_off(Holder(heads), "cross.look", 0):
        pass
