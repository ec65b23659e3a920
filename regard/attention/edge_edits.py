"""Edits of attention along the edges of a graph: queries and keys are nodes, and weight can lie on edges only."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.editing import edited_weights, named_queries
from regard.base.faults import Fault

PORTION = 2**24  # weights of pairs of nodes in memory at once


def edited_edges(
    part: nn.Module, weights: Float[Tensor, "batch head edge"], edges: Int[Tensor, "2 edge"], nodes: int
) -> Float[Tensor, "batch head edge"]:
    """Return the weights of edges, each from a query to a key, as edited.

    The edges of the queries that an edit names, or of all, become a table of queries and keys, a portion at a time.
    """
    named = named_queries(part)
    looking = edges[0].unique() if named is None else torch.tensor(sorted(named), device=edges.device)
    if len((edges[0] * nodes + edges[1]).unique()) < edges.shape[1]:
        raise Fault(
            "Two edges of this graph go from the same node to the same other, so their weights cannot be edited."
        )
    for node in looking[looking >= nodes].tolist():
        raise Fault(f"There is no node {node} to edit; the graph has {nodes}, counted from 0.")
    for queries in looking.split(max(1, PORTION // (nodes * weights.shape[0] * weights.shape[1]))):
        mine = torch.isin(edges[0], queries).nonzero().squeeze(1)
        pairs = torch.searchsorted(queries, edges[0, mine]), edges[1, mine]
        table = weights.new_zeros(*weights.shape[:2], len(queries), nodes)
        table[:, :, *pairs] = weights[:, :, mine]
        may = torch.zeros(len(queries), nodes, dtype=torch.bool, device=edges.device)
        may[pairs] = True
        weights = weights.index_copy(2, mine, edited_weights(part, table, may, queries)[:, :, *pairs])
    return weights
