"""Transformer blocks as nodes of an ONNX graph, for every network that is built of them."""

import math
from collections.abc import Callable
from typing import Protocol

import torch
from torch import nn

from regard.attention.heads import MultiHead
from regard.attention.positions import Learned, Sinusoidal
from regard.engines.onnx.attention import Heads, linear
from regard.engines.onnx.graph import OnnxGraph
from regard.models.parts import FeedForward, Residual
from regard.models.transformer.network import EncoderBlock

_ROOT_HALF = 0.5**0.5
_FLOAT = 1  # ONNX's number of the type


class HasFeedForward(Protocol):
    """A block with a feed-forward net."""

    feed_forward: FeedForward
    around_feed_forward: Residual


class Blocks:
    """A graph of Transformer blocks under construction; its states are (row, time, width).

    `looks` has the self-attention weights of each block so far, (row, head, query, key).
    """

    def __init__(self, graph: OnnxGraph, longest: int, activation: str) -> None:
        self.graph, self.longest, self.activation = graph, longest, activation
        self.looks: list[str] = []

    def heads(self, name: str, module: MultiHead, single: bool = False) -> Heads:
        return Heads(self.graph, name, module, self.longest, single)

    def norm(self, name: str, module: nn.Module, states: str) -> str:
        if not isinstance(module, nn.LayerNorm):
            return states
        graph = self.graph
        weights = graph.weight(f"{name}.weight", module.weight), graph.weight(f"{name}.bias", module.bias)
        return graph.op("LayerNormalization", states, *weights, axis=-1, epsilon=module.eps)

    def around(self, name: str, residual: Residual, states: str, sublayer: Callable[[str], str]) -> str:
        """Apply residual and norm around a sublayer."""
        if residual.before:
            return self.graph.op("Add", states, sublayer(self.norm(name, residual.norm, states)))
        return self.norm(name, residual.norm, self.graph.op("Add", states, sublayer(states)))

    def feed_forward(self, name: str, block: HasFeedForward, states: str) -> str:
        """Build the feed-forward net of a block, with residual and norm."""
        net = block.feed_forward

        def inside(states: str) -> str:
            inner = linear(self.graph, f"{name}.feed_forward.inner", net.inner, states)
            return linear(self.graph, f"{name}.feed_forward.outer", net.outer, self.activate(inner))

        return self.around(f"{name}.around_feed_forward", block.around_feed_forward, states, inside)

    def activate(self, states: str) -> str:
        graph = self.graph
        match self.activation:
            case "gelu":  # x · (1 + erf(x / √2)) / 2
                error = graph.op("Erf", graph.op("Mul", states, graph.number(_ROOT_HALF)))
                return self._half_of(states, error)
            case "gelu-tanh":  # x · (1 + tanh(√(2/π) · (x + 0.044715 x³))) / 2
                cube = graph.op("Mul", graph.op("Mul", states, states), states)
                inner = graph.op("Add", states, graph.op("Mul", cube, graph.number(0.044715)))
                bent = graph.op("Tanh", graph.op("Mul", inner, graph.number(math.sqrt(2 / math.pi))))
                return self._half_of(states, bent)
            case "swish":
                return graph.op("Mul", states, graph.op("Sigmoid", states))
        return graph.op("Relu", states)

    def _half_of(self, states: str, between: str) -> str:
        """Build x · (1 + y) / 2."""
        graph = self.graph
        share = graph.op("Mul", graph.op("Add", between, graph.number(1.0)), graph.number(0.5))
        return graph.op("Mul", states, share)

    def real(self, lengths: str, keys: str) -> str:
        """Return the mask (batch, 1, 1, key) of real tokens; `keys` is the number of keys, a scalar."""
        graph = self.graph
        limits = graph.op("Unsqueeze", lengths, graph.whole([1, 2, 3]))
        return graph.op("Less", graph.range(graph.whole(0), keys), limits)

    def placed(self, name: str, module: nn.Module, states: str, places: str, width: int) -> str:
        """Add the positions of tokens to their states, if the module adds any; sinusoids are computed in the graph."""
        graph = self.graph
        if isinstance(module, Learned):
            rows = graph.op("Gather", graph.weight(name, module.places.weight), places, axis=0)
            return graph.op("Add", states, rows)
        if not isinstance(module, Sinusoidal):
            return states
        rates = 10_000.0 ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
        columns = graph.op("Cast", graph.op("Unsqueeze", places, graph.whole([1])), to=_FLOAT)
        angles = graph.op("Mul", columns, graph.weight("rates", rates))
        pairs = [graph.op("Unsqueeze", graph.op(kind, angles), graph.whole([2])) for kind in ("Sin", "Cos")]
        waves = graph.op("Reshape", graph.op("Concat", *pairs, axis=2), graph.whole([0, -1]))
        return graph.op("Add", states, waves)

    def encode(self, name: str, block: EncoderBlock, states: str, real: str, places: str) -> str:
        """Build an encoder block: self-attention to real tokens, then the feed-forward net."""
        look = self.heads(f"{name}.self_look", block.self_look)

        def inside(states: str) -> str:
            context = look(states, look.remember(states, places), real, places)
            self.looks.append(look.weights)
            return context

        states = self.around(f"{name}.around_self", block.around_self, states, inside)
        return self.feed_forward(name, block, states)
