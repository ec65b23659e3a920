"""Graph attention networks (Veličković et al. 2018): a node looks at its neighbours and at itself.

Several members, each with weights of its own, may be trained side by side: every parameter has a leading axis `member`,
and the graph stands there once for each. No member sees anything of another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from regard.attention.edges import Edges, edge_softmax, mix_along_edges
from regard.attention.watch import is_watched, note_edges
from regard.base.recipe import Options
from regard.models.parts import draw_members
from regard.models.sparse import SparseTable

SLOPE = 0.2  # of LeakyReLU below zero, in both papers

Version = Literal["gat", "gatv2"]
States = Float[Tensor, "member node depth"]


class GATOptions(Options):
    """Options of a graph attention network; the defaults are those of the paper's text for Cora and Citeseer."""

    version: Version = Field("gat", description="How an edge is scored: 'gat', or 'gatv2' of Brody et al. 2022.")
    layers: int = Field(2, ge=1, description="How many layers; a node sees as many edges far.")
    heads: int = Field(8, ge=1, description="Heads of every layer but the last; what they find is concatenated.")
    width: int = Field(8, ge=1, description="Width of each of these heads.")
    last_heads: int = Field(1, ge=1, description="Heads of the last layer; what they find is averaged.")
    dropout: float = Field(0.6, ge=0, lt=1, description="Dropout of the features that enter a layer.")
    weight_dropout: float = Field(0.6, ge=0, lt=1, description="Dropout of the attention weights.")
    value_dropout: float = Field(
        0.0, ge=0, lt=1, description="Dropout of the W h that are mixed; the authors' code has it, their text not."
    )


@dataclass(frozen=True)
class Graph:
    """Nodes with their features and edges; for a stack of members as many copies of it side by side."""

    features: Float[Tensor, "node depth"] | SparseTable
    edges: Edges

    @property
    def depth(self) -> int:
        return self.features.shape[1]

    def to(self, device: torch.device | str) -> "Graph":
        return Graph(self.features.to(device), self.edges.to(device))

    def repeat(self, members: int) -> "Graph":
        """The graph for a stack of members. Dense features are the same tensor for all of them."""
        features = self.features.repeat(members) if isinstance(self.features, SparseTable) else self.features
        return Graph(features, self.edges.repeat(members))


class GAT(nn.Module):
    """Graph attention layers: ELU of all heads concatenated between them, the heads' average at the end.

    The last σ of the paper, a softmax, is left to the loss: logits come out.
    """

    def __init__(self, options: GATOptions, features: int, classes: int, seeds: Sequence[int] = (0,)) -> None:
        """One member for each of the `seeds`, with the same weights whether it is alone or in a stack."""
        super().__init__()
        self.options, self.members = options, len(seeds)
        inner = options.heads * options.width
        depths = [features, *[inner] * (options.layers - 1)]
        layers = [
            GraphAttention(
                self.members,
                depth,
                heads=options.last_heads if is_last else options.heads,
                width=classes if is_last else options.width,
                version=options.version,
                dropout=options.dropout,
                weight_dropout=options.weight_dropout,
                value_dropout=options.value_dropout,
                join="mean" if is_last else "concat",
            )
            for depth, is_last in zip(depths, [*[False] * (options.layers - 1), True], strict=True)
        ]
        self.layers = nn.ModuleList(layers)
        draw_members(seeds, *(layer.draw for layer in layers))

    def forward(self, graph: Graph) -> Float[Tensor, "member node class"]:
        """The logits of every node for each member; `graph` is repeated once for each of them."""
        first, *others = self.layers
        states = first(graph.features, graph.edges)
        for layer in others:
            states = layer(F.elu(states), graph.edges)
        return states

    def cost(self, graph: Graph) -> dict[str, int]:
        """Return the cost of one member's pass over its graph: multiplications, and the weights of all heads."""
        first, nodes, edges = graph.features, graph.edges.nodes, len(graph.edges)
        entries = len(first.values) if isinstance(first, SparseTable) else first.numel()
        projecting = looking = weights = 0
        for layer in self.layers:
            assert isinstance(layer, GraphAttention)
            width = layer.heads * layer.width
            projecting += layer.score.projections * entries * width
            looking += (edges + layer.score.products(nodes, edges)) * width
            weights += edges * layer.heads
            entries = nodes * width
        return {
            "multiplications": projecting + looking,
            "of_them_for_looking": looking,
            "attention_weights": weights,
        }


class GraphAttention(nn.Module):
    """One layer of heads, each: c_t = Σ_i α_ti W h_i, with α the softmax over t and its neighbours of their scores."""

    looks_from, looks_at = "nodes", "nodes"

    def __init__(
        self,
        members: int,
        depth: int,
        *,
        heads: int,
        width: int,
        version: Version = "gat",
        dropout: float = 0.0,
        weight_dropout: float = 0.0,
        value_dropout: float = 0.0,
        join: Literal["concat", "mean"] = "concat",
    ) -> None:
        super().__init__()
        self.members, self.heads, self.width, self.join = members, heads, width, join
        self.dropout, self.weight_dropout, self.value_dropout = dropout, weight_dropout, value_dropout
        self.weight = nn.Parameter(torch.empty(members, depth, heads * width))
        self.score = SCORES[version](members, depth, heads, width)
        self.bias = nn.Parameter(torch.zeros(members, heads * width if join == "concat" else width))

    def draw(self, member: int, generator: torch.Generator) -> None:
        """Draw the first weights of a member; Glorot's, of each head as if it were alone."""
        _draw_glorot(self.weight[member], self.weight.shape[1], self.width, generator)
        self.score.draw(member, generator)

    def forward(
        self, inputs: States | Float[Tensor, "node depth"] | SparseTable, edges: Edges
    ) -> Float[Tensor, "member node found"]:
        """Return the output of every node, heads concatenated or averaged; `edges` are those of all members' copies."""
        inputs = self._drop(inputs)
        values = _multiply(inputs, self.weight).unflatten(-1, (self.heads, self.width))
        weights = edge_softmax(self.score(inputs, values, edges), edges)
        self._note(weights, edges)
        weights = F.dropout(weights, self.weight_dropout, self.training)
        values = F.dropout(values, self.value_dropout, self.training)
        found = mix_along_edges(weights, values.flatten(0, 1), edges).unflatten(0, (self.members, -1))
        joined = found.flatten(-2) if self.join == "concat" else found.mean(-2)
        return joined + self.bias[:, None]

    def _drop(self, inputs: Tensor | SparseTable) -> Tensor | SparseTable:
        """The inputs after dropout, drawn for each member by itself."""
        if isinstance(inputs, SparseTable):
            return inputs.drop(self.dropout) if self.training and self.dropout else inputs
        return F.dropout(inputs.expand(self.members, -1, -1), self.dropout, self.training)

    def _note(self, weights: Float[Tensor, "edge head"], edges: Edges) -> None:
        """Tell a watcher, if there is one; the edges of the first copy stand for those of all."""
        if not is_watched(self):
            return
        count = len(edges) // self.members
        by_member = weights.unflatten(0, (self.members, count)).transpose(1, 2)
        looks = torch.stack([edges.looks_from[:count], edges.looks_at[:count]])
        note_edges(self, self.looks_from, self.looks_at, by_member, looks, edges.nodes // self.members)


class StaticScore(nn.Module):
    """e_ti = LeakyReLU(u·W h_i + v·W h_t), equation 3 of Veličković et al. 2018, their vector a cut in two.

    The neighbour that is scored highest is the same for all nodes that see it, which Brody et al. 2022 call static.
    """

    projections = 1  # of the inputs by a matrix, that of the values counted

    def __init__(self, members: int, depth: int, heads: int, width: int) -> None:
        super().__init__()
        self.u = nn.Parameter(torch.empty(members, heads, width))
        self.v = nn.Parameter(torch.empty(members, heads, width))

    def draw(self, member: int, generator: torch.Generator) -> None:
        for vector in (self.u, self.v):
            _draw_glorot(vector[member], vector.shape[-1], 1, generator)

    def products(self, nodes: int, edges: int) -> int:
        """Return the number of products of vectors with vectors of the score."""
        return 2 * nodes

    def forward(
        self, inputs: Tensor | SparseTable, values: Float[Tensor, "member node head width"], edges: Edges
    ) -> Float[Tensor, "edge head"]:
        neighbour, own = ((values * vector[:, None]).sum(-1).flatten(0, 1) for vector in (self.u, self.v))
        return F.leaky_relu(edges.of_places(neighbour) + edges.of_lookers(own), SLOPE)


class DynamicScore(nn.Module):
    """e_ti = a·LeakyReLU(W h_i + W' h_t), equation 7 of Brody et al. 2022: the ranking may differ from node to node."""

    projections = 2

    def __init__(self, members: int, depth: int, heads: int, width: int) -> None:
        super().__init__()
        self.own_weight = nn.Parameter(torch.empty(members, depth, heads * width))
        self.a = nn.Parameter(torch.empty(members, heads, width))

    def draw(self, member: int, generator: torch.Generator) -> None:
        _draw_glorot(self.own_weight[member], self.own_weight.shape[1], self.a.shape[-1], generator)
        _draw_glorot(self.a[member], self.a.shape[-1], 1, generator)

    def products(self, nodes: int, edges: int) -> int:
        return edges

    def forward(
        self, inputs: Tensor | SparseTable, values: Float[Tensor, "member node head width"], edges: Edges
    ) -> Float[Tensor, "edge head"]:
        own = _multiply(inputs, self.own_weight).view_as(values)
        both = F.leaky_relu(edges.of_places(values.flatten(0, 1)) + edges.of_lookers(own.flatten(0, 1)), SLOPE)
        members = len(self.a)
        return (both.unflatten(0, (members, -1)) * self.a[:, None]).sum(-1).flatten(0, 1)


SCORES: dict[Version, Callable[[int, int, int, int], StaticScore | DynamicScore]] = {
    "gat": StaticScore,
    "gatv2": DynamicScore,
}


def _multiply(
    inputs: States | SparseTable, weight: Float[Tensor, "member depth width"]
) -> Float[Tensor, "member node width"]:
    """The inputs of each member times its own weight."""
    if isinstance(inputs, SparseTable):
        return inputs.times(weight.flatten(0, 1)).unflatten(0, (len(weight), -1))
    return inputs @ weight


@torch.no_grad()
def _draw_glorot(parameter: Tensor, incoming: int, outgoing: int, generator: torch.Generator) -> None:
    """Fill with Glorot's uniform numbers."""
    parameter.uniform_(-(bound := sqrt(6 / (incoming + outgoing))), bound, generator=generator)
