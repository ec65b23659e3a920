"""Networks that read a whole text as one ONNX graph: encoders over words and BERT, for classes, tags or masks.

Inputs are `tokens` (batch, time) and `lengths` (batch). BERT's tokens include [CLS] and [SEP], and `segments` (batch,
time) is 1 in a second text. Taggers also read `letters` (form, letter), `forms` (batch, time) and `shapes` (batch,
time), and those with word pieces `firsts` (batch, word), the place of each word's first piece. To fill masks, `places`
(batch, masked) says where they are.
"""

from typing import Any

import torch
from onnx import TensorProto
from torch import nn

from regard.attention.scores import Additive, Bilinear
from regard.engines.onnx.attention import linear
from regard.engines.onnx.blocks import Blocks
from regard.engines.onnx.graph import OnnxGraph, Shape
from regard.models.bert import Bert, MaskedBert
from regard.models.tagging.letters import LetterReader
from regard.models.tagging.tagger import Tagger
from regard.models.text.classifier import TextClassifier
from regard.models.text.encoder import EncoderReader
from regard.models.text.pooling import AttentionPooling
from regard.models.transformer.network import EncoderBlock

_LOWEST = torch.finfo(torch.float32).min
_PLACES: Shape = ["batch", "time"]


class _Reading(Blocks):
    """A graph of a reader under construction, from its inputs to its states."""

    def __init__(self, reader: EncoderReader | Bert, graph: OnnxGraph) -> None:
        super().__init__(graph, reader.options.longest, reader.options.of_blocks().activation)
        self.reader = reader
        self.tokens = graph.input("tokens", TensorProto.INT64, _PLACES)
        self.lengths = graph.input("lengths", TensorProto.INT64, ["batch"])
        self.pooled = ""  # weights of attention pooling, if there is any

    def states(self, beside: str | None = None) -> str:
        """Return the states of all tokens; `beside` are further features of each."""
        if isinstance(self.reader, Bert):
            return self._bert_states(self.reader)
        return self._encoder_states(self.reader, beside)

    def _encoder_states(self, reader: EncoderReader, beside: str | None) -> str:
        graph = self.graph
        tables = [
            graph.rows_of(f"vectors.{number}", table, self.tokens) for number, table in enumerate(reader.inputs.tables)
        ]
        vectors = [*tables, *([] if beside is None else [beside])]
        joined = vectors[0] if len(vectors) == 1 else graph.op("Concat", *vectors, axis=-1)
        enter, norm = reader.enter
        assert isinstance(enter, nn.Linear)
        states = self.norm("enter.norm", norm, linear(graph, "enter", enter, joined))
        if reader.first is not None:
            states = self._behind_first(reader.first, states)
        places = graph.range(graph.whole(0), graph.size(states, 1))
        states = self.placed("places", reader.places, states, places, reader.width)
        return self.norm("norm", reader.norm, self._blocks(reader.blocks, states, places))

    def _behind_first(self, first: nn.Parameter, states: str) -> str:
        """Put the learned token before each text, and count it in the lengths."""
        graph = self.graph
        rows = graph.op("Reshape", graph.size(states, 0), graph.whole([1]))
        shape = graph.op("Concat", rows, graph.whole([1, first.shape[0]]), axis=0)
        self.lengths = graph.op("Add", self.lengths, graph.whole(1))
        return graph.op("Concat", graph.op("Expand", graph.weight("first", first), shape), states, axis=1)

    def _bert_states(self, reader: Bert) -> str:
        graph = self.graph
        segments = graph.input("segments", TensorProto.INT64, _PLACES)
        places = graph.range(graph.whole(0), graph.size(self.tokens, 1))
        rows = graph.rows_of("tokens_table", reader.tokens, self.tokens)
        positions = graph.op("Gather", graph.weight("places_table", reader.places), places, axis=0)
        of_segments = graph.op("Gather", graph.weight("segments_table", reader.segments), segments, axis=0)
        states = self.norm("norm", reader.norm, graph.op("Add", graph.op("Add", rows, positions), of_segments))
        return self._blocks(reader.blocks, states, places)

    def _blocks(self, blocks: nn.ModuleList, states: str, places: str) -> str:
        real = self.real(self.lengths, self.graph.size(states, 1))
        for number, block in enumerate(blocks):
            assert isinstance(block, EncoderBlock)
            states = self.encode(f"blocks.{number}", block, states, real, places)
        return states

    def summary(self, states: str) -> str:
        """Return one vector for each text."""
        graph, reader = self.graph, self.reader
        if isinstance(reader, EncoderReader) and reader.pooling is not None:
            return self._attention_pooling(reader.pooling, states)
        if reader.options.pooling == "first":
            first = graph.op("Gather", states, graph.whole(0), axis=1)
            pooler = reader.pooler if isinstance(reader, Bert) else None
            return first if pooler is None else graph.op("Tanh", linear(graph, "pooler", pooler, first))
        real = self._real_columns(states)
        if reader.options.pooling == "max":
            return graph.op("ReduceMax", graph.op("Where", real, states, graph.number(_LOWEST)), axes=[1], keepdims=0)
        total = graph.op("ReduceSum", graph.op("Where", real, states, graph.number(0.0)), graph.whole([1]), keepdims=0)
        count = graph.op("Cast", graph.op("Unsqueeze", self.lengths, graph.whole([1])), to=TensorProto.FLOAT)
        return graph.op("Div", total, count)

    def _real_columns(self, states: str) -> str:
        """Return the mask (batch, time, 1) of real tokens."""
        graph = self.graph
        limits = graph.op("Unsqueeze", self.lengths, graph.whole([1]))
        real = graph.op("Less", graph.range(graph.whole(0), graph.size(states, 1)), limits)
        return graph.op("Unsqueeze", real, graph.whole([2]))

    def _attention_pooling(self, pooling: AttentionPooling, states: str) -> str:
        """Build Σ α h, whose query is one learned vector."""
        graph, score = self.graph, pooling.look.score
        assert pooling.query is not None
        query = graph.weight("pooling.query", pooling.query[None])
        if isinstance(score, Additive):
            both = graph.op(
                "Add",
                linear(graph, "pooling.of_query", score.of_query, query),
                linear(graph, "pooling.of_key", score.of_key, states),
            )
            scores = linear(graph, "pooling.energy", score.energy, graph.op("Tanh", both))
        else:
            assert isinstance(score, Bilinear)
            keys = graph.op("MatMul", states, graph.weight("pooling.weight", score.weight.weight))
            scores = graph.op("MatMul", keys, graph.op("Transpose", query, perm=[1, 0]))
        scores = graph.op("Where", self._real_columns(states), scores, graph.number(_LOWEST))
        weights = graph.op("Softmax", scores, axis=1)
        self.pooled = graph.op("Squeeze", weights, graph.whole([2]))
        return graph.op("ReduceSum", graph.op("Mul", weights, states), graph.whole([1]), keepdims=0)

    def hand_out_looks(self) -> None:
        """Make the attention of every block and head an output, and that of the pooling."""
        for number, weights in enumerate(self.looks):
            self.graph.output(weights, f"looks.{number}", ["batch", f"heads.{number}", "query", "key"])
        if self.pooled:
            self.graph.output(self.pooled, "pooling", _PLACES)


def classifier_graph(network: TextClassifier, graph: OnnxGraph, facts: dict[str, str], watched: bool = False) -> Any:
    """Build the graph to log-probabilities (batch, class); with `watched`, attention weights are outputs too."""
    reader = network.reader
    assert isinstance(reader, EncoderReader | Bert)
    build = _Reading(reader, graph)
    scores = linear(graph, "out", network.out, build.summary(build.states()))
    graph.output(graph.op("LogSoftmax", scores, axis=-1), "log_probabilities", ["batch", network.out.out_features])
    if watched:
        build.hand_out_looks()
    return graph.model("classifier", facts)


def masked_graph(network: MaskedBert, graph: OnnxGraph, facts: dict[str, str], watched: bool = False) -> Any:
    """Build the graph to log-probabilities (batch, masked, token) at the masked places."""
    build = _Reading(network.reader, graph)
    places = graph.input("places", TensorProto.INT64, ["batch", "masked"])
    chosen = _states_at(graph, build.states(), places, network.reader.options.width)
    inner = build.activate(linear(graph, "transform", network.transform, chosen))
    guesses = build.norm("transform.norm", network.norm, inner)
    logits = graph.op(
        "Add", graph.product(guesses, "tokens_table", network.reader.tokens), graph.weight("bias", network.bias)
    )
    shape: Shape = ["batch", "masked", len(network.reader.tokens)]
    graph.output(graph.op("LogSoftmax", logits, axis=-1), "log_probabilities", shape)
    if watched:
        build.hand_out_looks()
    return graph.model("masked", facts)


def tagger_graph(network: Tagger, graph: OnnxGraph, facts: dict[str, str], watched: bool = False) -> Any:
    """Build the graph to the scores (batch, word, tag) of the tags, before a softmax or a chain."""
    reader = network.reader
    assert isinstance(reader, EncoderReader | Bert)
    assert network.out is not None
    build, beside = _Reading(reader, graph), _features(network, graph)
    if isinstance(reader, Bert):
        firsts = graph.input("firsts", TensorProto.INT64, ["batch", "word"])
        states = _states_at(graph, build.states(), firsts, reader.options.width)
        states = states if beside is None else graph.op("Concat", states, beside, axis=-1)
    else:
        states = build.states(beside)
    graph.output(linear(graph, "out", network.out, states), "scores", ["batch", "word", network.out.out_features])
    if watched:
        build.hand_out_looks()
    return graph.model("tagger", facts)


def _states_at(graph: OnnxGraph, states: str, places: str, width: int) -> str:
    """Return the states (batch, place, width) at some places of each row."""
    shape = graph.op("Concat", graph.op("Shape", places), graph.whole([width]), axis=0)
    columns = graph.op("Expand", graph.op("Unsqueeze", places, graph.whole([2])), shape)
    return graph.op("GatherElements", states, columns, axis=1)


def _features(network: Tagger, graph: OnnxGraph) -> str | None:
    """Return the features of each word besides its vector: letters and capitalisation."""
    features, found = network.features, []
    words: Shape = ["batch", "word"] if network.reads_pieces else _PLACES
    if features.letters is not None:
        letters = graph.input("letters", TensorProto.INT64, ["form", "letter"])
        forms = graph.input("forms", TensorProto.INT64, words)
        found.append(graph.op("Gather", _letters(features.letters, graph, letters), forms, axis=0))
    if features.shapes is not None:
        shapes = graph.input("shapes", TensorProto.INT64, words)
        found.append(graph.op("Gather", graph.weight("shapes_table", features.shapes), shapes, axis=0))
    if not found:
        return None
    return found[0] if len(found) == 1 else graph.op("Concat", *found, axis=-1)


def _letters(reader: LetterReader, graph: OnnxGraph, letters: str) -> str:
    """Build the convolution over letters and its maximum, (form, width)."""
    assert reader.filters is not None
    real = graph.op("Not", graph.op("Equal", letters, graph.whole(reader.pad)))
    columns = graph.op("Unsqueeze", real, graph.whole([2]))
    vectors = graph.op("Gather", graph.weight("letters_table", reader.embedding), letters, axis=0)
    zeroed = graph.op("Where", columns, vectors, graph.number(0.0))
    reach = reader.options.reach
    assert reader.filters.bias is not None
    weights = graph.weight("filters.weight", reader.filters.weight), graph.weight("filters.bias", reader.filters.bias)
    features = graph.op(
        "Conv",
        graph.op("Transpose", zeroed, perm=[0, 2, 1]),
        *weights,
        pads=[reach, reach],
        kernel_shape=[2 * reach + 1],
    )
    inside = graph.op("Where", graph.op("Unsqueeze", real, graph.whole([1])), features, graph.number(_LOWEST))
    return graph.op("ReduceMax", inside, axes=[2], keepdims=0)
