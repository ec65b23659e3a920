"""Export one of our Transformers for ONNX runtimes: a graph that reads, and a graph that writes more tokens.

`encoder.onnx` returns the source keys and values that each block of the decoder attends to. `decoder.onnx` takes them,
the caches of earlier tokens (at first of length zero; zeros for the states of a recurrent decoder, and their place) and
new tokens, and returns logits and the extended caches. A
sentence may have several rows, a beam, over one memory. `step.onnx` is the same for one sentence and one token per row,
with the outputs that a search needs; `onnx_engine` drives it.
"""

import io
import json
from pathlib import Path
from typing import Any, Literal

from regard.base.extras import importing
from regard.base.faults import Fault
from regard.base.files import whole_file, write_file
from regard.base.version import __version__
from regard.engines.exported import LISTED, ONNX, write_record
from regard.engines.folders import FOLDERS, whole_folder
from regard.engines.onnx.engine import CANDIDATES, ENCODER, STEP
from regard.engines.shortlist import Shortlist
from regard.loading import Loaded
from regard.models.transformer.network import DecoderBlock, Transformer

DECODER, WEIGHTS, ABOUT = "decoder.onnx", "weights.data", "about.json"
Quantisation = Literal["int8", "float32"]


def export_onnx(
    model: Loaded,
    out: Path,
    quantisation: Quantisation = "float32",
    made_from: dict[str, str] | None = None,
    shortlist: Shortlist | None = None,
) -> None:
    """Write a model to the folder `out`: graphs, weights, tokenisers and facts about them.

    With `made_from`, the checksums of the model's own files, the engine uses the export as long as they match. With a
    `shortlist`, it writes only the tokens listed for a sentence.
    """
    network = network_of(model)
    with whole_folder(out, FOLDERS[ONNX]) as partial:
        _write_graphs(model, network, partial, quantisation == "int8", shortlist is not None)
        if shortlist is not None:
            write_file(partial / LISTED, shortlist.to_bytes())
        if made_from is not None:
            write_record(partial, quantisation, made_from)


def network_of(model: Loaded) -> Transformer:
    """Return the network of a model; refuse one that has no ONNX graphs."""
    network = model.task.model
    if not isinstance(network, Transformer):
        raise Fault(f"An ONNX export needs a Transformer, and this model is of the family {model.recipe.family}.")
    if network.options.encoder != "transformer":
        raise Fault("ONNX exports need a Transformer encoder, and this model has model.encoder = 'recurrent'.")
    if network.options.decoder_cell == "gru":
        raise Fault("ONNX exports have no graph of a GRU decoder; train with --set model.decoder_cell=ssru.")
    if network.options.copies:
        raise Fault("ONNX exports need a fixed vocabulary, and this model copies words (model.copies = true).")
    return network


def watched_graphs(model: Loaded) -> dict[str, bytes]:
    """Return int8 graphs for a page: the encoder, a step that also gives every head's attention, and their weights."""
    with importing("onnx", "Writing a page with a model"):
        from regard.engines.onnx.graph import OnnxGraph, Store
        from regard.engines.onnx.transformer import encoder_graph, step_graph
    network, facts, file = network_of(model), {"regard": __version__}, io.BytesIO()
    store = Store(file, WEIGHTS)
    graphs = {
        ENCODER: encoder_graph(network, OnnxGraph(store, rounded=True), facts),
        STEP: step_graph(network, OnnxGraph(store, rounded=True), facts, model.task.end, watched=True),
    }
    return {name: graph.SerializeToString() for name, graph in graphs.items()} | {WEIGHTS: file.getvalue()}


def _write_graphs(model: Loaded, network: Transformer, folder: Path, rounded: bool, listed: bool) -> None:
    with importing("onnx", "Writing an ONNX export"):
        from regard.engines.onnx.graph import OnnxGraph, Store
        from regard.engines.onnx.transformer import candidates_graph, decoder_graph, encoder_graph, step_graph
    task, facts = model.task, {"regard": __version__}
    with whole_file(folder / WEIGHTS) as file:
        store = Store(file, WEIGHTS)
        graphs = {
            ENCODER: encoder_graph(network, OnnxGraph(store, rounded), facts),
            DECODER: decoder_graph(network, OnnxGraph(store, rounded), facts),
            STEP: step_graph(network, OnnxGraph(store, rounded), facts, task.end, listed),
        }
        if listed:
            graphs[CANDIDATES] = candidates_graph(network, OnnxGraph(store, rounded), facts)
    for name, graph in graphs.items():
        write_file(folder / name, graph.SerializeToString())
    write_file(folder / ABOUT, (json.dumps(_about(model, network), indent=1, ensure_ascii=False) + "\n").encode())
    for side, tokeniser in (("source", task.source), ("target", task.target)):
        for name, content in tokeniser.files(side).items():
            write_file(folder / name, content)


def cache_shape(network: Transformer) -> dict[str, int]:
    """Return the shape of a decoder block's cache, or the width of its cell's state."""
    block = network.decoder[0]
    if not isinstance(block, DecoderBlock):
        return {"width": network.options.width}
    heads = block.self_look
    return {"heads": heads.key_value_heads, "key_depth": heads.key_depth, "value_depth": heads.value_depth}


def _about(model: Loaded, network: Transformer) -> dict[str, Any]:
    """Return what a runner of the graphs must know: special tokens, and the shape of an empty past."""
    task, data = model.task, model.recipe.data
    return {
        "regard": __version__,
        "languages": [data.source_language, data.target_language],
        "source": {"tokens": task.source.size, "pad": task.source.pad, "end": task.source.end},
        "target": {"tokens": task.target.size, "pad": task.target.pad, "begin": task.begin, "end": task.end},
        "tokeniser": data.tokeniser.model_dump(),
        "longest": network.options.longest,
        "decoder_layers": network.options.decoder_layers,
        "past": cache_shape(network),
    }
