"""Each kernel compared with the torch operations it replaces, forward and backward."""

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from gpu_kernels.masks import factors
from torch import Tensor, nn

from regard.kernels import attention, cross_entropy, embedding, linear, norm
from regard.kernels.dropping import Chances, Dropping

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
NOTHING, SOME = Dropping(), Dropping(0.3, torch.tensor([12345], device=DEVICE), 7)


@pytest.fixture
def draw(device: torch.device) -> Callable[..., Tensor]:
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).to(device).requires_grad_()

    return drawn


def assert_same(ours: Tensor, theirs: Tensor, inputs: tuple[Tensor, ...]) -> None:
    """Check for equal values, and for equal gradients of all inputs with a random upstream gradient."""
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    upstream = torch.randn(ours.shape, generator=torch.Generator().manual_seed(1)).to(ours.device)
    mine, others = (torch.autograd.grad(result, inputs, upstream, retain_graph=True) for result in (ours, theirs))
    for one, other in zip(mine, others, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def places_of(table: Tensor) -> Tensor:
    return torch.arange(table.numel(), device=table.device).view(table.shape)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dropping", [NOTHING, SOME])
@pytest.mark.parametrize("width", [16, 24])
def test_sum_and_norm(dropping: Dropping, width: int, draw: Callable[..., Tensor]) -> None:
    residual, branch, bias = draw(5, width), draw(5, width), draw(width)
    layer = nn.LayerNorm(width, device=residual.device)
    nn.init.normal_(layer.weight)
    nn.init.normal_(layer.bias)
    ours = norm.added_and_normed(residual, branch, bias, dropping, layer, torch.float32)
    summed = residual + (branch + bias) * factors(places_of(branch), dropping)
    inputs = residual, branch, bias, layer.weight, layer.bias
    assert_same(torch.cat(ours), torch.cat([summed, layer(summed)]), inputs)
    assert_same(norm.added_and_normed(*inputs[:3], dropping, layer, torch.float32)[1], layer(summed), inputs)


def test_norm_alone(draw: Callable[..., Tensor]) -> None:
    states, layer = draw(7, 20), nn.LayerNorm(20)
    layer = layer.to(states.device)
    assert_same(norm.normed(states, layer, torch.float32), layer(states), (states, layer.weight, layer.bias))


def test_more_rows_than_programs(draw: Callable[..., Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(norm, "PROGRAMS", 2)
    states, layer = draw(7, 16), nn.LayerNorm(16)
    layer = layer.to(states.device)
    assert_same(norm.normed(states, layer, torch.float32), layer(states), (states, layer.weight, layer.bias))


@pytest.mark.parametrize("rows", [70, 3])
def test_linear_layers(rows: int, draw: Callable[..., Tensor]) -> None:
    states, weight, bias = draw(rows, 5), draw(130, 5), draw(130)
    plain = F.linear(states, weight, bias)
    assert_same(linear.linear(states, weight, bias), plain, (states, weight, bias))
    assert_same(linear.rectified_linear(states, weight, bias), F.relu(plain), (states, weight, bias))
    gelu = F.gelu(plain, approximate="tanh")
    assert_same(linear.gelu_linear(states, weight, bias), gelu, (states, weight, bias))


@pytest.mark.parametrize("dropping", [NOTHING, SOME])
@pytest.mark.parametrize("placed", [True, False])
def test_embedding(dropping: Dropping, placed: bool, draw: Callable[..., Tensor]) -> None:
    weight, table = draw(11, 12), draw(4, 12) if placed else None
    tokens = torch.tensor([3, 3, 10, 0, 7], device=weight.device)
    places = torch.tensor([0, 1, 2, 0, 3], device=weight.device)
    ours = embedding.embedded(weight, table, tokens, places, (3.0, dropping, torch.float32))
    theirs = weight[tokens] * 3.0 if table is None else weight[tokens] * 3.0 + table[places]
    inputs = (weight,) if table is None else (weight, table)
    assert_same(ours, theirs * factors(places_of(ours), dropping), inputs)


def looked(query: Tensor, memory: Tensor, shape: attention.Shape, dropping: Dropping) -> Tensor:
    """Compute attention by the formula, sentence by sentence and head by head."""
    contexts = []
    ends = zip(shape.query_offsets.tolist(), shape.key_offsets.tolist(), strict=True)
    for (first, first_key), (last, last_key) in pairwise(ends):
        parts = query[first:last], *memory[first_key:last_key].chunk(2, 1)
        heads = []
        for head, (q, k, v) in enumerate(zip(*(part.chunk(shape.heads, 1) for part in parts), strict=True)):
            scores = q @ k.T * q.shape[1] ** -0.5
            if shape.causal:
                scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf"))
            rows = torch.arange(first, last, device=query.device) * shape.heads + head
            places = rows[:, None] * 128 + torch.arange(last_key - first_key, device=query.device)
            heads.append((scores.softmax(-1) * factors(places, dropping)) @ v)
        contexts.append(torch.cat(heads, 1))
    return torch.cat(contexts)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dropping", [NOTHING, SOME])
@pytest.mark.parametrize("causal", [True, False])
def test_self_attention(dropping: Dropping, causal: bool, draw: Callable[..., Tensor]) -> None:
    projected = draw(24, 3 * 32)
    offsets = torch.tensor([0, 1, 6, 24], device=projected.device)
    shape = attention.Shape(2, offsets, offsets, 32, causal)
    theirs = looked(projected[:, :32], projected[:, 32:], shape, dropping)
    assert_same(attention.look(projected, None, shape, dropping), theirs, (projected,))


@pytest.mark.parametrize("dropping", [NOTHING, SOME])
def test_attention_to_a_memory(dropping: Dropping, draw: Callable[..., Tensor]) -> None:
    query, memory = draw(9, 32), draw(40, 64)
    offsets = torch.tensor([0, 2, 9], device=query.device), torch.tensor([0, 37, 40], device=query.device)
    shape = attention.Shape(2, *offsets, 64)
    assert_same(attention.look(query, memory, shape, dropping), looked(query, memory, shape, dropping), (query, memory))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("block", [16, 4096])
def test_losses_and_gradients(
    smoothing: float, block: int, draw: Callable[..., Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_entropy, "BLOCK", block)
    logits, targets = draw(5, 37), torch.tensor([0, 36, 5, 5, 16])
    targets = targets.to(logits.device)
    theirs = F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="none")
    gradient = logits.detach().clone()
    torch.testing.assert_close(cross_entropy.losses_and_gradients(gradient, targets, smoothing), theirs.detach())
    torch.testing.assert_close(gradient, torch.autograd.grad(theirs.sum(), logits)[0])


@pytest.mark.parametrize("block", [16, 4096])
def test_agreeing_losses_and_gradients(
    block: int, draw: Callable[..., Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_entropy, "BLOCK", block)
    logits, targets = draw(2, 4, 37), torch.tensor([0, 36, 5, 16])
    targets = targets.to(logits.device)
    p, q = logits.log_softmax(-1)
    theirs = sum(F.cross_entropy(x, targets, label_smoothing=0.1, reduction="none") for x in logits) / 2
    theirs = theirs + 0.75 * sum(F.kl_div(a, b, reduction="none", log_target=True).sum(-1) for a, b in ((p, q), (q, p)))
    gradient = logits.detach().clone()
    ours = cross_entropy.agreeing_losses_and_gradients(gradient, targets, 0.1, 3)
    torch.testing.assert_close(ours, theirs.detach())
    torch.testing.assert_close(gradient, torch.autograd.grad(theirs.sum(), logits)[0])


def test_a_sentence_without_keys_finds_nothing(draw: Callable[..., Tensor]) -> None:
    query, memory = draw(5, 32), draw(3, 64)
    offsets = torch.tensor([0, 2, 5], device=query.device), torch.tensor([0, 3, 3], device=query.device)
    output = attention.look(query, memory, attention.Shape(2, *offsets, 16), NOTHING)
    assert (output[2:] == 0).all()
    for gradient in torch.autograd.grad(output.sum(), (query, memory)):
        assert gradient.isfinite().all()


def test_padding_costs_nothing(draw: Callable[..., Tensor]) -> None:
    logits, targets = draw(3, 37), torch.tensor([4, -1, 36])
    targets = targets.to(logits.device)
    gradient = logits.detach().clone()
    losses = cross_entropy.losses_and_gradients(gradient, targets, 0.1)
    assert losses[1] == 0
    assert (gradient[1] == 0).all()
    assert losses[0] > 0
    assert (gradient[0] != 0).all()
    both = torch.stack([logits, 2 * logits]).detach()
    losses = cross_entropy.agreeing_losses_and_gradients(both, targets, 0.1, 1.0)
    assert losses[1] == 0
    assert (both[:, 1] == 0).all()
    assert losses[2] > 0
    assert (both[:, 2] != 0).all()


def test_dropout_keeps_the_mean_and_its_share() -> None:
    scales = factors(torch.arange(100_000), SOME)
    assert (scales == 0).float().mean().item() == pytest.approx(0.3, abs=0.01)
    assert scales.mean().item() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(("seed", "site"), [(7, 1), (8, 0)])
def test_dropouts_by_different_seeds_or_sites_have_nothing_in_common(seed: int, site: int) -> None:
    one, other = (
        factors(torch.arange(100_000), Dropping(0.5, torch.tensor([a]), b)) > 0 for a, b in ((7, 0), (seed, site))
    )
    assert (one == other).float().mean().item() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("distance", [1, 2, 128, 512])
def test_neighbours_are_dropped_independently(distance: int) -> None:
    is_kept = factors(torch.arange(100_000), Dropping(0.5, torch.tensor([7]))) > 0
    assert (is_kept[distance:] == is_kept[:-distance]).float().mean().item() == pytest.approx(0.5, abs=0.01)


def test_chances_follow_the_generator() -> None:
    def drawn(seed: int) -> list[tuple[int, int]]:
        torch.manual_seed(seed)
        chances = Chances(torch.device("cpu"))
        return [(int(drop.seed), drop.site) for drop in (chances.dropping(0.1), chances.dropping(0.1))]

    assert drawn(3) == drawn(3) != drawn(4)
    assert drawn(3)[0] != drawn(3)[1]
    assert Chances(torch.device("cpu")).dropping(0.0) == Dropping()
