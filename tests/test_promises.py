"""What is promised of every family that is trained, tried on the toy of each: see `toys.py`."""

import io
import random
import re
import threading
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from checked_late import shapes
from purity import GlobalChance, pure
from small import undrawn
from starlette.testclient import TestClient
from torch import Tensor, nn
from toy_verbs import ASKED, assert_same, inputs_of, plain
from toys import TOYS, open_toy

import regard
from regard.cli import main
from regard.families import FAMILIES
from regard.families.abilities import verb_instead
from regard.protocols import Divisible, Learns, Measure, MeasuresRows
from regard.runs.open import Run
from regard.runs.train import train
from regard.serving.app import every_door, make_app
from regard.tasks import TASKS
from regard.training.checkpoint import WEIGHTS, bytes_to_weights
from regard.training.events import Counted, Event, Hurried, Stepped
from regard.training.listeners import Lines
from regard.training.snapshot import Facts, load_weights
from regard.verbs.generate.model import LanguageModel

pytestmark = pytest.mark.usefixtures("no_curves")


@pytest.fixture(params=TOYS, scope="module")
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@dataclass(frozen=True)
class Trained:
    """A run that has come to its end, and what it said on the way."""

    run: Run
    facts: Facts
    said: str


@pytest.fixture(scope="module")
def trained_toy(family: str, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    run, file = open_toy(family, tmp_path_factory.mktemp(family)), io.StringIO()
    with undrawn(), shapes(checked=True):
        facts = train(run, [Lines(file)])
    assert facts.finished
    return Trained(run, facts, file.getvalue())


@pytest.fixture(scope="module")
def run(trained_toy: Trained) -> Run:
    """The toy of a family, trained."""
    return trained_toy.run


def values(tree: Any) -> list[Any]:
    """All that a batch holds, its arrays as their bits."""
    if isinstance(tree, Tensor | np.ndarray):
        array = tree.numpy() if isinstance(tree, Tensor) else tree
        return [(array.dtype.str, array.shape, array.tobytes())]
    if is_dataclass(tree):
        return [value for each in fields(tree) for value in values(getattr(tree, each.name))]
    if isinstance(tree, dict):
        return [value for name in tree for value in (name, *values(tree[name]))]
    if isinstance(tree, list | tuple):
        return [value for each in tree for value in values(each)]
    return [tree]


def batches(task: Any, seed: int = 3, epoch: int = 1, start: int = 0, split: str = "train") -> list[Any]:
    return [values(batch) for batch in task.batches(split, seed, epoch, start)]


def test_batches_are_the_same_from_any_start_and_draw_nothing_global(run: Run) -> None:
    for split in ("train", "valid"):
        whole = [values(batch) for batch in pure(run.task.batches(split, 3, 1, 0))]
        assert whole
        random.seed(1), np.random.seed(1), torch.manual_seed(1)
        for start in {0, 1, len(whole) // 2, len(whole)}:
            assert batches(run.task, start=start, split=split) == whole[start:]


def test_batches_are_the_same_in_another_thread_while_this_one_draws(run: Run) -> None:
    whole, found, drawing = batches(run.task), [], threading.Event()

    def work() -> None:
        drawing.wait()
        found.extend(batches(run.task))

    thread = threading.Thread(target=work)
    thread.start()
    number = 0
    while thread.is_alive():
        torch.manual_seed(number), np.random.seed(number), random.seed(number)
        torch.rand(3), np.random.rand(3), random.random()
        number += 1
        drawing.set()
    assert found == whole


def stop_after(events: int) -> Callable[[Event], str | None]:
    """Ask a run to stop when it has learnt from so many batches."""
    seen = []

    def listen(event: Event) -> str | None:
        seen.extend([event] if isinstance(event, Stepped | Counted) else [])
        return Hurried("enough") if len(seen) == events else None

    return listen


def test_resumed_is_never_stopped(family: str, run: Run, tmp_path: Path) -> None:
    """Bit by bit, also where it stops between two checkpoints."""
    assert not train(open_toy(family, tmp_path), [stop_after(3)]).finished
    assert train(open_toy(family, tmp_path), []).finished
    folders = (run.folder.folder, tmp_path / "run")
    whole, resumed = (bytes_to_weights((folder / WEIGHTS).read_bytes(), WEIGHTS) for folder in folders)
    assert whole.keys() == resumed.keys()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def exact(run: Run) -> Any:
    """The task of a run in float64, without dropout."""
    task = deepcopy(run.task)
    return task.double().eval() if isinstance(task, nn.Module) else task


def divisible(run: Run, split: str) -> Iterator[Any]:
    """The batches of this split that can be split, in float64."""
    for batch in run.task.batches(split, 3, 0, 0):
        if isinstance(batch, Divisible) and batch.rows > 1:
            yield in_float64(batch)


def in_float64(tree: Any) -> Any:
    """A batch with double the precision in its real numbers."""
    if isinstance(tree, Tensor):
        return tree.double() if tree.is_floating_point() else tree
    if is_dataclass(tree) and not isinstance(tree, type):
        return replace(tree, **{each.name: in_float64(getattr(tree, each.name)) for each in fields(tree)})
    return tree


def test_splitting_a_batch_changes_nothing(family: str, run: Run) -> None:
    if not isinstance(run.task, Learns) or TOYS[family].draws:
        pytest.skip("its loss draws random numbers, or it has none")
    task = exact(run)
    for batch in divisible(run, "train"):
        found = []
        for pieces in ([batch], batch.split(2), batch.split(batch.rows)):
            task.zero_grad()
            losses = [task.loss(piece) for piece in pieces]
            for loss in losses:
                loss.total.backward()
            gradients = {name: each.grad for name, each in task.named_parameters() if each.grad is not None}
            found.append((sum(loss.total.detach() for loss in losses), sum(loss.count for loss in losses), gradients))
        for other in found[1:]:
            torch.testing.assert_close(other, found[0])
        return


def numbers(measures: dict[str, Measure]) -> dict[str, tuple[float, ...]]:
    return {name: measure.members for name, measure in measures.items()}


def test_batch_mates_change_nothing(run: Run) -> None:
    """What is measured of the rows one by one is what is measured of them together."""
    task = exact(run)
    with torch.no_grad():
        for batch in divisible(run, "valid"):
            first, *others = [task.measure(piece) for piece in batch.split(batch.rows)]
            alone = {name: sum((other[name] for other in others), measure) for name, measure in first.items()}
            together = numbers(task.measure(batch))
            assert together.keys() == alone.keys()
            for name, members in numbers(alone).items():
                assert together[name] == pytest.approx(members)


def test_what_rows_add_up_to_is_what_is_measured(run: Run) -> None:
    task = exact(run)
    if not isinstance(task, MeasuresRows):
        pytest.skip("it does not know its measures row by row")
    for batch in divisible(run, "valid"):
        measures, rows = task.measure(batch), task.sums_of_rows(batch)
        assert measures.keys() == rows.keys()
        for name, measure in measures.items():
            assert rows[name].shape[0] == batch.rows
            assert measure.tally.sums == pytest.approx(rows[name].sum(dim=0).tolist())


@pytest.mark.usefixtures("checked_shapes")
def test_a_saved_folder_measures_the_same_and_so_does_a_watched_one(run: Run) -> None:
    model = regard.load(run.folder.folder, device="cpu")
    with torch.no_grad():
        if isinstance(run.task, nn.Module):
            # Where weights are averaged, the folder has their mean, and the task the last of them.
            load_weights(run.task.eval(), bytes_to_weights((run.folder.folder / WEIGHTS).read_bytes(), WEIGHTS))
        for batch in run.task.batches("valid", 0, 0, 0):
            expected = numbers(run.task.measure(batch))
            assert numbers(model.task.measure(batch)) == expected
            with regard.watching(model):
                watched = numbers(model.task.measure(batch))
            assert watched == {name: pytest.approx(members, rel=1e-5) for name, members in expected.items()}


def test_a_watched_model_answers_the_same(family: str, run: Run) -> None:
    """With every verb of its own; looks are drawn under watching anyway."""
    model = regard.load(run.folder.folder, device="cpu")
    inputs = inputs_of(family, run.recipe.task, run.folder.folder.parent)
    for verb in [verb for verb in model.verbs if verb in ASKED]:
        expected = plain(ASKED[verb](model, inputs))
        assert expected
        with regard.watching(model):
            assert_same(plain(ASKED[verb](model, inputs)), expected, verb)


def test_each_measure_says_which_direction_is_better_and_one_of_them_judges(run: Run) -> None:
    batch = next(iter(run.task.batches("valid", 0, 0, 0)))
    with torch.no_grad():
        measures = run.task.measure(batch)
    assert {measure.better for measure in measures.values()} <= {"lower", "higher"}
    assert getattr(run.recipe.training, "best_by", next(iter(measures))) in measures


def test_what_is_tallied_is_shown_and_kept(trained_toy: Trained) -> None:
    task, facts = deepcopy(trained_toy.run.task), trained_toy.facts
    if not isinstance(task, Learns):
        pytest.skip("it counts, and has no loss to tally beside")
    names = task.loss(next(iter(task.batches("train", 3, 0, 0)))).tallies.keys()
    assert all(f"  {name} " in trained_toy.said for name in names)
    assert [step for step, _ in facts.losses] == list(range(1, facts.step + 1))
    assert all(kept.keys() == names for _, kept in facts.tallies)
    assert len(facts.tallies) == (len(facts.losses) if names else 0)


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
METHODS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("translate", "generate", "caption", "transcribe", "answer", "speak", "embed"), (["a"],)),
    "draw": (),
    "neighbours": (["a"],),
    "analogy": ("a", "b", "c"),
    "look": ("a",),
}


def test_what_it_cannot_do_is_refused_with_what_to_use_at_every_door(
    run: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    folder = run.folder.folder
    model = regard.load(folder)
    own, verbs = TASKS[run.recipe.task].verb, model.verbs
    lacking = [verb for verb in COMMANDS if verb not in verbs]
    assert lacking
    for verb in lacking:
        capsys.readouterr()
        assert main([verb, str(folder), *COMMANDS[verb]]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert f" gives {TASKS[run.recipe.task].gives}; " in said.err
        instead = verb_instead(verb, verbs, own)
        assert instead is None or f"; use `regard {instead}`. It can train" in said.err
        if verb == "look" and isinstance(model, LanguageModel):  # which shows what may follow
            assert "use `regard look --next`" in said.err
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
                assert used or door.can in ("look", "attention", "next", "beam")
                assert all(doors[path].can in served["can"] for path in used)


def test_every_family_has_a_toy() -> None:
    assert {toy.family or name for name, toy in TOYS.items()} == FAMILIES.keys()


class Impure:
    """A task that takes its batches from where all take theirs from."""

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
    with pytest.raises(GlobalChance, match=f"batches drew from the global random numbers of {whose}"):
        list(pure(Impure(draw).batches("train", 1, 0, 0)))


def test_batches_with_generators_of_their_own_are_not() -> None:
    def draw() -> Any:
        own = torch.Generator().manual_seed(1)
        return torch.rand(1, generator=own), np.random.default_rng(1).random(), random.Random(1).random()

    assert len(list(pure(Impure(draw).batches("train", 1, 0, 0)))) == 3
