"""Networks without memory or values are built like any other."""

from contextlib import nullcontext
from typing import Any

import pytest
import torch

from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.families import check_recipe
from regard.models.shapes import AllAlike, NoProducts, ShapesOnly, Unfilled
from regard.tasks.translation.building import build_translation
from regard.tasks.translation.task import Translation
from regard.training.snapshot import named_weights

SIZES = {"encoder_layers": 1, "decoder_layers": 2, "width": 16, "feed_forward": 24, "heads": 4, "longest": 32}
BUILDS: list[tuple[str, dict[str, Any]]] = [
    ("transformer", SIZES),
    ("transformer", {**SIZES, "positions": "learned", "norm": "before", "tied": False, "output_bias": True}),
    ("transformer", {**SIZES, "positions": "alibi", "key_value_heads": 2, "shared_embeddings": False}),
    ("transformer", {**SIZES, "score": "additive"}),
    ("transformer", {**SIZES, "score": "bilinear", "positions": "rotary"}),
    ("seq2seq", {"embedding": 8, "width": 8, "decoder": "bahdanau"}),
    ("seq2seq", {"embedding": 8, "width": 8, "decoder": "luong", "cell": "lstm", "decoder_layers": 2}),
    ("seq2seq", {"embedding": 8, "width": 8, "decoder": "bottleneck", "cell": "vanilla"}),
]


def build(family: str, options: dict[str, Any]) -> Translation:
    data = {"train": "x.tsv", "cleaning": {"longest": 30}, "tokeniser": {"kind": "bytes"}}
    return build_translation(
        check_recipe({"family": family, "data": data, "model": options}), ByteTokeniser(), ByteTokeniser()
    )


@pytest.mark.parametrize(("family", "options"), BUILDS, ids=str)
@pytest.mark.parametrize("mode", [ShapesOnly, Unfilled])
def test_its_weights_have_the_names_and_shapes_of_the_real_ones(
    mode: Any, family: str, options: dict[str, Any]
) -> None:
    real = {name: tuple(weight.shape) for name, weight in named_weights(build(family, options)).items()}
    with mode():
        network = build(family, options)
    assert {name: tuple(weight.shape) for name, weight in named_weights(network).items()} == real


@pytest.mark.parametrize(("family", "options"), BUILDS, ids=str)
def test_nothing_is_drawn_and_what_is_computed_is_there(family: str, options: dict[str, Any]) -> None:
    before = torch.manual_seed(1).get_state()  # as a recipe with seed 1 begins
    with Unfilled():
        network = build(family, options)
    assert torch.equal(torch.get_rng_state(), before)
    for (name, buffer), (_, expected) in zip(
        network.named_buffers(), build(family, options).named_buffers(), strict=True
    ):
        assert torch.equal(buffer, expected), name


def test_weights_that_are_all_alike_are_one_number() -> None:
    with AllAlike():
        linear = torch.nn.Linear(2, 1)
    assert linear.weight.tolist() == [[pytest.approx(0.01), pytest.approx(0.01)]]
    assert linear.weight.requires_grad


def test_weights_that_are_all_alike_lie_in_the_same_memory() -> None:
    with AllAlike():
        layers = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Linear(4, 3), torch.nn.Linear(3, 2))
        part = torch.zeros(3)
        torch.nn.init.normal_(part[1:])
    assert len({layer.weight.data_ptr() for layer in layers}) == 1
    assert [tuple(layer.weight.shape) for layer in layers] == [(4, 5), (3, 4), (2, 3)]
    assert layers(torch.ones(1, 5)).isfinite().all()
    assert part.tolist() == pytest.approx([0.0, 0.01, 0.01])


def kept(network: torch.nn.Module, inputs: torch.Tensor, mode: Any) -> tuple[list[int], torch.Tensor]:
    """Return the sizes of what a pass keeps for its gradient, and its result."""
    sizes: dict[int, int] = {}

    def count(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor), mode:
        output = network(inputs)
    return sorted(sizes.values()), output


@pytest.mark.parametrize("frozen", [[], [0], [1], [0, 1]], ids=str)
@pytest.mark.parametrize("is_learnt", [False, True])
def test_products_that_are_not_made_keep_what_real_ones_keep(frozen: list[int], is_learnt: bool) -> None:
    layers = [torch.nn.Linear(5, 4), torch.nn.Linear(4, 3, bias=False), torch.nn.Linear(3, 2)]
    network = torch.nn.Sequential(layers[0], torch.nn.Tanh(), layers[1], torch.nn.Softmax(dim=-1), layers[2])
    for number in frozen:
        layers[number].requires_grad_(False)
    inputs = torch.ones(6, 7, 5, requires_grad=is_learnt).transpose(0, 1)
    real, expected = kept(network, inputs, nullcontext())
    unmade, output = kept(network, inputs, NoProducts())
    assert unmade == real
    assert (output.shape, output.requires_grad) == (expected.shape, expected.requires_grad)
    assert not output.any()


def test_a_product_that_cannot_be_made_fails_as_ever() -> None:
    with NoProducts(), pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.nn.Linear(5, 4)(torch.ones(7, 6))


def test_shapes_take_no_memory() -> None:
    with ShapesOnly():
        network = build("transformer", {**SIZES, "width": 2**16, "feed_forward": 2**20})
    weight = network.model.encoder[0].feed_forward.inner.weight
    assert weight.shape == (2**20, 2**16)
    assert weight.untyped_storage().nbytes() == 4
