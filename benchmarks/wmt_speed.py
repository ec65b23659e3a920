"""How fast the recipes of WMT train on this machine, on invented text of WMT's lengths and vocabulary.

    python benchmarks/wmt_speed.py FOLDER --record wmt-speed.jsonl

Text is invented (benchmarks/wmt_text.py) and prepared as the recipe says, its tokeniser trained on it; then
the recipe is really trained for some seconds, by `regard`'s own trainer and through all of its loop. What counts is
target tokens a second, the median of the reports of the trainer, without checkpoints and validations. On a GPU the
first step of each size of batch is captured, which takes many times as long as the next: ten seconds are too few.
"""

import argparse
import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import torch
from wmt_text import write_pairs

from regard.base.recipe import apply_settings
from regard.console import say_table
from regard.data.corpora.prepare import prepare
from regard.families import check_recipe
from regard.hardware.devices import pick_device
from regard.measuring import seconds_of
from regard.runs.planning.costs import time_steps
from regard.runs.recipes import recipe_text
from regard.tasks.translation.building import build_translation
from regard.tasks.translation.options import TranslationRecipe
from regard.training.checkpoint import RunFolder
from regard.training.snapshot import Facts, Snapshot, Validation, named_weights
from regard.training.trainer import Trainer

BASE = ["model.preset=base", "model.dropout=0.1", "training.optimizer.learning_rate=7e-4"]
RUNS = {
    "wmt14-en-de, big": ("wmt14-en-de", []),
    "wmt14-en-fr, big": ("wmt14-en-fr", []),
    "wmt14-en-de, base": ("wmt14-en-de", BASE),
    "wmt14-en-fr, base": ("wmt14-en-fr", BASE),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the text and what is prepared from it may lie")
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=4, help="that write and prepare the text")
    parser.add_argument("--seconds", type=float, default=60.0, help="of training that are timed, of each")
    parser.add_argument("--set", dest="settings", action="append", default=[], help="another setting of the recipes")
    parser.add_argument("--only", nargs="*", choices=list(RUNS), default=list(RUNS))
    parser.add_argument("--record", type=Path, help="a .jsonl to which each recipe is added when it is done")
    given = parser.parse_args()
    files = write_pairs(given.folder, given.pairs, given.processes)
    rows = []
    for name in given.only:
        found = measure(*RUNS[name], list(map(str, files)), given)
        rows.append(
            [name, *(f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" for value in found.values())]
        )
        if given.record:
            with given.record.open("a") as file:
                file.write(json.dumps({"recipe": name} | found) + "\n")
    say_table(["recipe", *found], rows)


def measure(recipe_name: str, settings: list[str], files: list[str], given: argparse.Namespace) -> dict[str, Any]:
    """Tokens a second, and what they depend on."""
    table = tomllib.loads(recipe_text(recipe_name))
    table["data"] |= {"train": files, "valid": [], "test": [], "processes": given.processes}
    recipe = check_recipe(apply_settings(table, [*settings, *given.settings]))
    assert isinstance(recipe, TranslationRecipe)
    corpus = prepare(recipe.data, given.folder / f"{recipe_name}.prepared")
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    task = build_translation(recipe, corpus.source, corpus.target).to(pick_device(recipe.training.device))
    task.learn_from(corpus, recipe)
    folder = RunFolder(given.folder / "timed")
    watch = time_steps(Trainer(task, recipe.training, recipe.seed, folder, refuse_validation), given.seconds)
    weights = named_weights(task)
    kept = Snapshot(dict.fromkeys(("weights", "first", "second"), weights), Facts())  # as much as with Adam's memory
    saving = seconds_of(lambda: folder.save(kept), most=0.0)
    shutil.rmtree(folder.folder)
    return {
        "target tokens a second": round(watch.items / watch.seconds_of_step),
        "tokens a step": round(watch.items),
        "ms a step": 1000 * watch.seconds_of_step,
        "seconds of a checkpoint": saving,
        "tokens a sentence": float(corpus.train.target_lengths.mean()),
        "vocabulary": corpus.target.size,
        "GB": torch.cuda.max_memory_allocated() / 1e9 if torch.cuda.is_available() else 0.0,
    }


def refuse_validation() -> Validation:
    raise RuntimeError("a run that is only timed is not validated")


if __name__ == "__main__":
    main()
