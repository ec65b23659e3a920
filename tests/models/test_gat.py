"""Graph attention: formulas by hand, parity with PyTorch Geometric, stacks of members, and options."""

import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from regard.attention.edges import Edges
from regard.attention.watch import watching
from regard.models.gat import GAT, GATOptions, Graph, GraphAttention
from regard.models.sparse import SparseTable

NODES, DEPTH = 12, 5


def random_edges(nodes: int = NODES) -> tuple[torch.Tensor, torch.Tensor]:
    """Return directed edges without loops, as sources and targets. The last node has no edge."""
    looks = torch.rand(nodes, nodes) < 0.3
    looks.fill_diagonal_(False)
    looks[-1], looks[:, -1] = False, False
    looks_from, looks_at = looks.nonzero().unbind(1)
    return looks_from, looks_at


def geometric_layer(version: str, heads: int, join: str) -> nn.Module:
    """Return a layer of PyTorch Geometric, which takes more than a second to import."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch_geometric 2.8 compiles classes at import in a deprecated way
        from torch_geometric.nn import GATConv, GATv2Conv
    kind = {"gat": GATConv, "gatv2": GATv2Conv}[version]
    return kind(DEPTH, 4, heads=heads, concat=join == "concat").double()


def with_loops(looks_from: torch.Tensor, looks_at: torch.Tensor, nodes: int = NODES) -> Edges:
    loops = torch.arange(nodes)
    return Edges.among(nodes, torch.cat([looks_from, loops]), torch.cat([looks_at, loops]))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("join", ["concat", "mean"])
@pytest.mark.parametrize("version", ["gat", "gatv2"])
def test_a_layer_is_that_of_pytorch_geometric(version: str, join: str) -> None:
    torch.manual_seed(4)
    looks_from, looks_at = random_edges()
    inputs = torch.randn(NODES, DEPTH, dtype=torch.double, requires_grad=True)
    layer = GraphAttention(1, DEPTH, heads=3, width=4, version=version, join=join).double()
    theirs = geometric_layer(version, heads=3, join=join)
    with torch.no_grad():
        theirs.bias.normal_()
        layer.bias.copy_(theirs.bias)
        if version == "gat":
            layer.weight.copy_(theirs.lin.weight.T)
            layer.score.u.copy_(theirs.att_src)
            layer.score.v.copy_(theirs.att_dst)
        else:
            layer.weight.copy_(theirs.lin_l.weight.T)
            layer.score.own_weight.copy_(theirs.lin_r.weight.T)
            layer.score.a.copy_(theirs.att)
            for added in (theirs.lin_l, theirs.lin_r):  # biases that the paper lacks
                nn.init.zeros_(added.bias)
    ours = layer(inputs, with_loops(looks_from, looks_at))[0]
    reference = theirs(inputs, torch.stack([looks_at, looks_from]))
    torch.testing.assert_close(ours, reference)
    pull = torch.randn_like(reference)
    torch.testing.assert_close(torch.autograd.grad(ours, inputs, pull), torch.autograd.grad(reference, inputs, pull))


def test_a_look_on_paper() -> None:
    """Two nodes see each other, W = 1, u = 1, v = 0: both score node 0 as 1 and node 1 as LeakyReLU(-5) = -1."""
    layer = GraphAttention(1, 1, heads=1, width=1)
    with torch.no_grad():
        layer.weight.fill_(1.0)
        layer.score.u.fill_(1.0)
        layer.score.v.fill_(0.0)
    edges = with_loops(torch.tensor([0, 1]), torch.tensor([1, 0]), nodes=2)
    with watching(layer) as gazes:
        result = layer(torch.tensor([[[1.0], [-5.0]]]), edges)
    share = torch.tensor([1.0, -1.0]).softmax(0)
    torch.testing.assert_close(result.flatten(), (share[0] * 1.0 + share[1] * -5.0).expand(2))
    torch.testing.assert_close(gazes[0].weights, share.repeat(2)[None, None])


def small_graph(sparse: bool = False) -> Graph:
    torch.manual_seed(5)
    features = torch.rand(NODES, DEPTH) * (torch.rand(NODES, DEPTH) < 0.5)
    edges = with_loops(*random_edges())
    if not sparse:
        return Graph(features, edges)
    starts = torch.cat([torch.zeros(1, dtype=torch.long), (features != 0).sum(1).cumsum(0)])
    return Graph(SparseTable.of(features[features != 0], features.nonzero()[:, 1], starts, DEPTH), edges)


@pytest.mark.parametrize("version", ["gat", "gatv2"])
def test_sparse_features_give_what_dense_ones_give(version: str) -> None:
    network = GAT(GATOptions(version=version, layers=3), DEPTH, 4, seeds=[1, 2]).eval()
    torch.testing.assert_close(network(small_graph(sparse=True).repeat(2)), network(small_graph().repeat(2)))


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("version", ["gat", "gatv2"])
def test_a_stack_of_three_is_three_alone(version: str, sparse: bool) -> None:
    """They share first weights and, without dropout, outputs and training."""
    options = GATOptions(version=version, dropout=0.0, weight_dropout=0.0)
    graph, labels = small_graph(sparse), torch.arange(NODES) % 4
    stack = GAT(options, DEPTH, 4, seeds=[7, 8, 9])
    alone = [GAT(options, DEPTH, 4, seeds=[seed]) for seed in (7, 8, 9)]
    for name, parameter in stack.named_parameters():
        assert torch.equal(parameter, torch.cat([dict(one.named_parameters())[name] for one in alone]))
    for network in (stack, *alone):
        optimiser, copies = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=5e-4), network.members
        for _ in range(3):
            logits = network(graph.repeat(copies)).flatten(0, 1)
            optimiser.zero_grad()
            F.cross_entropy(logits, labels.repeat(copies), reduction="sum").backward()
            optimiser.step()
    torch.testing.assert_close(stack(graph.repeat(3)), torch.cat([one(graph) for one in alone]))


def test_members_draw_dropout_of_their_own() -> None:
    network = GAT(GATOptions(), DEPTH, 4, seeds=[7, 7, 7])  # the same weights three times
    for sparse in (True, False):
        first, second, third = network(small_graph(sparse).repeat(3))
        assert not torch.equal(first, second)
        assert not torch.equal(second, third)


def test_a_node_sees_as_far_as_there_are_layers() -> None:
    """On a path 0 - 1 - 2 - 3, node 0 depends on node 2 with two layers, and on node 3 only with three."""
    chain = torch.arange(3)
    edges = with_loops(torch.cat([chain, chain + 1]), torch.cat([chain + 1, chain]), nodes=4)
    for layers, far in ((1, 1), (2, 2), (3, 3)):
        features = torch.rand(4, DEPTH, requires_grad=True)
        network = GAT(GATOptions(layers=layers), DEPTH, 2, seeds=[3]).eval()
        network(Graph(features, edges))[0, 0].sum().backward()
        assert features.grad is not None
        assert features.grad.abs().sum(1).gt(0).tolist() == [node <= far for node in range(4)]


def test_batch_mates_and_watchers_change_nothing() -> None:
    network = GAT(GATOptions(), DEPTH, 4, seeds=[1, 2]).eval()
    graph = small_graph().repeat(2)
    plain = network(graph)
    with watching(network) as gazes:
        assert torch.equal(network(graph), plain)
    assert [gaze.where for gaze in gazes] == ["layers.0", "layers.1"]
    assert [tuple(gaze.weights.shape[:2]) for gaze in gazes] == [(2, 8), (2, 1)]
    for gaze in gazes:
        assert gaze.edges is not None
        sums = torch.zeros(2, gaze.weights.shape[1], NODES).index_add_(2, gaze.edges[0], gaze.weights)
        torch.testing.assert_close(sums, torch.ones_like(sums))  # every node sees at least itself


@pytest.mark.parametrize(
    "change",
    [{"version": "gatv2"}, {"layers": 3}, {"heads": 2}, {"width": 3}, {"last_heads": 4}, {"dropout": 0.1},
     {"weight_dropout": 0.1}, {"value_dropout": 0.1}],
)  # fmt: skip
def test_every_option_changes_something(change: dict[str, object]) -> None:
    def outputs(options: GATOptions) -> torch.Tensor:
        network = GAT(options, DEPTH, 4, seeds=[1])
        torch.manual_seed(6)
        return network(small_graph())

    assert not torch.equal(outputs(GATOptions()), outputs(GATOptions(**change)))
