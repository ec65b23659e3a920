"""Reports on heads over the batches of any task: sums, and tasks without heads."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention.watch import note, note_edges, note_window
from regard.base.faults import Fault
from regard.seeing.head_reports import inspect_batches

EDGES = torch.tensor([[0, 0, 1], [0, 1, 1]])


class Looker(nn.Module):
    looks_from, looks_at = "words", "words"

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def forward(self, weights: Tensor) -> None:
        if self.how == "edges":
            note_edges(self, "nodes", "nodes", weights, EDGES, 2)
        elif self.how == "windows":
            note_window(self, "glimpses", "picture", torch.zeros(1, 1, 2), torch.ones(1, 1, 1))
        else:
            note(self, "words", "words", weights)


class Toy(nn.Module):
    """Task whose batches are its attention weights."""

    def __init__(self, how: str = "weights") -> None:
        super().__init__()
        self.model: nn.Module = Looker(how) if how else nn.Linear(1, 1)

    def measure(self, batch: Tensor) -> dict[str, Any]:
        self.model(batch)
        return {}

    def extents(self, batch: Tensor) -> dict[str, Tensor]:
        return {"words": torch.full((len(batch),), batch.shape[-1])}


def test_batches_of_looks_between_words_add_up() -> None:
    sharp, even = torch.eye(2)[None, None], torch.full((1, 1, 2, 2), 0.5)
    (head,) = inspect_batches(Toy(), [sharp, even])
    assert head.looks == 4
    assert head.entropy == pytest.approx(math.log(2) / 2)


def test_looks_along_edges_have_no_diagonal() -> None:
    (head,) = inspect_batches(Toy("edges"), [torch.tensor([[[0.5, 0.5, 1.0]]])])
    assert head.entropy == pytest.approx(math.log(2) / 2)
    assert math.isnan(head.diagonal)


def test_who_has_no_heads_says_so() -> None:
    with pytest.raises(Fault, match="no attention, so it has no heads"):
        inspect_batches(Toy(""), [torch.ones(1, 1)])
    with pytest.raises(Fault, match=r"looks through windows instead of heads, so there are no heads to report on"):
        inspect_batches(Toy("windows"), [torch.ones(1, 1)])
    with pytest.raises(Fault, match="There is nothing to watch"):
        inspect_batches(Toy(), [])
