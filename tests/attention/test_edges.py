"""Attention along edges: answers computed by hand, agreement with dense attention, gradients, and watching."""

import math

import pytest
import torch
from torch import Tensor, nn

from regard.attention.edges import Edges, edge_softmax, mix_along_edges
from regard.attention.normalisers import softmax
from regard.attention.watch import Gaze, note_edges, watching
from regard.base.faults import Fault


@pytest.fixture
def edges() -> Edges:
    """Return unordered edges: node 0 looks at 1 and 2, node 1 at itself, node 2 at 0, and node 3 nowhere."""
    return Edges.among(4, torch.tensor([2, 0, 1, 0]), torch.tensor([0, 2, 1, 1]))


def test_edges_are_sorted_by_the_node_that_looks(edges: Edges) -> None:
    assert edges.looks_from.tolist() == [0, 0, 1, 2]
    assert edges.looks_at.tolist() == [1, 2, 1, 0]
    assert edges.starts.tolist() == [0, 2, 3, 4, 4]
    assert edges.looks_at[edges.order].tolist() == [0, 1, 1, 2]
    assert edges.order_starts.tolist() == [0, 1, 3, 4, 4]
    assert (edges.nodes, len(edges)) == (4, 4)


def test_the_softmax_of_zero_and_one_is_one_and_e(edges: Edges) -> None:
    weights = edge_softmax(torch.tensor([[0.0], [1.0], [7.0], [-3.0]], dtype=torch.double), edges)
    expected = [1 / (1 + math.e), math.e / (1 + math.e), 1.0, 1.0]
    torch.testing.assert_close(weights.squeeze(1), torch.tensor(expected, dtype=torch.double))


def test_huge_scores_do_not_overflow(edges: Edges) -> None:
    weights = edge_softmax(torch.tensor([[1e38], [-1e38], [1e38], [-1e38]]), edges)
    assert weights.squeeze(1).tolist() == [1.0, 0.0, 1.0, 1.0]


def test_a_node_without_edges_finds_zero_and_has_no_gradient_of_nan(edges: Edges) -> None:
    scores = torch.randn(4, 2, requires_grad=True)
    values = torch.randn(4, 2, 3, requires_grad=True)
    context = mix_along_edges(edge_softmax(scores, edges), values, edges)
    context.sum().backward()
    assert (context[3] == 0).all()
    assert scores.grad is not None
    assert values.grad is not None
    assert scores.grad.isfinite().all()
    assert (values.grad[3] == 0).all()  # no node looks at node 3


def test_a_mix_on_paper(edges: Edges) -> None:
    weights = torch.tensor([[0.25], [0.75], [1.0], [1.0]])
    values = torch.tensor([[[1.0, 10.0]], [[2.0, 20.0]], [[4.0, 40.0]], [[8.0, 80.0]]])
    context = mix_along_edges(weights, values, edges)
    assert context.squeeze(1).tolist() == [[3.5, 35.0], [2.0, 20.0], [1.0, 10.0], [0.0, 0.0]]


def test_edges_and_a_dense_mask_give_the_same_values_and_gradients() -> None:
    torch.manual_seed(1)
    nodes, heads = 9, 3
    mask = torch.rand(nodes, nodes) < 0.4
    looks_from, looks_at = mask.nonzero().unbind(1)
    edges = Edges.among(nodes, looks_from, looks_at)
    scores = torch.randn(heads, nodes, nodes, dtype=torch.double, requires_grad=True)
    values = torch.randn(nodes, heads, 5, dtype=torch.double, requires_grad=True)
    dense = (softmax(scores, mask) @ values.transpose(0, 1)).transpose(0, 1)
    along = mix_along_edges(edge_softmax(scores[:, edges.looks_from, edges.looks_at].T, edges), values, edges)
    torch.testing.assert_close(along, dense)
    pull = torch.randn_like(dense)
    torch.testing.assert_close(
        torch.autograd.grad(along, [scores, values], pull), torch.autograd.grad(dense, [scores, values], pull)
    )


def test_gradients_are_those_of_differences(edges: Edges) -> None:
    torch.manual_seed(2)
    scores = torch.randn(4, 2, dtype=torch.double, requires_grad=True)
    values = torch.randn(4, 2, 3, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s, v: mix_along_edges(edge_softmax(s, edges), v, edges), (scores, values))


def test_copies_stand_side_by_side_without_an_edge_between_them(edges: Edges) -> None:
    twice = edges.repeat(2)
    by_hand = Edges.among(
        8, torch.cat([edges.looks_from, edges.looks_from + 4]), torch.cat([edges.looks_at, edges.looks_at + 4])
    )
    assert all(torch.equal(getattr(twice, name), getattr(by_hand, name)) for name in vars(by_hand))
    assert edges.repeat(1) is edges


class _Looker(nn.Module):
    looks_from, looks_at = "nodes", "nodes"

    def forward(self, weights: Tensor, edges: Edges) -> None:
        both = torch.stack([edges.looks_from, edges.looks_at])
        note_edges(self, self.looks_from, self.looks_at, weights, both, edges.nodes)


def _gaze(weights: Tensor, edges: Edges, **wanted: object) -> Gaze:
    looker = _Looker()
    with watching(looker, **wanted) as gazes:  # type: ignore[arg-type]
        looker(weights, edges)
    (gaze,) = gazes
    return gaze


def test_a_gaze_along_edges_carries_them(edges: Edges) -> None:
    weights = torch.rand(3, 2, 4)  # batch, head, edge
    gaze = _gaze(weights, edges)
    assert torch.equal(gaze.weights, weights)
    assert gaze.edges is not None
    assert gaze.edges.tolist() == [[0, 0, 1, 2], [1, 2, 1, 0]]


def test_rows_and_nodes_that_look_can_be_chosen(edges: Edges) -> None:
    weights = torch.rand(3, 2, 4)
    gaze = _gaze(weights, edges, rows=[-1], queries=[0, 2])
    assert torch.equal(gaze.weights, weights[2:, :, [0, 1, 3]])
    assert gaze.edges is not None
    assert gaze.edges.tolist() == [[0, 0, 2], [1, 2, 0]]


def test_more_edges_than_may_be_kept_are_refused(edges: Edges) -> None:
    with pytest.raises(Fault, match=r"would keep 96 bytes of weights \(3 rows, 2 heads, 4 edges\)"):
        _gaze(torch.rand(3, 2, 4), edges, limit=50)
