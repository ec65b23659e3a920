"""Promises of every trained family, tested on the toy of each: see `toys.py`."""

import io
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from checked_late import shapes
from small import undrawn
from starlette.testclient import TestClient
from toy_verbs import inputs_of
from toys import EACH_TASK, TOYS, Toy

import regard
from regard.cli import main
from regard.families import FAMILIES
from regard.families.abilities import verb_instead
from regard.promises.purity import GlobalChance, pure
from regard.promises.table import PROMISES
from regard.promises.trial import DoesNotApply, Trial, train_toy
from regard.promises.using import METHODS
from regard.serving.app import every_door, make_app
from regard.tasks import TASKS, input_kind
from regard.verbs.generate.model import LanguageModel

pytestmark = pytest.mark.usefixtures("no_curves")
# Promises that run the whole model, with shapes checked.
CHECKED = ("a saved and a watched model measure the same",)
# A promise about the pictures of a task, which the model behind it does not change.
DRAWN = "its attention is drawn"


@pytest.fixture(params=TOYS, scope="module")
def trial(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """Return the trained toy of a family."""
    name, toy = str(request.param), TOYS[request.param]
    with undrawn(), shapes(checked=True):
        trial = train_toy(toy.family or name, toy, tmp_path_factory.mktemp(name))
    task = trial.run.recipe.task
    return replace(trial, toy=replace(toy, inputs=lambda folder: inputs_of(name, task, folder)))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("promise", [promise for promise in PROMISES if promise != DRAWN])
def test_what_is_promised_is_held(trial: Trial, promise: str) -> None:
    with shapes(checked=promise in CHECKED):
        hold(trial, promise)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("trial", EACH_TASK, indirect=True, scope="module")
def test_its_attention_is_drawn(trial: Trial) -> None:
    hold(trial, DRAWN)


def hold(trial: Trial, promise: str) -> None:
    """Check a promise, or skip it with the reason why it does not apply."""
    try:
        PROMISES[promise](trial)
    except DoesNotApply as reason:
        pytest.skip(str(reason))


def test_toys_name_what_sets_them_apart(trial: Trial) -> None:
    """The default run leaves out toys whose family, task and kind of input others share."""
    recipe, toy = trial.run.recipe, trial.toy
    assert isinstance(toy, Toy)
    assert recipe.task == (toy.task or FAMILIES[recipe.family].tasks[0])
    assert input_kind(recipe) == (toy.reads or TASKS[recipe.task].reads)


COMMANDS = {
    "translate": ["--text", "a"],
    "generate": ["--prompt", "a"],
    "caption": ["a.png"],
    "transcribe": ["a.wav"],
    "answer": ["1"],
    "speak": ["--text", "a", "-o", "a.wav"],
    "draw": ["-o", "a.png"],
    "embed": ["-o", "a.npz"],
    "neighbours": ["a"],
    "analogy": ["a", "b", "c"],
    "look": ["a"],
    "heads": [],
    "average": ["-o", "a"],
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("trial", EACH_TASK, indirect=True, scope="module")
def test_what_it_cannot_do_is_refused_with_what_to_use_at_every_door(
    trial: Trial, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trial.run
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    folder = run.folder.folder
    model = regard.load(folder)
    default, verbs = TASKS[run.recipe.task].verb, model.verbs
    lacking = [verb for verb in COMMANDS if verb not in verbs]
    assert lacking
    for verb in lacking:
        capsys.readouterr()
        assert main([verb, str(folder), *COMMANDS[verb]]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert f" gives {TASKS[run.recipe.task].gives}; " in captured.err
        instead = verb_instead(verb, verbs, default)
        assert instead is None or f"; use `regard {instead}`. It can train" in captured.err
        if verb == "look" and isinstance(model, LanguageModel):  # it lists what may follow
            assert "use `regard look --next`" in captured.err
        elif verb in METHODS:
            with pytest.raises(regard.Fault) as fault:
                getattr(model, verb)(*METHODS[verb])
            assert instead is None or f"; use `model.{instead}`. It can train" in str(fault.value)
    assert list(tmp_path.iterdir()) == []
    with TestClient(make_app([folder]), base_url="http://localhost") as client:
        doors = {door.path: door for door in every_door() if door.can}
        (served,) = client.get("/v1/models").json()["models"]
        for door in doors.values():
            if door.can not in served["can"]:
                answer = client.request(door.method, door.path)
                assert answer.status_code == 404
                used = re.findall(r"; use (\S+)\. It can ", answer.json()["error"])
                assert used or door.can in ("look", "attention", "next", "beam", "forward", "why", "examples")
                assert all(doors[path].can in served["can"] for path in used)


def test_every_family_has_a_toy() -> None:
    assert {toy.family or name for name, toy in TOYS.items()} == FAMILIES.keys()


class Impure:
    """Task that draws its batches from the global random numbers."""

    def __init__(self, draw: Callable[[], Any]) -> None:
        self.draw = draw

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[Any]:
        for _ in range(start, 3):
            yield self.draw()


@pytest.mark.parametrize(
    ("draw", "whose"),
    [
        (lambda: torch.rand(1), "torch"),
        (lambda: torch.zeros(2).bernoulli_(), "torch"),
        (lambda: np.random.rand(), "numpy"),
        (lambda: random.shuffle([1, 2]), "Python"),
    ],
)
def test_batches_drawn_from_global_random_numbers_are_found_out(draw: Callable[[], Any], whose: str) -> None:
    with pytest.raises(GlobalChance, match=f"batches used global random numbers of {whose}"):
        list(pure(Impure(draw).batches("train", 1, 0, 0)))


def test_batches_with_generators_of_their_own_are_not() -> None:
    def draw() -> Any:
        generator = torch.Generator().manual_seed(1)
        return torch.rand(1, generator=generator), np.random.default_rng(1).random(), random.Random(1).random()

    assert len(list(pure(Impure(draw).batches("train", 1, 0, 0)))) == 3
