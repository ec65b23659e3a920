"""Switching heads off."""

import pytest
import torch
from attention_cases import draw

from regard.attention.editing import is_edited
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
    seen: list[bool] = []

    def fail() -> None:
        with switched_off(Holder(heads), "cross.look", 0):
            seen.append(is_edited(heads.look, "head"))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert seen == [True]
    assert not is_edited()


def test_it_is_as_if_the_columns_of_the_output_matrix_were_zero() -> None:
    heads = MultiHead(12, 3, looks_from="target", looks_at="source").eval()
    states, memory = draw(2, 4, 12).float(), draw(2, 5, 12).float()
    with switched_off(Holder(heads), "cross.look", 2):
        without = heads(states, heads.remember(memory))
    with torch.no_grad():
        heads.out.weight[:, 8:] = 0
    assert torch.equal(without, heads(states, heads.remember(memory)))


def test_an_averaged_head_adds_nothing_to_the_mean() -> None:
    options = HeadOptions(join="averaged")
    heads = MultiHead(12, 3, looks_from="target", looks_at="source", options=options).double().eval()
    states, memory = draw(2, 4, 12), draw(2, 5, 12)
    contexts: list[torch.Tensor] = []
    handle = heads.look.register_forward_hook(lambda module, inputs, context: contexts.append(context))
    heads(states, heads.remember(memory))
    handle.remove()
    with switched_off(Holder(heads), "cross.look", 0):
        without = heads(states, heads.remember(memory))
    torch.testing.assert_close(without, contexts[0][:, 1:].sum(dim=1) / 3)


def test_a_head_that_does_not_exist_is_refused() -> None:
    heads = MultiHead(12, 3, looks_from="target", looks_at="source")
    with pytest.raises(Fault, match="no head 4"), switched_off(Holder(heads), "cross.look", 3):
        pass
