"""Reports on heads over the batches of any task: sums, and tasks without heads."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention.watch import note, note_edges, note_window
from regard.base.faults import Fault
from regard.seeing.head_reports import inspect_batches
from regard.seeing.head_roles import batch_roles

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


def test_roles_by_position_need_no_links() -> None:
    """One head always looks back, the other at itself; the first place has nothing before it."""
    back = torch.tensor([[1.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    found = batch_roles(Toy(), [torch.stack([back, torch.eye(3)])[None]] * 2)
    roles = {role.role: role for role in found.roles}
    assert list(roles) == ["previous token", "itself", "long range"]  # nobody looks ahead: there is no next token
    assert [head.strongest for head in roles["previous token"].heads] == [1, 0]
    assert [head.weight for head in roles["itself"].heads] == pytest.approx([1 / 3, 1])
    assert (roles["previous token"].best.head, roles["itself"].best.head, found.sentences) == (1, 2, 2)
    assert roles["long range"].best.strongest == pytest.approx(2 / 3)
    assert roles["long range"].alone == pytest.approx((0 + 1 / 2 + 1) / 3)


class Piecewise(Toy):
    """It measures a batch one row at a time."""

    def measure(self, batch: Tensor) -> dict[str, Any]:
        for row in batch.split(1):
            self.model(row)
        return {}


def test_a_batch_that_is_measured_in_pieces_counts_like_a_whole_one() -> None:
    weights = torch.stack([torch.eye(3).flip(0), torch.full((3, 3), 1 / 3)])[:, None]
    assert inspect_batches(Piecewise(), [weights]) == inspect_batches(Toy(), [weights])
    assert batch_roles(Piecewise(), [weights]) == batch_roles(Toy(), [weights])


class Twice(Toy):
    """It reads a batch twice, as one that measures two things separately."""

    def measure(self, batch: Tensor) -> dict[str, Any]:
        self.model(batch)
        return super().measure(batch)


def test_a_batch_that_is_read_twice_has_the_heads_of_one_that_is_read_once() -> None:
    weights = torch.stack([torch.eye(3).flip(0), torch.full((3, 3), 1 / 3)])[:, None]
    (once,), (twice,) = inspect_batches(Toy(), [weights]), inspect_batches(Twice(), [weights])
    assert (twice.entropy, twice.entropy_share, twice.diagonal) == (once.entropy, once.entropy_share, once.diagonal)


def test_a_graph_and_a_single_sentence_have_no_roles() -> None:
    with pytest.raises(Fault, match="Roles need at least two sentences whose tokens look at each other"):
        batch_roles(Toy("edges"), [torch.tensor([[[0.5, 0.5, 1.0]]])] * 2)
    with pytest.raises(Fault, match="Roles need at least two sentences"):
        batch_roles(Toy(), [torch.full((1, 1, 2, 2), 0.5)])
    with pytest.raises(Fault, match="no attention, so it has no heads"):
        batch_roles(Toy(""), [torch.ones(1, 1)])
