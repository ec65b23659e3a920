"""The task of node classification: one batch is the whole graph, a split is some of its nodes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.edges import Edges
from regard.attention.watch import without_watching
from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.graphs.labelled import UNKNOWN, LabelledGraph, open_graph
from regard.data.graphs.prepare import is_prepared, prepare_graph, read_graph
from regard.models.gat import GAT, Graph
from regard.models.sparse import SparseTable
from regard.protocols import Answer, Loss, Measure, Tally, mean
from regard.tasks.base import Files, MembersTask, build_network, mean_of, member_seeds
from regard.tasks.nodes.options import NodeRecipe
from regard.viewing.sides import Nodes, Side

DENSE = 0.25  # from this share of nonzero features on, they are multiplied as a dense table


@dataclass(frozen=True)
class NodeBatch:
    """The graph, once for each member, and the requested nodes with their labels."""

    graph: Graph
    nodes: Int[Tensor, " node"]
    labels: Int[Tensor, " node"]


class NodeLabelling(MembersTask[LabelledGraph]):
    """A network and its graph. Several members may train side by side; their mean answers."""

    MEASURES: ClassVar[tuple[str, ...]] = ("loss", "accuracy")

    def __init__(self, model: GAT, graph: LabelledGraph, members: int = 1) -> None:
        super().__init__(model, members)
        self.graph = graph
        self._placed: tuple[torch.device, torch.dtype, Graph] | None = None

    # Construction

    @classmethod
    def check(cls, recipe: NodeRecipe, device: torch.device, folder: Path | None) -> None:
        if recipe.training.pieces > 1:
            raise Fault(
                f"A {recipe.family} learns from a whole graph at once and cannot use {recipe.training.pieces}"
                " pieces; omit --processes and training.pieces."
            )
        if folder is None or not is_prepared(folder):
            read_graph(recipe.data)

    @classmethod
    def prepare(
        cls, recipe: NodeRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> LabelledGraph:
        return prepare_graph(recipe.data, folder)

    @classmethod
    def build(cls, recipe: NodeRecipe, files: Files) -> "NodeLabelling":
        graph, seeds = open_graph(files, "The graph of the model"), member_seeds(recipe)
        network = build_network(recipe, graph.features.width, len(graph.classes), seeds)
        return cls(network, graph, len(seeds))

    def outline(self, recipe: NodeRecipe) -> list[str]:
        return [*self.graph.report, *super().outline(recipe)]

    # Training and evaluation

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[NodeBatch]:
        """Yield the only batch of an epoch."""
        if start == 0:
            yield self._ask(self.graph.nodes_of(split))

    def loss(self, batch: NodeBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """Return the cross-entropy summed over nodes and members; each member gets its own gradient."""
        return Loss(self._nats(self._logits(batch), batch).sum(), len(batch.nodes))

    @torch.no_grad()
    def measure(self, batch: NodeBatch) -> dict[str, Measure]:
        logits, count = self._logits(batch), float(len(batch.nodes))
        nats = self._nats(logits, batch).tolist()
        right = (logits.argmax(-1) == batch.labels).sum(-1).tolist()
        prefix = mean_of(self.members)
        nats_of, right_of = (
            [Tally((float(sum_of_member), count), mean) for sum_of_member in sums] for sums in (nats, right)
        )
        return {
            "loss": Measure.of_members(nats_of, "lower", f"{prefix}nats per node|range:0-inf"),
            "accuracy": Measure.of_members(right_of, "higher", f"{prefix}range:0-1"),
        }

    def _logits(self, batch: NodeBatch) -> Float[Tensor, "member node class"]:
        return self.model(batch.graph)[:, batch.nodes].float()

    def _nats(self, logits: Float[Tensor, "member node class"], batch: NodeBatch) -> Float[Tensor, " member"]:
        labels = batch.labels.expand(self.members, -1)
        return F.cross_entropy(logits.transpose(1, 2), labels, reduction="none").sum(-1)

    # For people

    def read(self, inputs: Sequence[Any]) -> NodeBatch:
        """Return a batch of the nodes with these numbers, as people write them."""
        return self._ask(np.array([self._node(number) for number in inputs], dtype=np.int64))

    def _node(self, number: Any) -> int:
        text, last = str(number).strip(), self.graph.nodes - 1
        if not text.isascii() or not text.isdigit():
            raise Fault(f"'{text[:40]}' is not the number of a node; the graph has the nodes 0 to {last}.")
        if len(text) > len(str(last)) or int(text) > last:
            raise Fault(f"There is no node {text[:40]}; the graph has the nodes 0 to {last}.")
        return int(text)

    @torch.no_grad()
    def answers(self, batch: NodeBatch) -> list[Answer]:
        """Return the most probable class of each node, by the mean of the members' probabilities."""
        rows = self._logits(batch).softmax(-1).mean(0).tolist()
        return [_answer(dict(zip(self.graph.classes, row, strict=True))) for row in rows]

    def sides(self, batch: NodeBatch, outputs: Sequence[Any]) -> dict[str, Side]:
        names, classes = [str(node) for node in range(self.graph.nodes)], self.graph.classes
        with without_watching():
            answers = self.answers(self.read(names))
        labels = ["" if label == UNKNOWN else classes[label] for label in self.graph.labels]
        return {"nodes": Nodes(names, batch.nodes.tolist(), [answer.answer for answer in answers], labels)}

    def extents(self, batch: NodeBatch) -> dict[str, Tensor]:
        """Return the number of real nodes: all, since a graph has no padding."""
        return {"nodes": torch.full((self.members,), self.graph.nodes)}

    def facts(self) -> dict[str, Any]:
        """Return facts about the graph, and the number of members."""
        return {
            "nodes": self.graph.nodes,
            "edges": self.graph.edges,
            "features": self.graph.features.width,
            "classes": len(self.graph.classes),
            "members": self.members,
        }

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of one pass over the graph, for any number of requested nodes."""
        return self.model.cost(tensors_of(self.graph))

    def _ask(self, nodes: np.ndarray) -> NodeBatch:
        labels = torch.from_numpy(self.graph.labels[nodes]).to(self.device)
        return NodeBatch(self._graph(), torch.from_numpy(nodes).to(self.device), labels)

    def _graph(self) -> Graph:
        """Return the graph on the device and in the precision of the weights; made once for each."""
        weight = next(self.model.parameters())
        placed = self._placed
        if placed is None or placed[:2] != (weight.device, weight.dtype):
            graph = tensors_of(self.graph, weight.dtype).to(weight.device).repeat(self.members)
            self._placed = placed = weight.device, weight.dtype, graph
        return placed[2]


def tensors_of(graph: LabelledGraph, dtype: torch.dtype = torch.float32) -> Graph:
    """Return a graph for a network, in which every node also sees itself."""
    features, looks, itself = graph.features, torch.from_numpy(graph.looks), torch.arange(graph.nodes)
    edges = Edges.among(graph.nodes, torch.cat([looks[0], itself]), torch.cat([looks[1], itself]))
    values, columns, starts = map(torch.from_numpy, (features.values, features.columns, features.starts))
    values = values.to(dtype)
    if len(values) < DENSE * graph.nodes * features.width:
        return Graph(SparseTable.of(values, columns, starts, features.width), edges)
    rows = itself.repeat_interleave(starts.diff())
    return Graph(values.new_zeros(graph.nodes, features.width).index_put((rows, columns), values), edges)


def _answer(probabilities: dict[str, float]) -> Answer:
    best = max(probabilities, key=lambda name: probabilities[name])
    return Answer(best, probabilities[best], probabilities)
