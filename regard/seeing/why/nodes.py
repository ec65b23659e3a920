"""Questions to graph networks: the features of which nodes made it give this node its class?"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from regard.attention.edges import Edges
from regard.loading import Loaded
from regard.models.gat import Graph
from regard.models.sparse import SparseTable
from regard.seeing.gazes import see_answer
from regard.seeing.why.decision import Question, chosen_class, refuse_place, units_left
from regard.tasks.nodes.task import tensors_of


def ask_node(model: Loaded, item: Any, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a node has its class; units are all nodes that can reach it through the layers."""
    task, network = model.task, model.task.model
    refuse_place(place, word, "one class for a node")
    batch = task.read([item])
    answer = task.answers(batch)[0]
    classes = task.graph.classes
    number = chosen_class(classes, output, list(classes).index(answer.answer))
    node, one = int(batch.nodes[0]), _one_graph(task)
    reached = _reached(one.edges, node, len(network.layers))
    edges = _among(one.edges, reached).repeat(task.members)
    inputs = _rows(one.features, reached)
    centre = reached.index(node)

    def score(features: Tensor, edges: Edges, place: int) -> Tensor:
        return network(Graph(features, edges))[:, place].softmax(-1).mean(0)[number].log()

    def log_probability(vectors: Tensor) -> Tensor:
        return torch.stack([score(features, edges, centre) for features in vectors])

    @torch.no_grad()
    def without(units: Sequence[int]) -> float:
        """Return the log-probability without these nodes and their edges; the node itself stays, without features."""
        kept = sorted({*units_left(units, len(reached)), centre})
        features = torch.where(
            torch.tensor([unit in units for unit in kept], device=inputs.device)[:, None], 0, inputs[kept]
        )
        fewer = _among(one.edges, [reached[unit] for unit in kept]).repeat(task.members)
        return float(score(features, fewer, kept.index(centre)))

    return Question(
        [str(other) for other in reached],
        classes[number],
        inputs,
        torch.zeros_like(inputs),
        log_probability,
        without,
        task.sides(batch, [])["nodes"],
        f"node {node}",
        classes[number],
        partial(see_answer, task, str(node)),
        (node,),
        reached,
    )


def _one_graph(task: Any) -> Graph:
    """Return the graph of a task for a single member, in the precision of its weights."""
    weight = next(task.model.parameters())
    return tensors_of(task.graph, weight.dtype).to(weight.device)


def _reached(edges: Edges, node: int, hops: int) -> list[int]:
    """Return the nodes at most this many edges away, in order."""
    found = {node}
    for _ in range(hops):
        is_found = torch.zeros(edges.nodes, dtype=torch.bool, device=edges.looks_from.device)
        is_found[sorted(found)] = True
        found |= set(edges.looks_at[is_found[edges.looks_from]].tolist())
    return sorted(found)


def _among(edges: Edges, nodes: list[int]) -> Edges:
    """Return the edges between some nodes, which get new numbers."""
    numbers = torch.full((edges.nodes,), -1, device=edges.looks_from.device)
    numbers[nodes] = torch.arange(len(nodes), device=numbers.device)
    looks_from, looks_at = numbers[edges.looks_from], numbers[edges.looks_at]
    kept = (looks_from >= 0) & (looks_at >= 0)
    return Edges.among(len(nodes), looks_from[kept], looks_at[kept])


def _rows(features: Tensor | SparseTable, nodes: list[int]) -> Tensor:
    """Return the features of some nodes as a dense table."""
    if not isinstance(features, SparseTable):
        return features[nodes]
    rows = features.values.new_zeros(len(nodes), features.shape[1])
    for row, node in zip(rows, nodes, strict=True):
        entries = slice(int(features.starts[node]), int(features.starts[node + 1]))
        row[features.columns[entries]] = features.values[entries]
    return rows
