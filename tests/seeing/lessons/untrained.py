"""Folders of untrained translators, made in a moment, for tests of views into them."""

from pathlib import Path
from typing import Any

from toys import open_trained_toy

import regard
from regard.base.recipe import write
from regard.data.tokenisers.tokeniser import Kind, train_tokeniser
from regard.families import check_recipe
from regard.tasks.translation.building import build_translation
from regard.training import checkpoint
from regard.training.snapshot import named_weights
from regard.verbs.translate.model import TranslationModel

SENTENCES = ["Ana reads a green book.", "Ana lê um livro verde."]
SIZES: dict[str, dict[str, Any]] = {
    "seq2seq": {"embedding": 6, "width": 8},
    "transformer": {"width": 8, "feed_forward": 8, "heads": 2, "encoder_layers": 1, "decoder_layers": 1},
}


def untrained_folder(folder: Path, family: str = "seq2seq", kind: Kind = "words", **model: Any) -> Path:
    """Return a model folder with initial weights, whose tokens are the words of two sentences or another kind."""
    data = {
        "source_language": "en",
        "target_language": "pt",
        "train": "demo:train",
        "tokeniser": {"kind": kind, "vocabulary": 300},
        "cleaning": {"longest": 10},
    }
    table = {"family": family, "data": data, "model": SIZES[family] | {"longest": 20} | model}
    recipe = check_recipe(table)
    tokeniser = train_tokeniser(recipe.data.tokeniser, SENTENCES)
    files = {
        checkpoint.RECIPE: write(recipe, "# nobody trained this").encode(),
        checkpoint.WEIGHTS: checkpoint.weights_to_bytes(named_weights(build_translation(recipe, tokeniser, tokeniser))),
        **tokeniser.files("tokeniser"),
    }
    checkpoint.update_folder(folder, files)
    return folder


def untrained(folder: Path, family: str = "seq2seq", kind: Kind = "words", **model: Any) -> TranslationModel:
    """Load an untrained model."""
    loaded = regard.load(untrained_folder(folder, family, kind, **model), device="cpu")
    assert isinstance(loaded, TranslationModel)
    return loaded


def toy_folder(folder: Path) -> Path:
    """A language model of two blocks in a folder named as its family, gpt or bert, trained on a few lines."""
    folder.mkdir()
    return open_trained_toy(folder.name, folder, layers=2).folder.folder
