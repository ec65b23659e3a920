"""Export a model as one HTML file: its graphs in int8, its tokenisers and what the page tells about it."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.base.model_folder import read_recipe
from regard.base.progress import Progress, silent
from regard.decoding.options import DecodingOptions
from regard.engines.beam_rules import first_unsupported
from regard.engines.onnx.export import Rounding, cache_shape, network_of, watched_graphs
from regard.engines.shortlist import Shortlist
from regard.loading import Loaded
from regard.onefile.page import DESKS, write_page
from regard.onefile.runtime import find_runtime
from regard.onefile.texts import text_data
from regard.onefile.tokens import tokeniser_data
from regard.runs.about import data_names, hardly_trained, read_about
from regard.viewing.sealed import named_language

SEARCH = ("beam", "length_penalty", "length_penalty_kind", "stop", "longest_ratio", "longest_extra")
LISTED = "shortlist"  # name of its part in a page
_DEPTHS = {"keys": "key_depth", "values": "value_depth"}  # of caches, by their kind


def export_html(
    model: Loaded,
    folder: Path,
    place: Path,
    runtime: Path | None = None,
    shortlist: Shortlist | None = None,
    quantisation: Rounding = "int8",
    progress: Progress = silent,
) -> int:
    """Write the model of a folder as an .html file; return the size of the file.

    `runtime` is the npm package of onnxruntime-web; without it the cached one is used, or it is downloaded. With a
    `shortlist`, the page writes only the tokens listed for a sentence.
    """
    if place.suffix.lower() != ".html":
        raise Fault(f"A page is an .html file, and {place} does not end in .html.")
    name, data = page_data(model, folder)
    parts = watched_graphs(model, quantisation, shortlist is not None)
    if shortlist is not None:
        parts[LISTED] = shortlist_part(shortlist)
    return write_page(place, DESKS[name], data, parts, find_runtime(runtime, progress))


def shortlist_part(shortlist: Shortlist) -> bytes:
    """Return a shortlist as whole numbers of 32 bits: each list after its length, first the common tokens.

    Then each source token comes before its list.
    """
    numbers = [len(shortlist.common), *shortlist.common]
    for source, tokens in shortlist.translations.items():
        numbers += [source, len(tokens), *tokens]
    return np.array(numbers, "<i4").tobytes()


def page_data(model: Loaded, folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the desk of a page, and what its scripts need besides the graphs; refuse a model that they cannot run."""
    found = text_data(model)
    name, data = found if found is not None else ("translate", _translator_data(model))
    return name, {"model": _facts(model, folder), **data}


def _translator_data(model: Loaded) -> dict[str, Any]:
    network, task = network_of(model), model.task
    recipe: Any = model.recipe  # of a translator
    search: DecodingOptions = recipe.decoding
    if name := first_unsupported(search):
        raise Fault(f"Pages cannot follow decoding.{name} = {getattr(search, name)!r}; serve this model instead.")
    sides = recipe.data.tokeniser.by_side()
    tokenisers = {"source": tokeniser_data(task.source, sides[0])}
    if len(sides) > 1:
        tokenisers["target"] = tokeniser_data(task.target, sides[1])
    return {
        "search": {name: getattr(search, name) for name in SEARCH},
        "longest": network.options.longest,
        "sizes": {"past": _past_shapes(cache_shape(network)), "vocabulary": task.target.size},
        "tokenisers": tokenisers,
    }


def _past_shapes(shape: dict[str, int]) -> dict[str, list[int]]:
    """Return the shapes of a step's inputs for one row before its first token, by the kind in their names."""
    if "width" in shape:
        return {"state": [1, shape["width"]], "place": [1, 1]}
    return {kind: [1, shape["heads"], 0, shape[depth]] for kind, depth in _DEPTHS.items()}


def _facts(model: Loaded, folder: Path) -> dict[str, Any]:
    """Return what the page says about the model, in the form of a server's list of models."""
    about, recipe, course = read_about(folder), read_recipe(folder), hardly_trained(folder)
    data = model.recipe.data
    languages = {side: named_language(getattr(data, f"{side}_language", "")) for side in ("source", "target")}
    return {
        "name": folder.resolve().name,
        "family": model.recipe.family,
        "reads": "text",
        **{side: {"code": code, "name": ""} for side, code in languages.items()},
        "description": recipe.get("description", ""),
        "examples": about.examples or [],
        "amount": about.amount and asdict(about.amount),
        "parameters": model.parameters,
        "data": data_names(recipe),
        "hardly_trained": course and {"step": course.best, "steps": course.steps, "validated": course.validated},
    }
