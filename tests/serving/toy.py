"""A quickly made translator with random weights that always ends soon and writes something else for each text."""

from pathlib import Path
from typing import Any

import torch

from regard.attention.positions import Learned
from regard.base.recipe import Recipe, write
from regard.data.tokenisers.words import WordTokeniser
from regard.engines.ctranslate2.export import export_ctranslate2
from regard.engines.exported import CTRANSLATE2
from regard.families import check_recipe
from regard.models.transformer.network import Transformer
from regard.tasks.translation.building import build_translation
from regard.tasks.translation.task import Translation
from regard.training import checkpoint
from regard.training.snapshot import named_weights

OUTPUT = 6  # tokens that an output has at most
LONGEST = 64
ENGLISH = """. , ! ? I love books Ana reads sees the red house boys new at home a man two dogs run and"""
PORTUGUESE = """Eu amo livros lê vê casa vermelha os meninos novos em um homem dois cachorros correm não é água"""
WORDS = [*f"{ENGLISH} {PORTUGUESE}".split(), *(f"w{number}" for number in range(120))]
TOKENISER = WordTokeniser(WORDS)
SIZES = {"encoder_layers": 2, "decoder_layers": 2, "width": 16, "feed_forward": 32, "heads": 2, "longest": LONGEST}


def make_model(folder: Path, source: str = "en", target: str = "pt", export: bool = True, seed: int = 1) -> Path:
    """Write a model folder, with an export for CTranslate2 on request."""
    recipe = check_recipe(
        {
            "seed": seed,
            "data": _data(source, target),
            "model": {**SIZES, "norm": "before", "positions": "learned"},
        }
    )
    task = build_translation(recipe, TOKENISER, TOKENISER)
    assert isinstance(task.model, Transformer)
    assert isinstance(task.model.target_places, Learned)
    with torch.no_grad():
        for name, weight in task.model.named_parameters():
            weight.mul_(4.0 if "cross" in name else 1.0)
        end = task.model.out.weight[TOKENISER.end]
        task.model.target_places.places.weight[OUTPUT:] += 1000 * end / end.norm()
    _save(folder, recipe, task)
    if export:
        export_ctranslate2(folder, folder / CTRANSLATE2, "float32")
    return folder


def make_recurrent(folder: Path, decoder: str, source: str = "en", target: str = "ru", **model: Any) -> Path:
    """Write a recurrent model with the same words."""
    sizes = {"embedding": 12, "width": 16, "decoder": decoder}
    return make_family(folder, "seq2seq", source, target, **sizes, **model)


def make_family(folder: Path, family: str, source: str = "en", target: str = "ru", **model: Any) -> Path:
    """Write a translator of any family with initial weights."""
    table = {"family": family, "data": _data(source, target), "model": {"longest": LONGEST, **model}}
    recipe = check_recipe(table)
    _save(folder, recipe, build_translation(recipe, TOKENISER, TOKENISER))
    return folder


def _data(source: str, target: str) -> dict[str, Any]:
    return {
        "train": "demo:train",
        "source_language": source,
        "target_language": target,
        "cleaning": {"longest": LONGEST - 1},
        "tokeniser": {"kind": "words", "vocabulary": len(WORDS) + 4},
    }


def _save(folder: Path, recipe: Recipe, task: Translation) -> None:
    files = {checkpoint.RECIPE: write(recipe, "random").encode(), **TOKENISER.files("tokeniser")}
    files[checkpoint.WEIGHTS] = checkpoint.weights_to_bytes(named_weights(task))
    checkpoint.update_folder(folder, files)
