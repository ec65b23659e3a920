"""The convolutional net that glimpses are compared with: shapes, refusals, and the cost of an answer."""

import pytest
import torch

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.convolution import ConvNet, ConvNetOptions


@pytest.mark.parametrize(("height", "width"), [(28, 28), (5, 9)])
def test_it_gives_probabilities_for_pictures_of_its_size(height: int, width: int) -> None:
    model = ConvNet(ConvNetOptions(channels=[2, 3], width=4), 5, height, width)
    torch.testing.assert_close(model.answer(torch.rand(2, height, width)).exp().sum(-1), torch.ones(2))


def test_what_an_answer_costs_grows_with_the_picture() -> None:
    model = ConvNet(ConvNetOptions(channels=[2, 3], kernel=3, width=4), 5, 8, 8)
    # 4 · 4 places of 2 filters of 9, 2 · 2 places of 3 filters of 2 · 9, then 12 · 4 and 4 · 5
    assert model.multiplications(8, 8) == 16 * 2 * 9 + 4 * 3 * 18 + 48 + 20
    assert model.multiplications(16, 16) == 4 * (16 * 2 * 9 + 4 * 3 * 18 + 48) + 20


def test_dropout_leaves_units_out_while_training_only() -> None:
    model, pictures = ConvNet(ConvNetOptions(dropout=0.5), 3, 8, 8), torch.rand(2, 8, 8)
    assert not torch.equal(model.answer(pictures), model.answer(pictures))
    model.eval()
    assert torch.equal(model.answer(pictures), model.answer(pictures))


@pytest.mark.parametrize(
    ("table", "words"),
    [({"kernel": 4}, "kernel is 4, expected an odd number"), ({"channels": [0]}, "expected numbers from 1")],
)
def test_filters_without_a_middle_and_layers_without_filters_are_refused(table: dict, words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(ConvNetOptions, table, "model")
