"""A bidirectional language model inside another model: the files that travel with it, and how to rebuild it."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors

from regard.base.faults import Fault
from regard.base.model_folder import RECIPE, WEIGHTS, read_folder, read_recipe
from regard.base.recipe import CheckRecipe, parse
from regard.base.tensors import read_shapes
from regard.data.labelled.ready import known_words
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.models.recurrent.bilm import Bilm
from regard.models.text.contexts import ContextSource
from regard.tasks.contexts.options import ContextsRecipe
from regard.tasks.contexts.task import Contexts

# Names of its files in its own folder -> in the folder of the model that uses it.
_NAMES = {RECIPE: "contexts.toml", "tokeniser.json": "contexts.json"}


def read_contexts(folder: Path) -> dict[str, bytes]:
    """Read the files of a language model that another model's folder keeps: its recipe and its words."""
    if (family := read_recipe(folder).get("family")) != "bilm":
        raise Fault(f"data.contexts is {folder}, a model of the family {family}; features are read from a bilm.")
    files = read_folder(folder, list(_NAMES))
    return {theirs: files[name] for name, theirs in _NAMES.items()}


def contexts_in(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the language model's files from those of the folder that took them over."""
    if missing := [name for name in _NAMES.values() if name not in files]:
        raise Fault(f"{missing[0]} of the model folder is missing.")
    return {name: files[name] for name in _NAMES.values()}


def build_contexts(files: Mapping[str, bytes], check: CheckRecipe) -> Contexts:
    """Build the task of the language model, without its weights."""
    own_files = {name: contexts_in(files)[theirs] for name, theirs in _NAMES.items()}
    recipe = check(parse(own_files[RECIPE].decode("utf-8", "replace"), _NAMES[RECIPE]))
    if not isinstance(recipe, ContextsRecipe):
        raise Fault(f"{_NAMES[RECIPE]} of the model folder belongs to the family {recipe.family}, not to a bilm.")
    return Contexts.build(recipe, own_files)


def context_words(files: Mapping[str, bytes], check: CheckRecipe) -> list[str]:
    """Return the words that a language model knows."""
    return known_words(build_contexts(files, check).tokeniser)


def context_source(files: Mapping[str, bytes], tokeniser: Tokeniser, check: CheckRecipe) -> ContextSource:
    """Return the language model, and its tokens for those of this tokeniser."""
    task = build_contexts(files, check)
    words = tokeniser.pieces(range(tokeniser.size))
    tokens = torch.tensor([_token_of(task.tokeniser, word) for word in words])
    tokens[tokeniser.pad] = task.tokeniser.pad
    return ContextSource(task.model, tokens)


def _token_of(tokeniser: Tokeniser, word: str) -> int:
    tokens = tokeniser.encode(word)
    return tokens[0] if len(tokens) == 1 else tokeniser.unknown


@torch.no_grad()
def take_weights(bilm: Bilm, folder: Path) -> None:
    """Copy the weights in its own folder into a language model."""
    content = read_folder(folder, [WEIGHTS])[WEIGHTS]
    read_shapes(BytesIO(content), str(folder / WEIGHTS))
    try:
        weights = load_tensors(content)
        for name, parameter in bilm.named_parameters():
            parameter.copy_(weights[f"model.{name}"])
    except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise Fault(f"{folder / WEIGHTS} does not hold the weights that its recipe asks for: {error}.") from None
