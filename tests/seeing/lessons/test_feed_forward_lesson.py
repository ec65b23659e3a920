"""The feed-forward net as a database: the example by hand, and keys and values of a network written out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from untrained import untrained

from regard.base.faults import Fault
from regard.seeing.lessons.feed_forward import (
    Chosen,
    feed_forward_example,
    feed_forward_lesson,
    promoted,
    read_activations,
    strongest,
)
from regard.seeing.lessons.feed_forward import _block as block_of
from regard.seeing.lessons.token_matrices import token_matrices
from regard.viewing.tables import NumberTable, WordTable

TEXT = "Ana reads a green book."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    loaded = untrained(tmp_path_factory.mktemp("models") / "m", "transformer")
    loaded.task.double()
    return loaded


def test_lecture_c_the_database_by_hand() -> None:
    keys, activations, values, outputs = (
        table.values for table in feed_forward_example().tables if isinstance(table, NumberTable)
    )
    assert activations.tolist() == [[1, 0, 0.5], [0, 1, 0.5], [0, 0, 0], [0, 0, 0]]
    assert outputs.tolist() == [[0, 0, 3.5, 0.5], [0, 0, 0.5, 3.5], [0] * 4, [0] * 4]
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 4, bias=False)).double()
    with torch.no_grad():
        net[0].weight.copy_(torch.tensor(keys[:, :4]))
        net[0].bias.copy_(torch.tensor(keys[:, 4]))
        net[2].weight.copy_(torch.tensor(values))
        np.testing.assert_allclose(net(torch.eye(4, dtype=torch.float64)).numpy(), outputs, rtol=1e-12)


@torch.no_grad()
def test_units_times_values_are_the_output_of_the_net(model: Any) -> None:
    block, calls = block_of(model, 1), []
    hook = block.net.register_forward_hook(lambda net, inputs, out: calls.append(out[0]))
    tokens, activations = read_activations(model, [TEXT], block)
    hook.remove()
    assert (block.name, tokens) == ("encoder block 1", [*TEXT.removesuffix(".").split(), ".", "</s>"])
    summed = activations @ block.net.outer.weight.T.numpy() + block.net.outer.bias.numpy()
    np.testing.assert_allclose(summed, calls[-1].numpy(), rtol=1e-9, atol=1e-12)


@torch.no_grad()
def test_a_value_promotes_the_tokens_whose_logits_it_raises(model: Any) -> None:
    block, matrices = block_of(model, None), token_matrices(model)
    assert block.name == "decoder block 1"
    column, output = block.net.outer.weight[:, 3].numpy(), matrices.output.numpy()
    raised = np.array([sum(row * column) for row in output])
    best = np.argsort(-raised)[:3]
    words = promoted(matrices, block.net, 3, 3)
    assert [name for name, _ in words] == model.task.target.pieces(best.tolist())
    np.testing.assert_allclose([value for _, value in words], raised[best], rtol=1e-9)


def test_the_strongest_names_come_once_and_only_if_they_switch_on() -> None:
    assert strongest(["a", "b", "a", "c"], np.array([1.0, 3.0, 2.0, -1.0]), 5) == [("b", 3.0), ("a", 2.0)]
    assert strongest(["a", "b"], np.array([1.0, 3.0]), 1) == [("b", 3.0)]


def test_the_lesson_shows_the_units_asked_for(model: Any) -> None:
    table, activations = feed_forward_lesson(model, [TEXT], 1, Chosen(count=3, tokens=2)).tables
    assert isinstance(table, WordTable)
    assert isinstance(activations, NumberTable)
    assert [row[0] for row in table.rows] == list(activations.columns)
    assert activations.values.max(axis=0).tolist() == sorted(activations.values.max(axis=0), reverse=True)
    (first, *_), best = table.rows, activations.values[:, 0].max()
    assert f" {best:.2f}" in first[1].split(",")[0]
    (alone,) = feed_forward_lesson(model, [TEXT, "Ana reads"], None, Chosen(unit=8)).tables
    assert isinstance(alone, WordTable)
    assert [row[0] for row in alone.rows] == ["8"]
    assert "2 texts" in alone.title
    assert ("only through the decoder" in table.caption, "only through the decoder" in alone.caption) == (True, False)


def test_what_it_refuses(model: Any, tmp_path: Path) -> None:
    for texts, layer, unit, message in (
        ([TEXT], 3, None, "There is no layer 3; this model has 1 encoder block 1, 2 decoder block 1"),
        ([TEXT], 1, 9, "This block has 8 units; there is no unit 9"),
        ([" "], 1, None, "There is no text to read"),
    ):
        with pytest.raises(Fault, match=message):
            feed_forward_lesson(model, texts, layer, Chosen(unit=unit))
    with pytest.raises(Fault, match="This seq2seq has no feed-forward nets"):
        feed_forward_lesson(untrained(tmp_path / "r"), [TEXT], None, Chosen())
