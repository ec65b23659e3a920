"""Graph attention networks (Veličković et al. 2018): a node looks at its neighbours and at itself.

Several members, each with its own weights, may be trained side by side: every parameter has a leading axis `member`,
and the graph is repeated once per member. Members do not see each other.
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

from regard.attention.edge_edits import edited_edges
from regard.attention.edges import Edges, edge_softmax, mix_along_edges
from regard.attention.editing import is_edited
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
    layers: int = Field(2, ge=1, description="Number of layers; a node sees as many edges away.")
    heads: int = Field(8, ge=1, description="Heads of every layer but the last; their outputs are concatenated.")
    width: int = Field(8, ge=1, description="Width of each of these heads.")
    last_heads: int = Field(1, ge=1, description="Heads of the last layer; their outputs are averaged.")
    dropout: float = Field(0.6, ge=0, lt=1, description="Dropout on the inputs of each layer.")
    weight_dropout: float = Field(0.6, ge=0, lt=1, description="Dropout on the attention weights.")
    value_dropout: float = Field(
        0.0, ge=0, lt=1, description="Dropout on the values W h; in the authors' code, not in their text."
    )


@dataclass(frozen=True)
class Graph:
    """Nodes with their features and edges; a stack of members uses as many copies side by side."""

    features: Float[Tensor, "node depth"] | SparseTable
    edges: Edges

    @property
    def depth(self) -> int:
        return self.features.shape[1]

    def to(self, device: torch.device | str) -> "Graph":
        return Graph(self.features.to(device), self.edges.to(device))

    def repeat(self, members: int) -> "Graph":
        """Return the graph for a stack of members; dense features are one tensor shared by all."""
        features = self.features.repeat(members) if isinstance(self.features, SparseTable) else self.features
        return Graph(features, self.edges.repeat(members))


class GAT(nn.Module):
    """Graph attention layers: ELU of the concatenated heads between them, the heads' average at the end.

    The paper's last σ, a softmax, is left to the loss: the outputs are logits.
    """

    def __init__(self, options: GATOptions, features: int, classes: int, seeds: Sequence[int] = (0,)) -> None:
        """Build one member for each of the `seeds`, with the same weights alone as in a stack."""
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
        """Return the logits of every node for each member; `graph` is repeated once per member."""
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
    """One layer of heads: c_t = Σ_i α_ti W h_i, with α the softmax of the scores of t and its neighbours."""

    looks_from, looks_at = "nodes", "nodes"
    edits = ("weights",)

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
        """Initialise a member's weights by Glorot's method, each head as if it were alone."""
        _draw_glorot(self.weight[member], self.weight.shape[1], self.width, generator)
        self.score.draw(member, generator)

    def forward(
        self, inputs: States | Float[Tensor, "node depth"] | SparseTable, edges: Edges
    ) -> Float[Tensor, "member node found"]:
        """Return the output of every node, heads concatenated or averaged; `edges` covers all members' copies."""
        inputs = self._drop(inputs)
        values = _multiply(inputs, self.weight).unflatten(-1, (self.heads, self.width))
        weights = self._edit(edge_softmax(self.score(inputs, values, edges), edges), edges)
        self._note(weights, edges)
        weights = F.dropout(weights, self.weight_dropout, self.training)
        values = F.dropout(values, self.value_dropout, self.training)
        mixed = mix_along_edges(weights, values.flatten(0, 1), edges).unflatten(0, (self.members, -1))
        joined = mixed.flatten(-2) if self.join == "concat" else mixed.mean(-2)
        return joined + self.bias[:, None]

    def _drop(self, inputs: Tensor | SparseTable) -> Tensor | SparseTable:
        """Apply dropout to the inputs, independently for each member."""
        if isinstance(inputs, SparseTable):
            return inputs.drop(self.dropout) if self.training and self.dropout else inputs
        return F.dropout(inputs.expand(self.members, -1, -1), self.dropout, self.training)

    def _note(self, weights: Float[Tensor, "edge head"], edges: Edges) -> None:
        """Note the weights for watchers, if any; the edges of the first copy stand for all."""
        if is_watched(self):
            by_member, looks = self._by_member(weights, edges)
            note_edges(self, self.looks_from, self.looks_at, by_member, looks, edges.nodes // self.members)

    def _edit(self, weights: Float[Tensor, "edge head"], edges: Edges) -> Float[Tensor, "edge head"]:
        """Return the weights as edited; a member is a row."""
        if not is_edited(self, "weights"):
            return weights
        by_member, looks = self._by_member(weights, edges)
        edited = edited_edges(self, by_member, looks, edges.nodes // self.members)
        return edited.transpose(1, 2).flatten(0, 1)

    def _by_member(self, weights: Float[Tensor, "edge head"], edges: Edges) -> tuple[Tensor, Tensor]:
        """Return the weights (member, head, edge), and the edges of the first member's copy of the graph."""
        count = len(edges) // self.members
        looks = torch.stack([edges.looks_from[:count], edges.looks_at[:count]])
        return weights.unflatten(0, (self.members, count)).transpose(1, 2), looks


class StaticScore(nn.Module):
    """e_ti = LeakyReLU(u·W h_i + v·W h_t), equation 3 of Veličković et al. 2018, with their vector a cut in two.

    All nodes rank their neighbours alike, which Brody et al. 2022 call static attention.
    """

    projections = 1  # products of the inputs with a matrix, that of the values included

    def __init__(self, members: int, depth: int, heads: int, width: int) -> None:
        super().__init__()
        self.u = nn.Parameter(torch.empty(members, heads, width))
        self.v = nn.Parameter(torch.empty(members, heads, width))

    def draw(self, member: int, generator: torch.Generator) -> None:
        for vector in (self.u, self.v):
            _draw_glorot(vector[member], vector.shape[-1], 1, generator)

    def products(self, nodes: int, edges: int) -> int:
        """Return the number of vector products in the score."""
        return 2 * nodes

    def forward(
        self, inputs: Tensor | SparseTable, values: Float[Tensor, "member node head width"], edges: Edges
    ) -> Float[Tensor, "edge head"]:
        neighbour, looker = ((values * vector[:, None]).sum(-1).flatten(0, 1) for vector in (self.u, self.v))
        return F.leaky_relu(edges.of_places(neighbour) + edges.of_lookers(looker), SLOPE)


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
        lookers = _multiply(inputs, self.own_weight).view_as(values)
        both = F.leaky_relu(edges.of_places(values.flatten(0, 1)) + edges.of_lookers(lookers.flatten(0, 1)), SLOPE)
        members = len(self.a)
        return (both.unflatten(0, (members, -1)) * self.a[:, None]).sum(-1).flatten(0, 1)


SCORES: dict[Version, Callable[[int, int, int, int], StaticScore | DynamicScore]] = {
    "gat": StaticScore,
    "gatv2": DynamicScore,
}


def _multiply(
    inputs: States | SparseTable, weight: Float[Tensor, "member depth width"]
) -> Float[Tensor, "member node width"]:
    """Multiply the inputs of each member by its own weight."""
    if isinstance(inputs, SparseTable):
        return inputs.times(weight.flatten(0, 1)).unflatten(0, (len(weight), -1))
    return inputs @ weight


@torch.no_grad()
def _draw_glorot(parameter: Tensor, incoming: int, outgoing: int, generator: torch.Generator) -> None:
    """Fill the parameter with Glorot's uniform numbers."""
    parameter.uniform_(-(bound := sqrt(6 / (incoming + outgoing))), bound, generator=generator)
