"""Speed of graph attention beside PyTorch Geometric's GATConv: an epoch at Cora's size, in one process, on two threads.

    .venv/bin/python benchmarks/gat.py

An epoch is an update on the training nodes and a pass that measures the validation nodes. Both sides have the paper's
sizes, dropout and optimiser, and the same random graph: as many nodes, edges, words and classes as Cora has. `a stack
of 4` is four of our members that train side by side, beside four epochs of GATConv.
"""

import os
import warnings
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from table import Contender, Ratio, against, in_turns, run_alone
from torch import Tensor, nn

from regard.attention.edges import Edges
from regard.models.gat import GAT, GATOptions, Graph
from regard.models.sparse import SparseTable

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch_geometric 2.8 compiles classes at import in a way that torch gives up
    from torch_geometric.nn import GATConv

NODES, EDGES, WORDS, ENTRIES, CLASSES = 2708, 5278, 1433, 49_216, 7
TRAINING, VALIDATION = slice(0, 140), slice(140, 640)
THREADS, EPOCHS, ROUNDS, STACK = 2, 10, 5, 4


class ByPyG(nn.Module):
    """The paper's network from GATConv, as its authors' examples write it."""

    def __init__(self, options: GATOptions) -> None:
        super().__init__()
        self.dropout = options.dropout
        self.first = GATConv(WORDS, options.width, options.heads, dropout=options.weight_dropout)
        inner = options.width * options.heads
        self.last = GATConv(inner, CLASSES, options.last_heads, concat=False, dropout=options.weight_dropout)

    def forward(self, features: Tensor, edges: Tensor) -> Tensor:
        features = F.dropout(features, self.dropout, self.training)
        features = F.elu(self.first(features, edges))
        return self.last(F.dropout(features, self.dropout, self.training), edges)


def random_graph() -> tuple[Graph, Tensor, Tensor]:
    """The graph for us, and for PyG its features as a dense table and its edges without loops."""
    torch.manual_seed(1)
    ends, loops = torch.randint(NODES, (2, EDGES)), torch.arange(NODES)
    both = torch.cat([ends, ends.flip(0)], dim=1)
    rows, columns = torch.randint(NODES, (ENTRIES,)).sort().values, torch.randint(WORDS, (ENTRIES,))
    starts = torch.searchsorted(rows, torch.arange(NODES + 1))
    table = SparseTable.of(torch.rand(ENTRIES), columns, starts, WORDS)
    dense = torch.zeros(NODES, WORDS).index_put_((rows, columns), table.values, accumulate=True)
    edges = Edges.among(NODES, torch.cat([both[1], loops]), torch.cat([both[0], loops]))
    return Graph(table, edges), dense, both


def contender(network: nn.Module, forward: Callable[[], Tensor], members: int, epochs: int) -> Contender:
    """Trains so many epochs, each followed by a measurement; the work is epochs times members."""
    labels = (torch.arange(NODES) % CLASSES).expand(members, -1)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.005, weight_decay=5e-4)

    def loss(logits: Tensor, nodes: slice) -> Tensor:
        return F.cross_entropy(logits[:, nodes].flatten(0, 1), labels[:, nodes].flatten(), reduction="sum")

    def work() -> float:
        for _ in range(epochs):
            network.train()
            optimiser.zero_grad()
            loss(forward(), TRAINING).backward()
            optimiser.step()
            network.eval()
            with torch.no_grad():
                loss(forward(), VALIDATION)
        return float(epochs * members)

    return work


def ours(graph: Graph, options: GATOptions, members: int) -> Contender:
    network, repeated = GAT(options, WORDS, CLASSES, seeds=range(members)), graph.repeat(members)
    return contender(network, lambda: network(repeated), members, EPOCHS)


def ratios() -> Iterator[Ratio]:
    torch.set_num_threads(min(THREADS, os.cpu_count() or 1))
    options = GATOptions()
    graph, features, edges = random_graph()
    reference = ByPyG(options)
    rates = in_turns(
        {
            "GATConv": contender(reference, lambda: reference(features, edges)[None], 1, EPOCHS),
            "one member": ours(graph, options, 1),
            f"a stack of {STACK}": ours(graph, options, STACK),
        },
        ROUNDS,
    )
    peers = {"GATConv": rates.pop("GATConv")}
    for name, rate in rates.items():
        yield from against(f"graph attention, {name}", rate, peers, "epochs of a member")


if __name__ == "__main__":
    run_alone(__doc__, ratios)
