"""From answering tasks to drawings: toys that attend along edges, through windows and over cells."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.attention.watch import note, note_edges, note_window
from regard.base.faults import Fault
from regard.seeing.gazes import Sight, see_answer
from regard.viewing.drawers import drawing_of
from regard.viewing.sides import Cells, Nodes, Side, Steps
from regard.viewing.view import DrawingRequest

EDGES = torch.tensor([[0, 0, 1, 2], [0, 1, 1, 0]])
PICTURE = np.tile(np.arange(6) / 5, (4, 1))


class Looker(nn.Module):
    """Module with the same attention for any input."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def forward(self) -> None:
        if self.how == "edges":
            note_edges(self, "nodes", "nodes", torch.tensor([[[0.25, 0.75, 1.0, 1.0]]]), EDGES, 3)
        elif self.how == "windows":
            note_window(self, "glimpses", "picture", torch.tensor([[[3, 2], [1, 1]]]), torch.tensor([[[2], [2]]]))
        elif self.how == "cells":
            note(self, "glimpses", "picture", torch.full((1, 1, 2, 6), 1 / 6))


class Toy(nn.Module):
    """Task that answers yes to everything."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.model = Looker(how)

    def read(self, inputs: Sequence[str]) -> list[str]:
        return list(inputs)

    def answers(self, batch: list[str]) -> list[Any]:
        assert not torch.is_grad_enabled()
        assert not self.training
        self.model()
        return [SimpleNamespace(answer="yes", probability=0.9, probabilities={"yes": 0.9}) for _ in batch]

    def sides(self, batch: list[str], outputs: Sequence[Any]) -> dict[str, Side]:
        if self.model.how == "edges":
            return {"nodes": Nodes(["a", "b", "c"], [int(batch[0])])}
        grid = (2, 3) if self.model.how == "cells" else None
        return {"picture": Cells(PICTURE, grid), "glimpses": Steps(["glimpse 1", "glimpse 2"])}


def test_a_node_and_its_looks() -> None:
    sight = see_answer(Toy("edges"), "0")
    assert (sight.text, sight.output, sight.looks) == ("0", "yes (90\u202f%)", ["nodes to nodes"])
    looks = sight.between()
    assert looks.manner == "edges"
    numbers = drawing_of(looks, DrawingRequest()).numbers()
    assert [node["name"] for node in numbers["nodes"]] == ["a", "b"]
    assert numbers["blocks"][0]["weights"] == [[0.25, 0.75]]


def test_windows_on_a_picture() -> None:
    numbers = drawing_of(see_answer(Toy("windows"), "six.png").between(), DrawingRequest()).numbers()
    assert numbers["title"] == "six.png: yes (90\u202f%)"
    assert numbers["steps"] == ["glimpse 1", "glimpse 2"]
    assert numbers["centres"] == [[3, 2], [1, 1]]


def test_weights_over_the_cells_of_a_picture() -> None:
    numbers = drawing_of(see_answer(Toy("cells"), "six.png").between(), DrawingRequest()).numbers()
    assert numbers["grid"] == [2, 3]
    assert np.array(numbers["blocks"][0]["weights"]) == pytest.approx(np.full((1, 2, 6), 1 / 6))


def test_who_looks_at_nothing_says_so() -> None:
    with pytest.raises(Fault, match="This model has no attention, so there is nothing to look at"):
        see_answer(Toy("nothing"), "six.png").between()


def test_blocks_that_look_along_other_edges_are_not_drawn_together() -> None:
    sight = see_answer(Toy("edges"), "0")
    (gaze,) = sight.gazes
    other: Tensor = EDGES.flip(0)
    sight.gazes.append(type(gaze)("next", "nodes", "nodes", gaze.weights, other))
    with pytest.raises(Fault, match="have different edges"):
        Sight("0", "yes", [], sight.sides, sight.gazes).between()
