"""Families trained by gradient on divisible batches learn the same bits on one process and on two."""

import sys
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import torch
from toys import TOYS

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import Recipe
from regard.families import FAMILIES, check_recipe
from regard.runs.dry_run import dry_run
from regard.runs.open import open_run
from regard.runs.together import open_together
from regard.runs.train import train
from regard.training.checkpoint import WEIGHTS, bytes_to_weights
from regard.training.events import Event, Hurried, Listener, Stepped
from regard.training.ranks import ALONE, Ranks

sys.path.insert(0, str(Path(__file__).parent / "training"))
from forked import on_ranks

pytestmark = pytest.mark.usefixtures("no_curves")
ALWAYS = ("transformer", "rnnlm")  # the others take minutes together
BY_GRADIENT = [name for name, toy in TOYS.items() if FAMILIES[toy.family or name].learns == "gradient"]
CUT = [name for name in BY_GRADIENT if name != "gat"]


def toy_recipe(name: str, place: Path, **training: Any) -> Recipe:
    """Write the data and return the recipe of a toy whose batches are cut in two. Do this before ranks start."""
    place.mkdir(exist_ok=True)
    table, family = TOYS[name].table(place), TOYS[name].family or name
    whole = table["training"] | {"pieces": 2} | training
    return check_recipe(table | {"family": family, "seed": 3, "training": whole})


def train_toy(recipe: Recipe, place: Path, ranks: Ranks, *listeners: Listener) -> str:
    """Return a digest of the weights of a toy after training or continued training."""

    def open_as(writes: bool) -> Any:
        return open_run(recipe, place / "run", True, silent, lambda remark: None, writes=writes)

    train(open_together(ranks, place / "run", open_as), listeners, ranks)
    return sha256((place / "run" / WEIGHTS).read_bytes()).hexdigest() if ranks.leads else ""


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "name", [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.long) for name in CUT]
)
def test_two_ranks_learn_the_bits_that_one_learns(name: str, tmp_path: Path) -> None:
    digests = []
    for size in (1, 2):
        place = tmp_path / str(size)
        recipe = toy_recipe(name, place)
        digests.append(on_ranks(size, partial(train_toy, recipe, place))[0])
    assert digests[0] == digests[1]


@pytest.mark.long
@pytest.mark.parametrize("begun", [1, 2, 4])
@pytest.mark.parametrize("resumed", [1, 2, 4])
def test_begun_on_some_ranks_and_resumed_on_others_is_never_stopped(begun: int, resumed: int, tmp_path: Path) -> None:
    """Train nine of nine steps with dropout, in four pieces, with a stop between two checkpoints."""
    recipes = {name: toy_recipe("transformer", tmp_path / name, pieces=4) for name in ("whole", "stopped")}

    def stop(event: Event) -> str | None:
        return Hurried("enough") if isinstance(event, Stepped) and event.step == 3 else None

    def work(name: str, ranks: Ranks, *listeners: Listener) -> str:
        return train_toy(recipes[name], tmp_path / name, ranks, *listeners)

    (whole,) = on_ranks(1, partial(work, "whole"))
    on_ranks(begun, lambda ranks: work("stopped", ranks, *([stop] if ranks.leads else [])))
    assert on_ranks(resumed, partial(work, "stopped"))[0] == whole


@pytest.mark.long
@pytest.mark.parametrize("name", ["transformer", "gpt", "bert", "patches", "captioner", "seq2seq"])
def test_sharded_weights_learn_what_whole_ones_learn(name: str, tmp_path: Path) -> None:
    """Use plain descent: Adam would amplify rounding errors of zero gradients, such as those of key biases."""
    descent = {"kind": "sgd", "learning_rate": 0.1, "schedule": "constant", "warmup": 0}
    for size in (1, 2):
        place = tmp_path / str(size)
        recipe = toy_recipe(name, place, sharded=True, optimizer=descent)
        on_ranks(size, partial(train_toy, recipe, place))
    whole, sharded = (
        bytes_to_weights((tmp_path / size / "run" / WEIGHTS).read_bytes(), WEIGHTS) for size in ("1", "2")
    )
    torch.testing.assert_close(sharded, whole)


@pytest.mark.long
@pytest.mark.parametrize("name", CUT)
def test_a_training_is_checked_without_its_ranks(name: str, tmp_path: Path) -> None:
    remarks = list[str]()
    dry_run(toy_recipe(name, tmp_path), None, 2, remarks.append)
    assert remarks[-1].startswith("each process holds about")


def test_a_whole_graph_is_not_cut(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="A gat learns from a whole graph at once and cannot use 2 pieces;"):
        train_toy(toy_recipe("gat", tmp_path), tmp_path, ALONE)
    assert not (tmp_path / "run").exists()
