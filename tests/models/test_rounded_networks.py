"""Rounded products and vectors: counted by hand, compared with the formula in float64, and their gradients."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.families import check_recipe
from regard.models.parts import Embedding
from regard.models.rounding import (
    RoundedLinear,
    Scheme,
    round_network,
    round_rows,
    round_states,
    round_weights,
    straight_through,
)
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.tasks.translation.objectives import CrossEntropy, Forced

SCHEMES: tuple[Scheme, ...] = ("int8", "int4")
SIZES: dict[str, Any] = {"encoder_layers": 1, "decoder_layers": 1, "width": 8, "feed_forward": 12, "heads": 2}


def numbers(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def test_rows_are_rounded_to_their_own_largest_number() -> None:
    """127 / 31.75 = 4: 12.625 · 4 = 50.5 goes to the even 50, and 12.875 · 4 = 51.5 to 52; zeros stay zeros."""
    wholes = round_rows(torch.tensor([[31.75, -12.625, 12.875], [0.0, 0.0, 0.0], [-1e-3, 4e-4, 0.0]]))
    assert wholes.wholes.tolist() == [[127, -50, 52], [0, 0, 0], [-127, 51, 0]]
    assert wholes.rounded[:2].tolist() == [[31.75, -12.5, 13.0], [0, 0, 0]]


def test_four_bits_are_rounded_in_groups_of_32() -> None:
    """Each group has its own scale, the last one too, which is shorter; the largest number of each is kept."""
    weight = torch.cat([torch.linspace(-7, 7, 32), torch.tensor([0.7, 0.24, -0.31])])[None].double()
    rounded = round_weights(weight, "int4")[0]
    assert rounded[:32].tolist() == [round(number) for number in weight[0, :32].tolist()]
    torch.testing.assert_close(rounded[32:], torch.tensor([0.7, 0.2, -0.3], dtype=torch.double))


@pytest.mark.parametrize("dtype", [torch.float32, torch.double])
def test_rounding_twice_is_rounding_once(dtype: torch.dtype) -> None:
    states = numbers(50, 16).to(dtype)
    once = round_states(states)
    torch.testing.assert_close(round_states(once), once)
    assert not torch.equal(once, states)
    for scheme in SCHEMES:
        matrix = round_weights(numbers(30, 70).to(dtype), scheme)
        torch.testing.assert_close(round_weights(matrix, scheme), matrix)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("bias", [False, True])
def test_a_rounded_layer_is_the_product_of_rounded_factors(scheme: Scheme, bias: bool) -> None:
    torch.manual_seed(1)
    plain = nn.Linear(40, 24, bias=bias).double()
    rounded = deepcopy(plain)
    round_network(rounded, scheme)
    assert isinstance(rounded, RoundedLinear)
    assert list(rounded.state_dict()) == list(plain.state_dict())
    states, upstream = numbers(5, 3, 40).requires_grad_(), numbers(5, 3, 24, seed=2)
    found = rounded(states)
    weight = straight_through(plain.weight, round_weights(plain.weight.detach(), scheme))
    expected = F.linear(round_states(states), weight, plain.bias)
    torch.testing.assert_close(found, expected)
    assert not torch.allclose(found, plain(states))
    ours = torch.autograd.grad(found, (states, *rounded.parameters()), upstream)
    theirs = torch.autograd.grad(expected, (states, *plain.parameters()), upstream)
    for gradient, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(gradient, other)


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")
def test_products_of_whole_numbers_are_exact_in_bf16() -> None:
    """127 · 127 does not fit bf16, but the sum is kept in float32 and rounded once, at the end."""
    torch.manual_seed(1)
    layer = nn.Linear(64, 16)
    round_network(layer, "int8")
    states = numbers(20, 64).float()
    exact = layer(states).detach()
    with torch.autocast("cpu", torch.bfloat16):
        found = layer(states)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.detach().float(), exact, rtol=2**-7, atol=2**-7 * float(exact.abs().max()) / 4)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_embedding_looks_up_rounded_rows(scheme: Scheme) -> None:
    torch.manual_seed(1)
    plain = Embedding(9, 40, 0).double()
    rounded = deepcopy(plain)
    round_network(rounded, scheme)
    tokens = torch.tensor([[1, 8, 0], [1, 2, 3]])
    torch.testing.assert_close(rounded(tokens), round_weights(plain.weight.detach(), scheme)[tokens] * 40**0.5)
    (rounded(tokens) * 2).sum().backward()
    (plain(tokens) * 2).sum().backward()
    torch.testing.assert_close(rounded.weight.grad, plain.weight.grad)


def network(**options: Any) -> Transformer:
    torch.manual_seed(1)
    return Transformer(TransformerOptions(**SIZES | options), 30, 30, True, 0).double().eval()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("cell", ["attention", "ssru"])
def test_a_loss_sees_the_logits_that_a_search_sees(scheme: Scheme, cell: str) -> None:
    model = network(decoder_cell=cell)
    plain = deepcopy(model)
    model.round_as(scheme)
    tokens, lengths = torch.tensor([[5, 9, 3], [7, 3, 0]]), torch.tensor([3, 2])
    states, _ = model.write(tokens, model.read(tokens, lengths), [])
    logits = model.logits(states)
    torch.testing.assert_close(states @ model.token_weights().mT, logits)
    assert not torch.allclose(logits, plain.logits(plain.write(tokens, plain.read(tokens, lengths), [])[0]))
    wanted = torch.tensor([1, 2, 3, 4, 5, 6])
    loss = CrossEntropy(0.1).of(model, Forced(states.flatten(0, 1), wanted))
    expected = F.cross_entropy(logits.flatten(0, 1), wanted, label_smoothing=0.1, reduction="sum")
    torch.testing.assert_close(loss, expected)
    loss.backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in model.parameters())
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True))


def test_steps_of_a_rounded_network_are_teacher_forcing() -> None:
    model = network(decoder_layers=2)
    model.round_as("int8")
    tokens, lengths = torch.tensor([[5, 9, 3, 8], [7, 3, 4, 4]]), torch.tensor([4, 4])
    memory, past, outputs = model.read(tokens, lengths), [], []
    expected = model.logits(model.write(tokens, memory, [])[0])
    for place in range(4):
        states, past = model.write(tokens[:, place : place + 1], memory, past)
        outputs.append(model.logits(states))
    torch.testing.assert_close(torch.cat(outputs, dim=1), expected)


def recipe(family: str, training: dict[str, Any], **model: Any) -> Any:
    sizes = {"encoder_layers": 1, "decoder_layers": 1} | model if family == "transformer" else model
    data = {"train": "x.tsv", "tokeniser": {"shared": True}}
    return check_recipe({"family": family, "data": data, "model": sizes, "training": training})


@pytest.mark.parametrize(
    ("family", "model", "training", "words"),
    [
        ("seq2seq", {}, {}, "for the family transformer, not seq2seq"),
        ("transformer", {"decoder_cell": "gru"}, {}, "or a GRU decoder"),
        ("transformer", {"encoder": "recurrent"}, {}, "a recurrent encoder"),
        ("transformer", {"copies": True}, {}, r"without model\.copies"),
        ("transformer", {}, {"sharded": True}, r"does not work with training\.sharded"),
    ],
)
def test_models_that_no_engine_rounds_are_refused(
    family: str, model: dict[str, Any], training: dict[str, Any], words: str, tmp_path: Path
) -> None:
    assert recipe(family, training, **model).training.quantise == "none"
    with pytest.raises(Fault, match=words):
        recipe(family, training | {"quantise": "int8"}, **model)
