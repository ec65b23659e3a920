"""The attention core against torch's own, and against answers worked out on paper."""

import math
import threading

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import Attention, Causal, Lengths, Mask, Packed, Window, normalise, watched, watching
from regard.attention.masks import as_tensor
from regard.attention.scores import Additive, Bilinear, dot, scaled_dot

SIDES = {"looks_from": "target", "looks_at": "source"}


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


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
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_every_mask_agrees_with_torch(mask: Mask | None) -> None:
    query, key, value = draw(2, 3, 7, 8), draw(2, 3, 7, 8, seed=1), draw(2, 3, 7, 4, seed=2)
    allowed = None if mask is None else as_tensor(mask, 7, 7, query.device)
    theirs = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    if allowed is not None:
        theirs = theirs.masked_fill(~allowed.any(-1, keepdim=True), 0.0)
    look = Attention(**SIDES)
    torch.testing.assert_close(look(query, key, value, mask), theirs)
    with watching(look) as gazes:
        torch.testing.assert_close(look(query, key, value, mask), theirs)
    sees_any = torch.ones(2, 3, 7).double() if allowed is None else allowed.any(-1).expand(2, 3, 7).double()
    torch.testing.assert_close(gazes[0].weights.sum(-1), sees_any)


def test_agrees_with_torch_multihead() -> None:
    from regard.attention.heads import MultiHead

    ours = MultiHead(12, 3, **SIDES).double()
    theirs = nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.to_query.weight, ours.to_key_value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.to_query.bias, ours.to_key_value.bias]))
        theirs.out_proj.load_state_dict(ours.out.state_dict())
    states, memory, lengths = draw(2, 5, 12), draw(2, 6, 12, seed=1), torch.tensor([6, 4])
    padding = torch.arange(6) >= lengths[:, None]  # torch's own mask means "may not look"
    expected, weights = theirs(states, memory, memory, key_padding_mask=padding, average_attn_weights=False)
    with watching(ours) as gazes:
        seen = ours(states, ours.remember(memory), Lengths(lengths))
    torch.testing.assert_close(seen, expected)
    torch.testing.assert_close(gazes[0].weights, weights)


def test_softmax_of_zero_and_one() -> None:
    weights = normalise(torch.tensor([0.0, 1.0]), None)
    torch.testing.assert_close(weights, torch.tensor([1 / (1 + math.e), math.e / (1 + math.e)]))


def test_masks_on_paper() -> None:
    def rows(mask: Mask, queries: int, keys: int) -> list[str]:
        table = as_tensor(mask, queries, keys, torch.device("cpu"))
        return ["".join("x" if cell else "." for cell in row) for row in table[-1, 0].tolist()]

    assert rows(Causal(), 3, 3) == ["x..", "xx.", "xxx"]
    assert rows(Causal(), 1, 3) == ["xxx"]  # the newest of three places
    assert rows(Lengths(torch.tensor([2])), 2, 3) == ["xx."]
    assert rows(Window(1), 3, 3) == ["x..", "xx.", ".xx"]
    assert rows(Window(0, 1), 3, 3) == ["xx.", ".xx", "..x"]
    assert rows(Packed(torch.tensor([0, 1, 3])), 4, 4) == ["x...", ".xx.", ".xx.", "...."]
    assert rows(Packed(torch.tensor([0, 1, 3]), causal=True), 3, 3) == ["x..", ".x.", ".xx"]


def test_nowhere_to_look_is_zero_and_its_gradient_finite() -> None:
    mask = torch.tensor([[[[True, True, False], [False, False, False]]]])
    look = Attention(**SIDES)
    for context in (watching(look), watching(nn.Identity())):
        query = draw(1, 1, 2, 4).requires_grad_()
        with context:
            out = look(query, draw(1, 1, 3, 4), draw(1, 1, 3, 4), mask)
        assert (out[0, 0, 1] == 0).all()
        (gradient,) = torch.autograd.grad(out.sum(), query)
        assert gradient.isfinite().all()


def test_scores_on_paper() -> None:
    query, key = torch.tensor([[[[1.0, 2.0]]]]), torch.tensor([[[[3.0, 4.0]]]])
    assert dot(query, key).item() == 11
    assert scaled_dot(query, key).item() == pytest.approx(11 / math.sqrt(2))
    bilinear = Bilinear(2, 2)
    nn.init.eye_(bilinear.weight.weight)
    assert bilinear(query, key).item() == 11
    additive = Additive(2, 2, 1)
    for linear in (additive.of_query, additive.of_key, additive.energy):
        nn.init.ones_(linear.weight)
    assert additive(query, key).item() == pytest.approx(math.tanh(1 + 2 + 3 + 4))


def test_query_and_key_may_differ_in_depth() -> None:
    for score in (Additive(8, 6, 16), Bilinear(8, 6)):
        look = Attention(score.double(), **SIDES)
        assert look(draw(2, 1, 5, 8), draw(2, 1, 7, 6), draw(2, 1, 7, 3)).shape == (2, 1, 5, 3)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        (((2, 5, 8), (2, 3, 7, 8), (2, 3, 7, 4)), r"query needs the axes \(batch, head, query, depth\)"),
        (((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 6, 4)), "7 keys but 6 values"),
        (((2, 3, 5, 8), (1, 3, 7, 8), (1, 3, 7, 4)), "query has 2 along 'batch', key has 1"),
    ],
)
@pytest.mark.usefixtures("unchecked_shapes")
def test_wrong_axes_are_named(shapes: tuple[tuple[int, ...], ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Attention(**SIDES)(*(draw(*shape) for shape in shapes))


def test_a_mask_of_numbers_is_refused() -> None:
    with pytest.raises(TypeError, match="True means 'may look'"):
        as_tensor(torch.ones(1, 1, 2, 2), 2, 2, torch.device("cpu"))


def test_dropout_falls_in_training_only() -> None:
    look = Attention(**SIDES, dropout=0.5)
    states = draw(1, 1, 6, 4)
    torch.manual_seed(0)
    assert not torch.equal(look(states, states, states), look.eval()(states, states, states))
    torch.testing.assert_close(look(states, states, states), look(states, states, states))


def test_two_threads_see_only_their_own() -> None:
    model = nn.ModuleDict({"a": Attention(**SIDES)})
    seen: dict[int, tuple[list[int], str]] = {}
    gate = threading.Barrier(2)

    def work(queries: int) -> None:
        with watching(model) as gazes:
            gate.wait()
            for _ in range(queries):
                model["a"](draw(1, 1, queries, 4), draw(1, 1, 3, 4), draw(1, 1, 3, 4))
            gate.wait()
        seen[queries] = [gaze.weights.shape[2] for gaze in gazes], gazes[0].where

    threads = [threading.Thread(target=work, args=(queries,)) for queries in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {1: ([1], "a"), 2: ([2, 2], "a")}
    assert not watched()
