"""The multi-head attention of `regard.attention` as nodes of an ONNX graph, with every score and kind of positions."""

from typing import NamedTuple

import torch

from regard.attention.heads import MultiHead
from regard.attention.positions import alibi_slopes, rotate
from regard.attention.scores import Additive, Bilinear, product_scale
from regard.engines.onnx.graph import OnnxGraph

_LOWEST = torch.finfo(torch.float32).min
_FAR = 2**31 - 1  # the end of an axis of any length


class Remembered(NamedTuple):
    """The keys and values to attend to, (batch, head, key, depth)."""

    keys: str
    values: str


def linear(graph: OnnxGraph, name: str, module: torch.nn.Linear, states: str) -> str:
    """Build W x + b."""
    product = graph.product(states, f"{name}.weight", module.weight)
    if module.bias is None:
        return product
    return graph.op("Add", product, graph.weight(f"{name}.bias", module.bias))


class Heads:
    """One multi-head attention; `places` are the positions of its tokens, and rotations are tabulated up to `longest`.

    With `single`, each row has one query token and one new key, which need no transposing.
    """

    def __init__(self, graph: OnnxGraph, name: str, heads: MultiHead, longest: int, single: bool = False) -> None:
        self.graph, self.name, self.heads, self.longest, self.single = graph, name, heads, longest, single
        self.weights = ""  # of the last attention, (batch, head, query, key)

    def remember(self, memory: str, places: str) -> Remembered:
        """Build what `MultiHead.remember` computes."""
        projected = linear(self.graph, f"{self.name}.to_key_value", self.heads.to_key_value, memory)
        if self.heads.options.shared_key_value:
            keys = values = self._split(projected, self.heads.key_value_heads)
        else:
            parts = self.graph.split(projected, self.heads.sizes)
            keys, values = (self._split(part, self.heads.key_value_heads) for part in parts)
        keys, score = self._rotate(keys, places), self.heads.look.score
        if isinstance(score, Bilinear):
            weight = self.graph.weight(f"{self.name}.score.weight", score.weight.weight)
            keys = self.graph.op("MatMul", keys, weight)
        elif isinstance(score, Additive):
            keys = linear(self.graph, f"{self.name}.score.of_key", score.of_key, keys)
        return Remembered(keys, values)

    def _split(self, states: str, heads: int) -> str:
        if self.single:
            return self.graph.op("Reshape", states, self.graph.whole([0, heads, 1, -1]))
        parted = self.graph.op("Reshape", states, self.graph.whole([0, 0, heads, -1]))
        return self.graph.op("Transpose", parted, perm=[0, 2, 1, 3])

    def __call__(self, states: str, seen: Remembered, mask: str | None, places: str) -> str:
        """Attend from `states`; `mask` is True where a query may look; without it, everywhere."""
        graph, heads = self.graph, self.heads
        projected = linear(graph, f"{self.name}.to_query", heads.to_query, states)
        query = self._rotate(self._split(projected, heads.heads), places)
        scores = self._scores(query, self._spread(seen.keys))
        if heads.options.positions == "alibi":
            scores = graph.op("Add", scores, self._distances(seen.keys, places))
        if mask is not None:
            scores = graph.op("Where", mask, scores, graph.number(_LOWEST))
        self.weights = graph.op("Softmax", scores, axis=-1)
        context = graph.op("MatMul", self.weights, self._spread(seen.values))
        if heads.options.join == "averaged":
            return graph.op("ReduceMean", context, axes=[1], keepdims=0)
        if self.single:
            joined = graph.op("Reshape", context, graph.whole([0, 1, -1]))
        else:
            joined = graph.op("Reshape", graph.op("Transpose", context, perm=[0, 2, 1, 3]), graph.whole([0, 0, -1]))
        assert isinstance(heads.out, torch.nn.Linear)
        return linear(graph, f"{self.name}.out", heads.out, joined)

    def _scores(self, query: str, keys: str) -> str:
        graph, score = self.graph, self.heads.look.score
        if isinstance(score, Additive):
            from_query = linear(graph, f"{self.name}.score.of_query", score.of_query, query)
            both = graph.op(
                "Add",
                graph.op("Unsqueeze", from_query, graph.whole([3])),
                graph.op("Unsqueeze", keys, graph.whole([2])),
            )
            energy = linear(graph, f"{self.name}.score.energy", score.energy, graph.op("Tanh", both))
            return graph.op("Squeeze", energy, graph.whole([-1]))
        scale = product_scale(score, self.heads.key_depth)
        if scale is None:
            raise ValueError(f"there is no graph for the score {score}")
        product = graph.op("MatMul", query, graph.op("Transpose", keys, perm=[0, 1, 3, 2]))
        return graph.op("Mul", product, graph.number(scale))

    def _spread(self, tensor: str) -> str:
        """Repeat each head of keys or values for every query head in its group."""
        heads, groups = self.heads.heads, self.heads.key_value_heads
        if heads == groups:
            return tensor
        apart = self.graph.op("Unsqueeze", tensor, self.graph.whole([2]))
        tiled = self.graph.op("Tile", apart, self.graph.whole([1, 1, heads // groups, 1, 1]))
        depth = self.graph.op("Reshape", self.graph.size(tensor, 3), self.graph.whole([1]))
        shape = self.graph.op("Concat", self.graph.whole([0, heads, -1]), depth, axis=0)
        return self.graph.op("Reshape", tiled, shape)

    def _rotate(self, states: str, places: str) -> str:
        """Apply rotary positions: every pair of coordinates (a, b) becomes a · (cos, sin) + b · (−sin, cos)."""
        if self.heads.options.positions != "rotary":
            return states
        graph, depth = self.graph, self.heads.key_depth
        first, second = (_unit(depth, start).expand(1, 1, self.longest, depth) for start in (0, 1))
        turned = [
            graph.op("Gather", graph.weight(f"rotary.{depth}.{name}", rotate(unit)[0, 0]), places, axis=0)
            for name, unit in (("first", first), ("second", second))
        ]
        return graph.op("Add", *(graph.op("Mul", self._double(states, n), turn) for n, turn in enumerate(turned)))

    def _double(self, states: str, start: int) -> str:
        """Return every other coordinate twice: a a c c … or b b d d … of a b c d …."""
        graph = self.graph
        bounds = (graph.whole([start]), graph.whole([_FAR]), graph.whole([3]), graph.whole([2]))
        half = graph.op("Unsqueeze", graph.op("Slice", states, *bounds), graph.whole([-1]))
        shape = graph.whole([0, 0, 0, self.heads.key_depth])
        return graph.op("Reshape", graph.op("Concat", half, half, axis=-1), shape)

    def _distances(self, keys: str, places: str) -> str:
        """Build ALiBi's bias on the scores: −slope · |i − j|."""
        graph = self.graph
        others = graph.range(graph.whole(0), graph.size(keys, 2))
        apart = graph.op("Abs", graph.op("Sub", graph.op("Unsqueeze", places, graph.whole([1])), others))
        slopes = graph.weight(f"alibi.{self.heads.heads}", -alibi_slopes(self.heads.heads)[:, None, None])
        return graph.op("Mul", slopes, graph.op("Cast", apart, to=1))


def _unit(depth: int, start: int) -> torch.Tensor:
    """Return 1 at every other coordinate from `start` on."""
    return torch.tensor([1.0 - start, float(start)]).repeat(depth // 2)
