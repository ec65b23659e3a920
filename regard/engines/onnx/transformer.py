"""The Transformer as two ONNX graphs: one that reads, and one that writes more tokens."""

from typing import Any, NamedTuple, cast

import torch
from onnx import TensorProto
from torch import Tensor

from regard.attention.positions import Learned
from regard.engines.onnx.attention import Remembered
from regard.engines.onnx.blocks import Blocks
from regard.engines.onnx.graph import OnnxGraph, Shape
from regard.models.transformer.decoder_cells import SSRU
from regard.models.transformer.network import (
    DecoderBlock,
    EncoderBlock,
    RecurrentDecoderBlock,
    Transformer,
    WritingBlock,
)

PLACE = "place"  # of the next token in each row, for decoders whose past does not count tokens


class Slots(NamedTuple):
    """The names of keys and values, or of the state of a cell, as inputs or outputs of a graph, and their shapes."""

    names: tuple[str, ...]
    shapes: list[Shape]


def encoder_blocks(network: Transformer) -> list[EncoderBlock]:
    return [block for block in network.encoder if isinstance(block, EncoderBlock)]


def decoder_blocks(network: Transformer) -> list[WritingBlock]:
    return [block for block in network.decoder if isinstance(block, WritingBlock)]


class _Builder(Blocks):
    """A graph of a Transformer under construction; its states are (row, time, width)."""

    def __init__(self, network: Transformer, graph: OnnxGraph) -> None:
        super().__init__(graph, network.options.longest, network.options.activation)
        self.network, self.options = network, network.options

    def embed(self, side: str, tokens: str, places: str) -> str:
        """Return scaled embeddings with their positions added."""
        graph, width = self.graph, self.options.width
        embedding = self.network.source_embedding if side == "source" else self.network.target_embedding
        rows = graph.rows_of(self._embedding_name(side), embedding.weight, tokens)
        states = graph.op("Mul", rows, graph.number(width**0.5))
        table = self._place_table(side)
        if table is None:
            return states
        name = f"{side}_places" if self.options.positions == "learned" else "sinusoids"
        return graph.op("Add", states, graph.op("Gather", graph.weight(name, table), places, axis=0))

    def _embedding_name(self, side: str) -> str:
        shared = self.network.source_embedding is self.network.target_embedding
        return "embedding" if shared else f"{side}_embedding"

    def _place_table(self, side: str) -> Tensor | None:
        """Return what is added at each position, for all positions."""
        if self.options.positions not in ("sinusoidal", "learned"):
            return None
        places = self.network.source_places if side == "source" else self.network.target_places
        if isinstance(places, Learned):
            return places.places.weight
        return places(torch.zeros(1, self.options.longest, self.options.width))[0]

    @property
    def output_name(self) -> str:
        return self._embedding_name("target") if self.options.tied else "out"

    def logits(self, states: str, in_floats: bool = False) -> str:
        graph, network = self.graph, self.network
        scores = graph.product(states, self.output_name, network.out.weight, in_floats)
        if network.output_bias is None:
            return scores
        return graph.op("Add", scores, graph.weight("output_bias", network.output_bias))

    def slots(self, kind: str, rows: str, time: str) -> list[Slots]:
        """Return the names of a kind's inputs or outputs for each decoder block: keys and values, or a cell's state."""
        all_slots = []
        for number, block in enumerate(decoder_blocks(self.network)):
            if kind != "memory" and not isinstance(block, DecoderBlock):
                all_slots.append(Slots((f"{kind}.state.{number}",), [[rows, self.options.width]]))
                continue
            heads = block.self_look if kind != "memory" and isinstance(block, DecoderBlock) else block.cross
            names = Remembered(f"{kind}.keys.{number}", f"{kind}.values.{number}")
            depths = (heads.key_depth, heads.value_depth)
            all_slots.append(Slots(names, [[rows, heads.key_value_heads, time, depth] for depth in depths]))
        return all_slots

    def hand_out(self, tensors: tuple[str, ...], slots: Slots) -> None:
        for tensor, name, shape in zip(tensors, slots.names, slots.shapes, strict=True):
            self.graph.output(tensor, name, shape)


def encoder_graph(network: Transformer, graph: OnnxGraph, facts: dict[str, str], watched: bool = False) -> Any:
    """Build the graph from source (batch, source) and lengths (batch) to the keys and values for each decoder block.

    With `watched`, the self-attention of every block and head is an output too.
    """
    build = _Builder(network, graph)
    source = graph.input("source", TensorProto.INT64, ["batch", "source"])
    lengths = graph.input("lengths", TensorProto.INT64, ["batch"])
    time = graph.size(source, 1)
    places, real = graph.range(graph.whole(0), time), build.real(lengths, time)
    states = build.embed("source", source, places)
    for number, block in enumerate(encoder_blocks(network)):
        states = build.encode(f"encoder.{number}", block, states, real, places)
    states = build.norm("encoder_norm", network.encoder_norm, states)
    slots = build.slots("memory", "batch", "source")
    for number, writer in enumerate(decoder_blocks(network)):
        remembered = build.heads(f"decoder.{number}.cross", writer.cross).remember(states, places)
        build.hand_out(remembered, slots[number])
    for number, weights in enumerate(build.looks if watched else []):
        graph.output(weights, f"own_looks.{number}", ["batch", f"heads.{number}", "source", "source"])
    return graph.model("encoder", facts)


def decoder_graph(network: Transformer, graph: OnnxGraph, facts: dict[str, str]) -> Any:
    """Build the graph from target (row, target), memory and caches to logits and extended caches."""
    build = _Builder(network, graph)
    states, _ = _write_states(build)
    graph.output(build.logits(states), "logits", ["row", "target", network.out.out_features])
    return graph.model("decoder", facts)


def candidates_graph(network: Transformer, graph: OnnxGraph, facts: dict[str, str]) -> Any:
    """Build the graph from candidates (candidate), some target tokens, to their part of the output layer and biases.

    With a shortlist, `step_graph` takes these instead of the whole layer.
    """
    build, shape = _Builder(network, graph), cast(Shape, ["candidate"])
    candidates = graph.input("candidates", TensorProto.INT64, shape)
    rows = graph.rows_of(build.output_name, network.out.weight, candidates)
    graph.output(graph.op("Transpose", rows, perm=[1, 0]), "matrix", [network.options.width, *shape])
    if network.output_bias is not None:
        bias = graph.op("Gather", graph.weight("output_bias", network.output_bias), candidates, axis=0)
        graph.output(bias, "bias", shape)
    return graph.model("candidates", facts)


def step_graph(
    network: Transformer, graph: OnnxGraph, facts: dict[str, str], end: int, listed: bool = False, watched: bool = False
) -> Any:
    """Build the step for one sentence and one token per row, with the outputs that a search needs.

    These are the log-probabilities of the `count` best continuations of each row, that of the end, and each row's
    attention to the source, averaged over the heads of the last block but one. With `listed`, the input has the part
    of the output layer that may be written, the end first. With `watched`, for a page, the attention of every block and
    head is an output too, to the source and to the tokens so far.
    """
    build = _Builder(network, graph)
    count = graph.input("count", TensorProto.INT64, [1])
    states, looks = _write_states(build, alone=True)
    states = graph.op("Squeeze", states, graph.whole([1]))
    if listed:
        matrix = graph.input("matrix", TensorProto.FLOAT, [network.options.width, "candidate"])
        logits = graph.op("MatMul", states, matrix)
        if network.output_bias is not None:
            logits = graph.op("Add", logits, graph.input("bias", TensorProto.FLOAT, ["candidate"]))
    else:
        logits = build.logits(states, in_floats=watched)
    chances = graph.op("LogSoftmax", logits, axis=-1)
    best, tokens = graph.best(chances, count)
    graph.output(best, "best", ["row", "count"])
    graph.output(tokens, "tokens", ["row", "count"], TensorProto.INT64)
    graph.output(graph.op("Gather", chances, graph.whole(0 if listed else end), axis=1), "end", ["row"])
    looked = graph.op("ReduceMean", looks[max(0, len(looks) - 2)], axes=[1, 2], keepdims=0)
    graph.output(looked, "attention", ["row", "source"])
    for number, weights in enumerate(looks if watched else []):
        by_head = graph.op("Squeeze", weights, graph.whole([2]))
        graph.output(by_head, f"looks.{number}", ["row", f"heads.{number}", "source"])
    for number, weights in enumerate(build.looks if watched else []):
        by_head = graph.op("Squeeze", weights, graph.whole([2]))
        graph.output(by_head, f"own_looks.{number}", ["row", f"own_heads.{number}", "present"])
    return graph.model("step", facts)


def _write_states(build: _Builder, alone: bool = False) -> tuple[str, list[str]]:
    """Return the states after new target tokens, and each block's attention to the source.

    What the next tokens need becomes outputs: the keys and values of all tokens so far, or the states of the cells.
    With `alone`, one token of one sentence per row, everything may be attended to.
    """
    graph, network = build.graph, build.network
    target = graph.input("target", TensorProto.INT64, ["row", "target"])
    lengths = None if alone else graph.input("lengths", TensorProto.INT64, ["batch"])
    memory, past = build.slots("memory", "batch", "source"), build.slots("past", "row", "past")
    for slots in [*memory, *past]:
        for name, shape in zip(slots.names, slots.shapes, strict=True):
            graph.input(name, TensorProto.FLOAT, shape)
    writing = _Writing(build, target, lengths, memory[0].names[0], past[0].names[0])
    states = build.embed("target", target, writing.places)
    present = build.slots("present", "row", "present")
    for number, block in enumerate(decoder_blocks(network)):
        seen = Remembered(*memory[number].names)
        states, remembered = writing.block(f"decoder.{number}", block, states, seen, past[number].names)
        build.hand_out(remembered, present[number])
    return build.norm("decoder_norm", network.decoder_norm, states), writing.looks


class _Writing:
    """Shared by the blocks of a decoder: positions of its tokens and the mask."""

    def __init__(self, build: _Builder, target: str, lengths: str | None, memory: str, past: str) -> None:
        self.build, self.graph = build, build.graph
        self.looks: list[str] = []  # attention to the source, by each block so far
        graph, self.alone, self.behind, self.real = self.graph, lengths is None, None, None
        if build.network.has_caches:
            first = graph.size(past, 2)
            end = graph.op("Add", first, graph.size(target, 1))
            self.places = graph.range(first, end)
        else:
            self.places = end = self._count_places(target)
        if lengths is not None:
            self.real = build.real(lengths, graph.size(memory, 2))
        if lengths is not None and build.network.has_caches:
            self.behind = graph.op(  # a query sees the keys up to its own position
                "LessOrEqual",
                graph.range(graph.whole(0), end),
                graph.op("Unsqueeze", self.places, graph.whole([1])),
            )
        sentences = graph.op("Reshape", graph.size(memory, 0), graph.whole([1]))
        self.by_sentence = graph.op("Concat", sentences, graph.whole([-1, build.options.width]), axis=0)

    def _count_places(self, target: str) -> str:
        """Return the positions of the new tokens, counted by an input and an output, since a cell's state counts none.

        All rows have the same; a number per row lets searches choose rows as they do for every other input.
        """
        graph, shape = self.graph, cast(Shape, ["row", 1])
        before = graph.input(f"past.{PLACE}", TensorProto.FLOAT, shape)
        time = graph.size(target, 1)
        graph.output(graph.op("Add", before, graph.op("Cast", time, to=TensorProto.FLOAT)), f"present.{PLACE}", shape)
        first = graph.op("Gather", graph.op("Reshape", before, graph.whole([-1])), graph.whole(0), axis=0)
        first = graph.op("Cast", first, to=TensorProto.INT64)
        return graph.range(first, graph.op("Add", first, time))

    def block(
        self, name: str, block: WritingBlock, states: str, memory: Remembered, past: tuple[str, ...]
    ) -> tuple[str, tuple[str, ...]]:
        """Return the states after a block, and what it remembers of all tokens so far."""
        build, graph = self.build, self.graph
        cross = build.heads(f"{name}.cross", block.cross, self.alone)
        present: list[tuple[str, ...]] = []

        def look_back(states: str) -> str:
            if isinstance(block, RecurrentDecoderBlock):
                outputs, after = self._cell(f"{name}.cell", block, states, past[0])
                present.append((after,))
                return outputs
            assert isinstance(block, DecoderBlock)
            look = build.heads(f"{name}.self_look", block.self_look, self.alone)
            new = look.remember(states, self.places)
            grown = Remembered(*(graph.op("Concat", *both, axis=2) for both in zip(past, new, strict=True)))
            present.append(grown)
            context = look(states, grown, self.behind, self.places)
            build.looks.append(look.weights)
            return context

        def look_at_source(states: str) -> str:
            # The rows of one sentence share its memory: for attention they are more queries.
            shared = states if self.alone else graph.op("Reshape", states, self.by_sentence)
            context = cross(shared, memory, self.real, self.places)
            self.looks.append(cross.weights)
            return context if self.alone else graph.op("Reshape", context, graph.op("Shape", states))

        states = build.around(f"{name}.around_self", block.around_self, states, look_back)
        states = build.around(f"{name}.around_cross", block.around_cross, states, look_at_source)
        return build.feed_forward(name, block, states), present[0]

    def _cell(self, name: str, block: RecurrentDecoderBlock, states: str, past: str) -> tuple[str, str]:
        """Build an SSRU: its outputs, and its state after the last place."""
        assert isinstance(block.cell, SSRU)
        graph, cell, width = self.graph, block.cell, self.build.options.width
        projected = graph.product(states, f"{name}.to_gate_and_input.weight", cell.to_gate_and_input.weight)
        gates, inputs = graph.split(projected, [width, width])
        gates = graph.op("Sigmoid", graph.op("Add", gates, graph.weight(f"{name}.gate_bias", cell.gate_bias)))
        added = graph.op("Mul", graph.op("Sub", graph.number(1.0), gates), inputs)
        if self.alone:
            before = graph.op("Unsqueeze", past, graph.whole([1]))
            memory = graph.op("Add", graph.op("Mul", gates, before), added)
            after = graph.op("Squeeze", memory, graph.whole([1]))
        else:
            after, memory = graph.linear_scan(gates, added, past, width)
        return graph.op("Relu", memory), after
