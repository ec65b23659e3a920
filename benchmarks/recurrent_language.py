"""What a step of the recurrent language models takes: milliseconds for several batches, widths and kinds of numbers.

Run it with `.venv/bin/python benchmarks/recurrent_language.py` on a GPU that nobody else uses. The text is drawn at
random, of as many words as the Penn Treebank has; what is learnt does not matter to the clock. With `--recipe` another
recipe is timed.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from device import DEVICE, wait

from regard.base.progress import silent
from regard.base.recipe import apply_settings
from regard.families import check_recipe
from regard.runs.open import open_run
from regard.runs.request import recipe_table
from regard.training import optimizers
from regard.training.passes import Passes
from regard.training.pieces import Carry, carry_through

WORDS, LINES, LENGTH = 10_000, 6_000, 22
WARM, TIMED = 30, 60  # steps


def write_text(folder: Path) -> str:
    """Words drawn as often as Zipf has it, every one of them at least once."""
    generator = np.random.default_rng(1)
    drawn = np.minimum(generator.zipf(1.3, LINES * LENGTH) - 1, WORDS - 1)
    drawn[:WORDS] = np.arange(WORDS)
    path = folder / "text.txt"
    rows = drawn.reshape(LINES, LENGTH).tolist()
    path.write_text("".join(" ".join(f"w{word}" for word in row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def step_milliseconds(recipe: str, text: str, settings: list[str], precision: str) -> float:
    """The mean over some steps, forward, backward and update, once the common shapes have been seen."""
    data = {"train": text, "valid": text}
    table = apply_settings(recipe_table(recipe)[0] | {"data": data}, settings)
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(check_recipe(table), Path(folder), False, silent, lambda remark: None)
    task, options = run.task.train(), run.recipe.training
    passes, optimizer = Passes(task, task, precision), optimizers.build(task, options.optimizer)
    carry: Carry = None
    began = 0.0
    for number, batch in enumerate(islice(_endless(task), WARM + TIMED)):
        if number == WARM:
            wait()
            began = time.perf_counter()
        optimizer.zero_grad(set_to_none=not passes.capturing)
        (loss,), carry = carry_through([batch], carry, passes)
        optimizers.scale_gradients(task, loss.count, options.optimizer.clip)
        optimizers.step(optimizer, options.optimizer.learning_rate)
    wait()
    return 1000 * (time.perf_counter() - began) / TIMED


def _endless(task: Any) -> Iterator[Any]:
    epoch = 0
    while True:
        yield from task.batches("train", 1, epoch, 0)
        epoch += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--recipe", default="awd-lstm-ptb")
    parser.add_argument("--batch", type=int, nargs="+", default=[20, 40, 80])
    parser.add_argument("--width", type=int, nargs="+", default=[1150, 1152])
    asked = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    print(f"| width, numbers | {' | '.join(f'{batch} rows' for batch in asked.batch)} |")
    print("| --- " * (len(asked.batch) + 1) + "|")
    with tempfile.TemporaryDirectory() as folder:
        text = write_text(Path(folder))
        for precision in ("float32", "bf16") if DEVICE.type == "cuda" else ("float32",):
            for width in asked.width:
                settings = [f"model.width={width}"]
                found = (
                    step_milliseconds(asked.recipe, text, [*settings, f"training.batch={batch}"], precision)
                    for batch in asked.batch
                )
                print(f"| {width}, {precision} | {' | '.join(f'{each:.1f}' for each in found)} |", flush=True)


if __name__ == "__main__":
    main()
