"""Export models for ONNX runtimes: for a translator, a graph that reads, and a graph that writes more tokens.

`encoder.onnx` returns the source keys and values that each block of the decoder attends to. `decoder.onnx` takes them,
the caches of earlier tokens (at first of length zero; zeros for the states of a recurrent decoder, and their place) and
new tokens, and returns logits and the extended caches. A
sentence may have several rows, a beam, over one memory. `step.onnx` is the same for one sentence and one token per row,
with the outputs that a search needs; `onnx_engine` drives it. Models of `texts.py` have one graph.
"""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal

from regard.base.extras import importing
from regard.base.faults import Fault
from regard.base.files import whole_file, write_file
from regard.base.version import __version__
from regard.engines.exported import LISTED, ONNX, no_graphs, write_record
from regard.engines.folders import FOLDERS, whole_folder
from regard.engines.onnx.engine import CANDIDATES, ENCODER, STEP
from regard.engines.onnx.texts import Build, Parts, text_parts
from regard.engines.shortlist import Shortlist
from regard.loading import Loaded
from regard.models.transformer.network import DecoderBlock, Transformer

DECODER, WEIGHTS, ABOUT = "decoder.onnx", "weights.data", "about.json"
Quantisation = Literal["int4", "int8", "float32"]
Rounding = Literal["int4", "int8"]  # for pages
_BITS: dict[str, Literal[4, 8, 32]] = {"int4": 4, "int8": 8, "float32": 32}


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
    listed = shortlist is not None
    parts = text_parts(model) or _translator_parts(model, listed)
    with whole_folder(out, FOLDERS[ONNX]) as partial:
        _write_parts(parts, partial, _BITS[quantisation])
        if shortlist is not None:
            write_file(partial / LISTED, shortlist.to_bytes())
        if made_from is not None:
            write_record(partial, quantisation, made_from)


def network_of(model: Loaded) -> Transformer:
    """Return the network of a model; refuse one that has no ONNX graphs."""
    network = model.task.model
    if not isinstance(network, Transformer):
        raise no_graphs(model.recipe.family)
    if network.options.encoder != "transformer":
        raise Fault("ONNX exports need a Transformer encoder, and this model has model.encoder = 'recurrent'.")
    if network.options.decoder_cell == "gru":
        raise Fault("ONNX exports have no graph of a GRU decoder; train with --set model.decoder_cell=ssru.")
    if network.options.copies:
        raise Fault("ONNX exports need a fixed vocabulary, and this model copies words (model.copies = true).")
    return network


def watched_graphs(model: Loaded, quantisation: Rounding = "int8", listed: bool = False) -> dict[str, bytes]:
    """Return rounded graphs for a page, which also give every head's attention, and their weights.

    With `listed`, a translator writes only the tokens of a shortlist.
    """
    parts = text_parts(model) or _translator_parts(model, listed)
    file = io.BytesIO()
    watched = {name: build for name, build in parts.graphs.items() if name != DECODER}
    graphs = _build_graphs(watched, file, _BITS[quantisation], watched=True)
    return {name: graph.SerializeToString() for name, graph in graphs.items()} | {WEIGHTS: file.getvalue()}


def _translator_parts(model: Loaded, listed: bool = False) -> Parts:
    """Return the parts of a translator; with `listed`, the step writes only the tokens of a shortlist."""
    network, task = network_of(model), model.task
    with importing("onnx", "Writing an ONNX export"):
        from regard.engines.onnx.transformer import candidates_graph, decoder_graph, encoder_graph, step_graph
    graphs: dict[str, Build] = {
        ENCODER: lambda graph, facts, watched: encoder_graph(network, graph, facts, watched),
        DECODER: lambda graph, facts, watched: decoder_graph(network, graph, facts),
        STEP: lambda graph, facts, watched: step_graph(network, graph, facts, task.end, listed, watched),
    }
    if listed:
        graphs[CANDIDATES] = lambda graph, facts, watched: candidates_graph(network, graph, facts)
    files = {
        name: content
        for side, tokeniser in (("source", task.source), ("target", task.target))
        for name, content in tokeniser.files(side).items()
    }
    return Parts(graphs, _about(model, network), files)


def _build_graphs(
    builds: Mapping[str, Build], file: BinaryIO, bits: Literal[4, 8, 32], watched: bool = False
) -> dict[str, Any]:
    """Build graphs whose weights go into one file."""
    with importing("onnx", "Writing an ONNX export"):
        from regard.engines.onnx.graph import OnnxGraph, Store
    store, facts = Store(file, WEIGHTS), {"regard": __version__}
    return {name: build(OnnxGraph(store, bits), facts, watched) for name, build in builds.items()}


def _write_parts(parts: Parts, folder: Path, bits: Literal[4, 8, 32]) -> None:
    with whole_file(folder / WEIGHTS) as file:
        graphs = _build_graphs(parts.graphs, file, bits)
    for name, graph in graphs.items():
        write_file(folder / name, graph.SerializeToString())
    write_file(folder / ABOUT, (json.dumps(parts.about, indent=1, ensure_ascii=False) + "\n").encode())
    for name, content in parts.files.items():
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
