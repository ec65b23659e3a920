"""Networks without memory or without values are built like any other."""

from typing import Any

import pytest
import torch

from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.families import check_recipe
from regard.models.shapes import AllAlike, ShapesOnly, Unfilled
from regard.tasks.translation.task import Translation, build_translation
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
        found = build(family, options)
    assert {name: tuple(weight.shape) for name, weight in named_weights(found).items()} == real


@pytest.mark.parametrize(("family", "options"), BUILDS, ids=str)
def test_nothing_is_drawn_and_what_is_computed_is_there(family: str, options: dict[str, Any]) -> None:
    before = torch.manual_seed(1).get_state()  # as a recipe of seed 1 begins
    with Unfilled():
        found = build(family, options)
    assert torch.equal(torch.get_rng_state(), before)
    for (name, own), (_, wanted) in zip(found.named_buffers(), build(family, options).named_buffers(), strict=True):
        assert torch.equal(own, wanted), name


def test_weights_that_are_all_alike_are_one_number() -> None:
    with AllAlike():
        linear = torch.nn.Linear(2, 1)
    assert linear.weight.tolist() == [[pytest.approx(0.01), pytest.approx(0.01)]]
    assert linear.weight.requires_grad


def test_shapes_take_no_memory() -> None:
    with ShapesOnly():
        found = build("transformer", {**SIZES, "width": 2**16, "feed_forward": 2**20})
    weight = found.model.encoder[0].feed_forward.inner.weight
    assert weight.shape == (2**20, 2**16)
    assert weight.untyped_storage().nbytes() == 4
