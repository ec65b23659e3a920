"""A decoder-only Transformer as one ONNX graph, which reads more tokens after those in its caches."""

from typing import Any

import torch
from onnx import TensorProto

from regard.engines.onnx.attention import Remembered
from regard.engines.onnx.blocks import Blocks
from regard.engines.onnx.graph import OnnxGraph, Shape
from regard.models.gpt.network import GPT, Block


def gpt_graph(network: GPT, graph: OnnxGraph, facts: dict[str, str], watched: bool = False) -> Any:
    """Build the graph from tokens (row, time) and caches to log-probabilities (row, time, token) and longer caches.

    The past may be empty. Tokens that are never written have −∞. With `watched`, the attention of every block and head
    is an output too, (row, head, time, key).
    """
    options = network.options
    build = Blocks(graph, options.context, options.activation)
    tokens = graph.input("tokens", TensorProto.INT64, ["row", "time"])
    past = [_slots(network, graph, number) for number in range(options.layers)]
    first = graph.size(past[0].keys, 2)
    end = graph.op("Add", first, graph.size(tokens, 1))
    places = graph.range(first, end)
    behind = graph.op(  # a query sees the keys up to its own position
        "LessOrEqual", graph.range(graph.whole(0), end), graph.op("Unsqueeze", places, graph.whole([1]))
    )
    rows = graph.rows_of("embedding", network.embedding.weight, tokens)
    states = build.placed("places", network.places, rows, places, options.width)
    for number, block in enumerate(network.blocks):
        assert isinstance(block, Block)
        states, present = _block(build, f"blocks.{number}", block, states, past[number], behind, places)
        for name, tensor, shape in zip(("keys", "values"), present, _shapes(network, "present"), strict=True):
            graph.output(tensor, f"present.{name}.{number}", shape)
    states = build.norm("norm", network.norm, states)
    graph.output(
        graph.op("LogSoftmax", _logits(network, graph, states, watched), axis=-1),
        "log_probabilities",
        ["row", "time", len(network.output.weight)],
    )
    for number, weights in enumerate(build.looks if watched else []):
        graph.output(weights, f"looks.{number}", ["row", options.heads, "time", "present"])
    return graph.model("writer", facts)


def _shapes(network: GPT, time: str) -> list[Shape]:
    """Return the shapes of a block's cached keys and values."""
    options = network.options
    shape: Shape = ["row", options.key_value_heads or options.heads, time, options.width // options.heads]
    return [shape, shape]


def _slots(network: GPT, graph: OnnxGraph, number: int) -> Remembered:
    """Return the cached keys and values of a block as inputs."""
    names = Remembered(f"past.keys.{number}", f"past.values.{number}")
    for name, shape in zip(names, _shapes(network, "past"), strict=True):
        graph.input(name, TensorProto.FLOAT, shape)
    return names


def _block(
    build: Blocks, name: str, block: Block, states: str, past: Remembered, behind: str, places: str
) -> tuple[str, Remembered]:
    """Return the states after a block, and its keys and values of all tokens so far."""
    look, present = build.heads(f"{name}.look_back", block.look_back), list[Remembered]()

    def look_back(states: str) -> str:
        new = look.remember(states, places)
        grown = (build.graph.op("Concat", *both, axis=2) for both in zip(past, new, strict=True))
        present.append(Remembered(*grown))
        context = look(states, present[0], behind, places)
        build.looks.append(look.weights)
        return context

    states = build.around(f"{name}.around_look", block.around_look, states, look_back)
    return build.feed_forward(name, block, states), present[0]


def _logits(network: GPT, graph: OnnxGraph, states: str, in_floats: bool) -> str:
    name = "embedding" if network.output is network.embedding else "output"
    logits = graph.product(states, name, network.output.weight, in_floats)
    if not network.never:
        return logits
    barred = torch.zeros(len(network.output.weight))
    barred[list(network.never)] = -torch.inf
    return graph.op("Add", logits, graph.weight("never", barred))
