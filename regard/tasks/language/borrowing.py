"""Parts that a language model takes from another model: its tokens, and the text it must not learn from."""

from pathlib import Path
from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.base.model_folder import RECIPE, WEIGHTS, read_folder, read_manifest, read_recipe
from regard.base.recipe import CheckRecipe
from regard.data.corpora.hashes import hash_sentences
from regard.data.corpora.prepared import is_prepared, read_unlearnt
from regard.data.texts.options import LanguageModelData, TextTokeniserOptions
from regard.data.texts.prepare import tokeniser_in
from regard.data.tokenisers.tokeniser import Tokeniser, TokeniserOptions, tokenisers_in

_OF_MAKING = {"vocabulary", "at_least"}  # options for making a tokeniser, which do not describe the result


def borrowed_for(data: LanguageModelData, folder: Path, check: CheckRecipe) -> Tokeniser | None:
    """Return the tokeniser that a recipe takes over; if its model is gone, the one used for the text in `folder`."""
    if data.tokeniser.from_ is None:
        return None
    origin = Path(data.tokeniser.from_).expanduser()
    if not (origin / RECIPE).exists() and (cut_by := tokeniser_in(data, folder)) is not None:
        return cut_by
    listed = [name for name in read_manifest(origin) if name != WEIGHTS]
    return tokenisers_in(read_folder(origin, listed), _options(origin, check))[-1]


def hashes_left_out(data: LanguageModelData, check: CheckRecipe) -> np.ndarray:
    """Return the hashes of a translator's validation and test sentences, if the recipe names one."""
    if data.leave_out is None:
        return np.zeros(0, np.uint64)
    origin = Path(data.leave_out).expanduser()
    recipe: Any = check(read_recipe(origin))
    prepared = Path(getattr(recipe.data, "prepared", None) or origin / "training" / "corpus").expanduser()
    if not is_prepared(prepared):
        raise Fault(
            f"data.leave_out is {origin}, but the corpus of a translator is not in {prepared}; "
            "keep its training folder, or omit data.leave_out."
        )
    return hash_sentences(read_unlearnt(prepared))


def borrowed_options(origin: Path, check: CheckRecipe) -> dict[str, Any]:
    """Return recipe options for the tokens of a model folder; for a translator, those of its target side."""
    options = _options(origin, check).by_side()[-1]
    names = TextTokeniserOptions.model_fields.keys() & TokeniserOptions.model_fields.keys() - _OF_MAKING
    return {name: getattr(options, name) for name in sorted(names)}


def _options(origin: Path, check: CheckRecipe) -> TokeniserOptions:
    if not (origin / RECIPE).exists():
        raise Fault(f"data.tokeniser.from is {origin}, but there is no model; train that model first, or name another.")
    recipe: Any = check(read_recipe(origin))
    options = getattr(recipe.data, "tokeniser", None)
    if isinstance(options, TextTokeniserOptions):
        return options.full()
    if not isinstance(options, TokeniserOptions):
        raise Fault(f"data.tokeniser.from is {origin}, whose model has no tokeniser; name a text model.")
    return options
