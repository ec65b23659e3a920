"""Every family that learns by gradient from batches that can be cut learns the same bits on one process and on two."""

import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import torch
from toys import TOYS

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.families import FAMILIES, check_recipe
from regard.runs.checkpoint import WEIGHTS, bytes_to_weights
from regard.runs.open import open_run
from regard.runs.together import open_together
from regard.runs.train import train
from regard.training.ranks import ALONE, Ranks

sys.path.insert(0, str(Path(__file__).parent / "training"))
from forked import on_ranks

pytestmark = pytest.mark.usefixtures("no_curves")
ALWAYS = ("transformer", "rnnlm")  # the others take minutes together
BY_GRADIENT = [name for name, toy in TOYS.items() if FAMILIES[toy.family or name].learns == "gradient"]
CUT = [name for name in BY_GRADIENT if name != "gat"]


def train_toy(name: str, place: Path, ranks: Ranks, sharded: bool = False) -> str:
    """A digest of the weights of a toy that was trained in two pieces."""
    table, family = TOYS[name].table(place), TOYS[name].family or name
    training = table["training"] | {"pieces": 2, "sharded": sharded}
    recipe = check_recipe(table | {"family": family, "seed": 3, "training": training})

    def open_as(writes: bool) -> Any:
        return open_run(recipe, place / "run", not writes, silent, lambda remark: None, writes=writes)

    train(open_together(ranks, place / "run", open_as), [], ranks)
    return sha256((place / "run" / WEIGHTS).read_bytes()).hexdigest() if ranks.leads else ""


@pytest.mark.parametrize(
    "name", [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.long) for name in CUT]
)
def test_two_ranks_learn_the_bits_that_one_learns(name: str, tmp_path: Path) -> None:
    for size in (1, 2):
        (tmp_path / str(size)).mkdir()
    (alone,), (together, _) = (
        on_ranks(size, lambda ranks: train_toy(name, tmp_path / str(ranks.size), ranks)) for size in (1, 2)
    )
    assert together == alone


@pytest.mark.long
@pytest.mark.parametrize("name", ["transformer", "gpt", "bert", "patches", "captioner", "seq2seq"])
def test_sharded_weights_learn_what_whole_ones_learn(name: str, tmp_path: Path) -> None:
    for size in (1, 2):
        (tmp_path / str(size)).mkdir()
        on_ranks(size, lambda ranks: train_toy(name, tmp_path / str(ranks.size), ranks, sharded=True))
    whole, sharded = (
        bytes_to_weights((tmp_path / size / "run" / WEIGHTS).read_bytes(), WEIGHTS) for size in ("1", "2")
    )
    torch.testing.assert_close(sharded, whole)


def test_a_whole_graph_is_not_cut(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="what this model learns from cannot be cut into pieces; it trains on one process"):
        train_toy("gat", tmp_path, ALONE)
