"""A trained toy on which promises are checked, and how a promise reports that it is broken."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from regard.base.progress import ignore_remark, silent
from regard.families import FAMILIES, check_recipe
from regard.model import Model, load
from regard.promises.toy import Toy
from regard.runs.open import Run, open_run
from regard.runs.train import train
from regard.training.listeners import Lines
from regard.training.snapshot import Facts

SEED = 3
STEPS = {"steps": 4, "validate_every": 2, "save_every": 2, "final": "last", "device": "cpu"}


class Broken(AssertionError):
    """A promise that does not hold, with the reason in a sentence."""


class DoesNotApply(Exception):
    """A promise that does not apply to this family, with the reason."""


def open_toy(family: str, toy: Toy, folder: Path, **model: Any) -> Run:
    """Open the run of a toy in a folder, new or begun; `model` changes the options of its model."""
    table = toy.table(folder) | {"family": family, "seed": SEED}
    steps = STEPS if FAMILIES[family].learns == "gradient" else {}
    changes = {"training": steps | table.get("training", {}), "model": table.get("model", {}) | model}
    recipe = check_recipe(table | changes)
    return open_run(recipe, folder / "run", True, silent, ignore_remark)


@dataclass(frozen=True)
class Trial:
    """The toy of a family in a folder, trained to its end, and what was printed."""

    family: str
    toy: Toy
    folder: Path
    run: Run
    facts: Facts
    printed: str

    @cached_property
    def model(self) -> Model:
        """The model, loaded from its folder."""
        return load(self.run.folder.folder, device="cpu")

    @cached_property
    def inputs(self) -> Sequence[str]:
        """The inputs of the toy, as people give them."""
        toy_inputs = self.toy.inputs
        return toy_inputs(self.folder) if callable(toy_inputs) else toy_inputs


def train_toy(family: str, toy: Toy, folder: Path) -> Trial:
    """Train the toy of a family in a folder."""
    run, file = open_toy(family, toy, folder), io.StringIO()
    facts = train(run, [Lines(file)])
    if not facts.finished:
        raise Broken("the training of its toy ended before its last step")
    return Trial(family, toy, folder, run, facts, file.getvalue())
