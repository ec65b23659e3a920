"""What looking at a picture costs by its size, with glimpses and with a convolution; and what more paths are worth.

Run it with `python benchmarks/glimpses.py`: networks as the recipes for scenes of 60 × 60 build them, for pictures of
growing size. Multiplications are counted; milliseconds are of processor time for one picture alone, on one thread, the
median of several. With model folders behind it, it prints the error on the test of each, for answers along one path and
averaged over several.
"""

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import torch

from regard.base.progress import silent
from regard.base.recipe import read_table
from regard.families import check_recipe
from regard.measuring import measure_split
from regard.model import load
from regard.runs.open import data_folder
from regard.tasks.base import build_network

RECIPES = Path(__file__).parents[1] / "regard" / "recipes"
NAMES = ("ram-mnist-cluttered", "convnet-mnist-cluttered")
SIDES = (28, 60, 120, 240, 480)
TIMES = 51
PATHS = (1, 10)


def median_milliseconds(network: Any, side: int) -> float:
    """The processor time of one answer."""
    picture = torch.rand(1, side, side)
    durations = []
    with torch.no_grad():
        for _ in range(TIMES):
            start = time.process_time()
            network.answer(picture)
            durations.append(time.process_time() - start)
    return 1000 * statistics.median(durations)


def print_costs() -> None:
    """Multiplications and milliseconds for one answer, by the side of the picture."""
    torch.set_num_threads(1)
    recipes = [check_recipe(read_table(RECIPES / f"{name}.toml")) for name in NAMES]
    print("| side |" + "".join(f" {recipe.family}: multiplications | ms |" for recipe in recipes))
    print("| --- |" + " --- | --- |" * len(recipes))
    for side in SIDES:
        cells = []
        for recipe in recipes:
            network = build_network(recipe, 10, side, side).eval()
            cells.append(f" {network.multiplications(side, side):,} | {median_milliseconds(network, side):.2f} |")
        print(f"| {side} |" + "".join(cells))


def print_errors(folders: list[Path]) -> None:
    """The error on the test of trained models, by how many paths an answer averages."""
    print("| model |" + "".join(f" {paths} path{'s' * (paths > 1)} |" for paths in PATHS))
    print("| --- |" + " --- |" * len(PATHS))
    for folder in folders:
        model = load(folder)
        task, recipe = model.task, model.recipe
        place = data_folder(recipe, folder)
        task.learn_from(task.prepare(recipe, place, silent, print, None), recipe)
        cells = []
        for paths in PATHS:
            task.model.options = task.model.options.model_copy(update={"paths": paths})
            cells.append(f" {measure_split(task, 'test')['error'].value:.2f} |")
        print(f"| {folder.name} |" + "".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="model folders of rams; without any, costs are printed")
    folders = parser.parse_args().folders
    if folders:
        print_errors(folders)
    else:
        print_costs()


if __name__ == "__main__":
    main()
