"""A small n-gram model and a recipe that counts it, for tests of everything around it."""

from pathlib import Path
from typing import Any

from regard.base.progress import silent
from regard.base.recipe import write
from regard.families import check_recipe
from regard.tasks.language.counting import CountedLanguage
from regard.tasks.language.options import CountedLanguageRecipe

LINES = [
    "the cat sat on the mat .",
    "the dog sat on the cat .",
    "a dog saw the cat on a mat .",
    "the cat saw a dog .",
    "a cat and a dog sat .",
]


def recipe_in(folder: Path, **model: Any) -> CountedLanguageRecipe:
    """Write a recipe that counts these lines a sentence or two at a time; they are its test data too."""
    text = folder / "text.txt"
    text.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    table = {
        "family": "ngram",
        "data": {"train": str(text), "valid": str(text), "test": str(text)},
        "model": {"order": 3, "discount_fallback": True} | model,
        "training": {"batch_tokens": 5},
    }
    recipe = check_recipe(table)
    assert isinstance(recipe, CountedLanguageRecipe)
    return recipe


def write_recipe(folder: Path, **model: Any) -> Path:
    path = folder / "recipe.toml"
    path.write_text(write(recipe_in(folder, **model), "A small n-gram model."), encoding="utf-8")
    return path


def ready_in(folder: Path, **model: Any) -> CountedLanguage:
    """Return a task that is about to count."""
    recipe = recipe_in(folder, **model)
    prepared = CountedLanguage.prepare(recipe, folder / "prepared", silent, lambda text: None, None)
    task = CountedLanguage.build(recipe, prepared.files())
    task.learn_from(prepared, recipe)
    return task


def counted_in(folder: Path, **model: Any) -> CountedLanguage:
    """Return a task with its model."""
    task = ready_in(folder, **model)
    for batch in task.batches("train", seed=0, epoch=0, start=0):
        task.count(batch)
    task.estimate()
    return task
