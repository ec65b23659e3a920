"""Which alphabet a letter is of: by its strokes with attention or an LSTM, and by its picture with convolutions.

    .venv/bin/python benchmarks/alphabets.py --out runs/alphabets --seeds 1 2 3
    .venv/bin/python benchmarks/alphabets.py --out runs/alphabets --seeds 2 3 --choose 0
    .venv/bin/python benchmarks/alphabets.py --out runs/alphabets --seeds 1 --steps 40 --choose 20

How much each network is guarded against learning its few drawings by heart is chosen by the errors on the validation
drawings of seed 1, after `--choose` steps, where drawers are new; the same then holds where characters are. With
`--choose 0` it is as the recipes have it, where it was chosen so. The test is looked at once for each run, by the
weights that were best on the validation drawings. A line of JSON is printed for each run, and a table at last.
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

import regard
from regard.viewing.written import table_lines

SPLITS = ("by-drawer", "by-character")
OF_STROKES = [{"training.distort": far, "model.dropout": share} for far in (0.1, 0.2, 0.3) for share in (0.1, 0.3)]
OF_PICTURES = [{"data.scene.side": side, "model.dropout": share} for side in (35, 39, 43) for share in (0.0, 0.5)]
CHOICES = {"sketch-alphabets": OF_STROKES, "sketch-alphabets-rnn": OF_STROKES, "convnet-alphabets": OF_PICTURES}
# The same networks, shown every letter as it was drawn.
PLAIN: dict[str, dict[str, Any]] = {
    "sketch-alphabets": {"training.distort": 0.0},
    "sketch-alphabets-rnn": {"training.distort": 0.0},
    "convnet-alphabets": {"data.scene.side": 35},
}


def data_settings(recipe: str, split: str, out: Path) -> dict[str, Any]:
    """The files of a split, as strokes or as pictures."""
    found: dict[str, Any] = {}
    for part in ("train", "valid", "test"):
        name = f"omniglot-small:{split}/{part}"
        if recipe == "convnet-alphabets":
            found |= {
                f"data.{part}.pictures": f"{name}-pictures.idx.gz",
                f"data.{part}.labels": f"{name}-labels.txt.gz",
            }
        else:
            found |= {f"data.{part}": f"{name}.jsonl.gz", "data.prepared": str(out / f"prepared-{split}")}
    return found


def run_one(
    recipe: str, settings: dict[str, Any], steps: int, seed: int, out: Path, split: str = "test"
) -> dict[str, Any]:
    """Train and measure one run, and let go of its folder."""
    began, folder = time.monotonic(), out / f"{recipe}-{seed}"
    timed = {"training.steps": steps, "training.validate_every": max(1, steps // 16), "training.save_every": steps}
    model = regard.train(recipe, settings | timed, out=folder, seed=seed, overwrite=True, quiet=True)
    scores = {score.metric: score.value for score in regard.evaluate(model, split, quiet=True)}
    shutil.rmtree(folder)
    return {"parameters": model.parameters, **scores, "seconds": round(time.monotonic() - began, 1)}


def choose(recipe: str, steps: int, out: Path) -> dict[str, Any]:
    """The settings with the fewest errors on validation drawings; of two that are as good, that of the lower loss."""
    found = []
    for settings in CHOICES[recipe]:
        measured = run_one(recipe, data_settings(recipe, "by-drawer", out) | settings, steps, 1, out, "valid")
        print(json.dumps({"choosing": recipe, **settings, "valid": measured}), flush=True)
        found.append((measured["error"], measured["loss"], settings))
    return min(found, key=lambda each: each[:2])[2]


def show_table(lines: list[dict[str, Any]]) -> str:
    """The mean error of each variant over its seeds, its standard deviation, and the seeds."""
    errors: dict[tuple[str, bool], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        errors[line["recipe"], line["changed"]][line["split"]].append(line["error"])
    rows = []
    for (recipe, changed), by_split in errors.items():
        cells = [_cell(by_split[split]) if by_split[split] else "" for split in SPLITS]
        rows.append([recipe, "changed anew in each epoch" if changed else "as they were drawn", *cells])
    return "\n".join(table_lines(["recipe", "letters to learn from", *SPLITS], rows))


def _cell(errors: list[float]) -> str:
    spread = f" ± {stdev(errors):.2f}" if len(errors) > 1 else ""
    return f"{fmean(errors):.2f}{spread} ({', '.join(f'{each:.2f}' for each in errors)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recipes", nargs="+", default=list(CHOICES), choices=CHOICES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--choose", type=int, default=1000, help="steps; 0: the settings of the recipes")
    parser.add_argument("--minutes", type=float, default=1e9, help="after which no other run is begun")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    chosen = {recipe: choose(recipe, given.choose, given.out) if given.choose else {} for recipe in given.recipes}
    lines = []
    variants = [
        (split, recipe, changed)
        for changed, splits in ((True, SPLITS), (False, SPLITS[:1]))
        for split in splits
        for recipe in given.recipes
    ]
    for seed, (split, recipe, changed) in product(given.seeds, variants):
        if time.monotonic() - began > 60 * given.minutes:
            break
        settings = data_settings(recipe, split, given.out) | chosen[recipe] | ({} if changed else PLAIN[recipe])
        found = run_one(recipe, settings, given.steps, seed, given.out)
        named = {"recipe": recipe, "split": split, "changed": changed, "seed": seed, **chosen[recipe]}
        lines.append(named | found)
        print(json.dumps(lines[-1]), flush=True)
    print(show_table(lines))


if __name__ == "__main__":
    main()
