"""How probable drawings are: three codings, each by a Transformer and by a recurrent network of as many parameters.

    .venv/bin/python benchmarks/strokes.py --out runs/strokes --sets aaron_sheep short_kanji omniglot --seeds 1 2 3
    .venv/bin/python benchmarks/strokes.py --out runs/strokes --sets short_kanji --small --rates 4e-3 4e-3 --steps 300

All figures are nats on the lattice of whole units, so that a density and two sorts of tokens can stand side by side:
`regard/data/strokes/codings.py` and `regard/tasks/strokes/batches.py` say how. The learning rate of each family and
coding is the one that is best on the validation drawings of `--choose-on`, after `--choose` steps; the test is looked
at once for each run, by the weights that are best on the validation drawings. A line of JSON is printed for each run.
The second form, with models of an eighth of the size and a grid of a quarter of the cells, is for a CPU.
"""

import argparse
import json
import shutil
import time
from collections import defaultdict
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import torch

from regard.base.progress import silent
from regard.data.strokes.prepare import prepare_strokes
from regard.families import check_recipe
from regard.model import load
from regard.runs.open import open_run
from regard.runs.train import train
from regard.viewing.written import table_lines

RATES = (1e-3, 2e-3, 4e-3, 8e-3)
CODINGS = ("triples", "grid", "dictionary")
FAMILIES = ("sketchformer", "sketch-rnn")
# As many parameters for each: 0.82 and 0.84 million, or 0.11 million of both.
SIZES = {
    "full": {"sketchformer": {}, "sketch-rnn": {"hidden": 384}},
    "small": {
        "sketchformer": {"width": 64, "layers": 2, "feed_forward": 256},
        "sketch-rnn": {"width": 64, "hidden": 128},
    },
}


def recipe_table(
    family: str, drawings: str, coding: str, seed: int, steps: int, rate: float, size: str = "full"
) -> dict[str, Any]:
    name = f"sketch-rnn-datasets:{drawings}.npz"
    optimizer = {"learning_rate": rate}
    training = {"steps": steps, "validate_every": max(1, steps // 8), "save_every": steps, "optimizer": optimizer}
    data: dict[str, Any] = {"train": name, "valid": name, "test": name, "coding": coding}
    if coding == "grid" and size == "small":
        data["cells"] = 50
    return {"family": family, "seed": seed, "data": data, "model": SIZES[size][family], "training": training}


@torch.no_grad()
def measured(task: Any, split: str) -> dict[str, float]:
    """All measures of a split."""
    found: dict[str, Any] = {}
    for batch in task.eval().batches(split, 0, 0, 0):
        for name, measure in task.measure(batch).items():
            found[name] = found[name] + measure if name in found else measure
    return {name: measure.value for name, measure in found.items()}


def run_one(table: dict[str, Any], folder: Path, split: str) -> dict[str, Any]:
    """Train and measure one run, and let go of its folder."""
    began = time.monotonic()
    prepared = folder.parent / f"prepared-{table['data']['train'].partition(':')[2]}-{table['data']['coding']}"
    recipe = check_recipe(table | {"data": table["data"] | {"prepared": str(prepared)}})
    run = open_run(recipe, folder, True, silent, lambda remark: None)
    train(run, [])
    task = load(folder).task
    task.learn_from(prepare_strokes(recipe.data, prepared, silent), recipe)
    found = {"parameters": sum(each.numel() for each in task.parameters()), **measured(task, split)}
    shutil.rmtree(folder)
    return found | {"seconds": round(time.monotonic() - began, 1)}


def choose_rate(out: Path, family: str, coding: str, drawings: str, steps: int, size: str) -> float:
    """The learning rate of a family and a coding, by the nats of validation drawings."""
    found = {}
    for rate in RATES:
        table = recipe_table(family, drawings, coding, 1, steps, rate, size)
        found[rate] = run_one(table, out / f"choose-{family}-{rate}", "valid")["nats"]
        print(json.dumps({"choosing": family, "coding": coding, "rate": rate, "valid nats": found[rate]}), flush=True)
    return min(found, key=found.__getitem__)


def show_table(lines: list[dict[str, Any]]) -> str:
    """The mean of each variant over its seeds, and its standard deviation."""
    nats = defaultdict(list)
    for line in lines:
        nats[line["coding"], line["family"]].append((line["set"], line["nats"], line["nats_per_point"]))
    sets = list(dict.fromkeys(line["set"] for line in lines))
    rows = []
    for (coding, family), found in nats.items():
        cells = []
        for name in sets:
            own = [(drawing, point) for each, drawing, point in found if each == name]
            spread = f" ± {stdev([drawing for drawing, _ in own]):.1f}" if len(own) > 1 else ""
            points = f"{fmean(point for _, point in own):.3f}" if own else ""
            cells.append(f"{fmean(drawing for drawing, _ in own):.1f}{spread} ({points})" if own else "")
        rows.append([coding, family, *cells])
    return "\n".join(table_lines(["coding", "family", *sets], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["aaron_sheep", "short_kanji", "omniglot"])
    parser.add_argument("--codings", nargs="+", default=list(CODINGS), choices=CODINGS)
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=FAMILIES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--choose", type=int, default=400)
    parser.add_argument("--choose-on", default="short_kanji")
    parser.add_argument("--minutes", type=float, default=1e9, help="after which no other run is begun")
    parser.add_argument("--rates", nargs=2, type=float, help="of both families, where they are chosen already")
    parser.add_argument("--small", action="store_true", help="for a CPU")
    parser.add_argument("--split", default="test", choices=("valid", "test"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    began, size = time.monotonic(), "small" if given.small else "full"
    variants = list(product(given.codings, given.families))
    if given.rates:
        rates = {(coding, family): given.rates[FAMILIES.index(family)] for coding, family in variants}
    else:
        asked = (given.choose_on, given.choose, size)
        rates = {(coding, family): choose_rate(given.out, family, coding, *asked) for coding, family in variants}
    lines = []
    for seed, drawings, (coding, family) in product(given.seeds, given.sets, variants):
        if time.monotonic() - began > 60 * given.minutes:
            break
        rate = rates[coding, family]
        table = recipe_table(family, drawings, coding, seed, given.steps, rate, size)
        found = run_one(table, given.out / f"{drawings}-{coding}-{family}-{seed}", given.split)
        named = {"set": drawings, "coding": coding, "family": family, "seed": seed, "rate": rate}
        lines.append(named | found)
        print(json.dumps(lines[-1]), flush=True)
    print(show_table(lines))


if __name__ == "__main__":
    main()
