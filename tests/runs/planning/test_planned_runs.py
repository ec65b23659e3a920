"""Planned runs of every family on a simulated machine: in time, complete, and the same when resumed."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from small import SETTINGS, train_arguments, write_corpus
from toys import TOYS

from regard.base.faults import Fault
from regard.base.recipe import apply_settings
from regard.cli import main
from regard.families import check_recipe
from regard.runs.planning import allowance
from regard.runs.planning.allowance import Allowance
from regard.runs.start import Audience, silent_audience, train_table
from regard.training.checkpoint import WEIGHTS, RunFolder, read_recipe
from regard.training.options import TrainingOptions
from regard.training.pace import read_course

sys.path.insert(0, str(Path(__file__).parent))
from clocks import Killed, Machine, pretend

pytestmark = pytest.mark.usefixtures("no_curves")
BY_STEPS = [name for name in TOYS if name not in ("ngram", "word2vec", "glove", "fasttext")]
TRIED_ALWAYS = ("transformer", "tagging rnn", "gpt", "gat")  # the others take a minute together


@pytest.fixture(autouse=True)
def no_last_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the simulated machine nothing follows the last validation."""
    monkeypatch.setattr(allowance, "LAST_SECONDS", 0.0)


def toy(name: str, folder: Path, **training: Any) -> dict[str, Any]:
    table = TOYS[name].table(folder)
    header = {"family": TOYS[name].family or name, "seed": 3, "training": table["training"] | training}
    return table | header


def start(table: dict[str, Any], folder: Path, minutes: float | None, *settings: str, resume: bool = False) -> None:
    clock = None if minutes is None else Allowance(minutes)
    train_table(table, settings, folder, silent_audience(), resume=resume, allowance=clock)


def weights(folder: Path) -> bytes:
    return (folder / WEIGHTS).read_bytes()


def train_by_recipe(folder: Path, again: Path) -> bytes:
    """Return the weights of a run by the recipe in a folder, without a plan."""
    start(read_recipe(folder), again, None)
    return weights(again)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in TRIED_ALWAYS else pytest.mark.long) for name in BY_STEPS]
)
def test_a_planned_run_of_any_family_is_its_recipe(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that were only timed leave no trace, and later decisions are in the recipe."""
    machine = pretend(monkeypatch, Machine(step=lambda seconds: 6.0 if seconds < 20 else 2.0))
    table = toy(name, tmp_path, steps=200, final="best")
    start(table, tmp_path / "run", 1)
    training = read_recipe(tmp_path / "run")["training"]
    assert 10 <= training["steps"] <= 26  # stacks of members are also validated at each checkpoint
    averages = training["optimizer"]["kind"] == "asgd"
    assert training["optimizer"]["schedule"] == ("constant" if averages else "trapezoid")
    assert RunFolder(tmp_path / "run").facts().finished
    assert 54 <= machine.seconds <= 66
    assert train_by_recipe(tmp_path / "run", tmp_path / "again") == weights(tmp_path / "run")


@pytest.mark.long
@pytest.mark.parametrize(
    "final", ["best", *(pytest.param(choice, marks=pytest.mark.long) for choice in ("last", "average"))]
)
def test_a_planned_run_is_its_recipe_whatever_remains(
    final: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine seems ten times slower than it is, so intervals change on the way too."""
    pretend(monkeypatch, Machine(step=lambda seconds: 4.0 if seconds < 9 else 0.4, validation=1.0))
    start(toy("gpt", tmp_path, steps=5000, final=final, keep=3), tmp_path / "run", 1)
    settings = json.loads((tmp_path / "run" / "training" / "plan.json").read_text())["settings"]
    table = read_recipe(tmp_path / "run")
    assert apply_settings(table, settings) == table
    assert table["training"]["steps"] > 75
    assert train_by_recipe(tmp_path / "run", tmp_path / "again") == weights(tmp_path / "run")


PACES: dict[str, Any] = {
    "steady": lambda seconds: 1.0,
    "six times slower at first": lambda seconds: 6.0 if seconds < 12 else 1.0,
    "twice as slow in the end": lambda seconds: 1.0 if seconds < 60 else 2.0,
    "now fast, now slow": lambda seconds: 0.3 if int(seconds) % 8 < 4 else 2.0,
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize(
    "name", ["gpt", *(pytest.param(family, marks=pytest.mark.long) for family in ("transformer", "tagging rnn"))]
)
def test_a_run_is_done_when_its_minutes_are(
    pace: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = pretend(monkeypatch, Machine(step=PACES[pace]))
    start(toy(name, tmp_path, steps=3000), tmp_path / "run", 1.5)
    facts = RunFolder(tmp_path / "run").facts()
    assert facts.finished
    assert 0.9 * 90 <= machine.seconds <= 1.1 * 90 + 2
    peak = max(rate for _, rate in facts.rates)
    assert facts.rates[-1][1] <= 0.1 * peak
    course = read_course(tmp_path / "run" / "training")
    assert course is not None
    assert (course.step, course.steps, course.planned) == (facts.step, facts.step, True)


@pytest.mark.long
def test_a_trapezoid_that_someone_set_falls_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pace changes only when the rate has begun to fall, so nothing is planned again before."""
    runs = {"planned": (), "set": ("training.optimizer.schedule=trapezoid",)}
    for name, settings in runs.items():
        (tmp_path / name).mkdir()
        with monkeypatch.context() as patch:
            pretend(patch, Machine(step=lambda seconds: 1.0 if seconds < 60 else 0.5))
            start(toy("gpt", tmp_path / name, steps=3000), tmp_path / name / "run", 1.5, *settings)
    planned, chosen = (RunFolder(tmp_path / name / "run").facts() for name in runs)
    assert chosen.rates == planned.rates
    assert weights(tmp_path / "set" / "run") == weights(tmp_path / "planned" / "run")
    rates = [rate for _, rate in chosen.rates]
    top = rates.index(max(rates))
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert len(read_recipe(tmp_path / "set" / "run")["training"]["optimizer"]["falls"]) > 1
    assert train_by_recipe(tmp_path / "set" / "run", tmp_path / "again") == weights(tmp_path / "set" / "run")


def test_a_first_step_that_hangs_overruns_by_a_validation_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = pretend(monkeypatch, Machine(step=lambda seconds: 40.0, validation=15.0))
    start(toy("gpt", tmp_path, steps=3000), tmp_path / "run", 1)
    assert machine.taken == [1, 1]  # one to time and one to learn
    assert machine.seconds <= 60 * 1.1 + 15 + 40
    assert read_course(tmp_path / "run" / "training").caution() is not None


def test_a_step_that_takes_longer_than_the_time_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = pretend(monkeypatch, Machine(step=lambda seconds: 200.0))
    with pytest.raises(Fault, match="A single step takes about 200 seconds here, which is longer than 1 minute; go on"):
        start(toy("gpt", tmp_path, steps=3000), tmp_path / "run", 1)
    assert machine.taken == [1]
    start(toy("gpt", tmp_path, steps=3000), tmp_path / "run", 60, resume=True)  # with more time it can continue
    assert RunFolder(tmp_path / "run").facts().finished


def killed_and_resumed(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, off_after: int, **more: Any
) -> Machine:
    """Plan a run for one minute, kill it after this many steps, and resume it without a clock."""
    table = toy(name, folder, steps=3000, **more)
    with monkeypatch.context() as patch:
        machine = pretend(patch, Machine(step=lambda seconds: 3.0 if seconds < 10 else 0.8, off_after=off_after))
        with pytest.raises(Killed):
            start(table, folder / "run", 1)
    start(table, folder / "run", None, resume=True)
    return machine


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["gpt", *(pytest.param(family, marks=pytest.mark.long) for family in ("transformer", "tagging rnn"))]
)
def test_a_run_killed_when_its_plan_was_settled_is_one_that_never_was(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    for folder in (whole, pieces):
        folder.mkdir()
    with monkeypatch.context() as patch:
        pretend(patch, Machine(step=lambda seconds: 3.0 if seconds < 10 else 0.8))
        start(toy(name, whole, steps=3000), whole / "run", 1)
    steps = read_recipe(whole / "run")["training"]["steps"]
    machine = killed_and_resumed(name, pieces, monkeypatch, off_after=steps)
    assert machine.taken[-1] > 0.8 * steps
    assert read_recipe(pieces / "run")["training"]["steps"] == steps
    assert RunFolder(pieces / "run").facts() == RunFolder(whole / "run").facts()
    assert weights(pieces / "run") == weights(whole / "run")


@pytest.mark.long
def test_a_run_killed_before_goes_on_by_the_plan_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = killed_and_resumed("gpt", tmp_path, monkeypatch, off_after=15)
    training = read_recipe(tmp_path / "run")["training"]
    assert machine.taken[-1] < training["steps"] / 2
    facts = RunFolder(tmp_path / "run").facts()
    assert facts.finished
    assert facts.step == training["steps"]
    assert facts.rates[-1][1] <= 0.1 * max(rate for _, rate in facts.rates)
    assert train_by_recipe(tmp_path / "run", tmp_path / "again") == weights(tmp_path / "run")


def test_a_run_killed_while_it_was_timed_is_planned_when_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = toy("gpt", tmp_path, steps=3000)
    machine = pretend(monkeypatch, Machine(off_after=2))
    with pytest.raises(Killed):
        start(table, tmp_path / "run", 1)
    machine.off_after = None
    start(table, tmp_path / "run", 1, resume=True)
    assert RunFolder(tmp_path / "run").facts().finished
    assert read_recipe(tmp_path / "run")["training"]["steps"] < 60


def test_a_plan_whose_recipe_was_not_written_any_more_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kill falls between the two files: the plan has an interval that the recipe lacks."""
    machine = pretend(monkeypatch, Machine(step=lambda seconds: 1.0, off_after=30))
    table = toy("gpt", tmp_path, steps=3000)
    with pytest.raises(Killed):
        start(table, tmp_path / "run", 1)
    plan = tmp_path / "run" / "training" / "plan.json"
    settings = json.loads(plan.read_text())["settings"]
    remaining = [setting for setting in settings if not setting.startswith("training.validate_every")]
    plan.write_text(json.dumps({"settings": [*remaining, "training.validate_every=77"]}))
    machine.off_after = None
    start(table, tmp_path / "run", None, resume=True)
    assert read_recipe(tmp_path / "run")["training"]["validate_every"] == 77


@pytest.mark.long
def test_a_planned_run_can_be_made_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, Machine())
    table = toy("gpt", tmp_path, steps=3000)
    start(table, tmp_path / "run", 1)
    step = RunFolder(tmp_path / "run").facts().step
    start(table, tmp_path / "run", None, f"training.steps={step + 20}", resume=True)
    facts = RunFolder(tmp_path / "run").facts()
    assert facts.step == step + 20
    assert facts.rates[-10][1] > 0


@pytest.mark.parametrize("name", ["ngram", "word2vec"])
def test_what_does_not_learn_by_steps_says_that_it_stops_by_the_clock(name: str, tmp_path: Path) -> None:
    lines: list[str] = []
    silent = silent_audience()
    train_table(
        toy(name, tmp_path), [], tmp_path / "run", Audience(lines.append, silent.progress, silent.listener),
        allowance=Allowance(1),
    )  # fmt: skip
    assert f"{'An ngram' if name == 'ngram' else 'A word2vec'} learns" in lines[0]
    assert lines[0].endswith("not planned: the run stops when the minute is over.")


def test_every_toy_that_learns_by_gradient_is_planned_here(tmp_path: Path) -> None:
    for name in TOYS:
        folder = tmp_path / name
        folder.mkdir()
        table = TOYS[name].table(folder) | {"family": TOYS[name].family or name}
        assert isinstance(check_recipe(table).training, TrainingOptions) == (name in BY_STEPS)


def arguments(corpus: tuple[Path, Path], out: Path) -> list[str]:
    """Return arguments for the small translator with steps and checkpoints left to the plan."""
    whole = train_arguments(*corpus, out)
    for name in ("training.steps", "training.save_every"):
        place = whole.index(f"{name}={SETTINGS[name]}")
        del whole[place - 1 : place + 1]
    return whole


@pytest.mark.long
def test_the_command_really_times_and_keeps_to_its_minutes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quarter of a minute is spare for a machine busy with other tests."""
    monkeypatch.setattr(allowance, "LAST_SECONDS", 0.5)
    out, began = tmp_path / "run", time.monotonic()
    assert main([*arguments(write_corpus(tmp_path), out), "--minutes", "0.1"]) == 0
    assert time.monotonic() - began < 21
    message = capsys.readouterr().err
    assert "Planned for 0.1 minutes" in message
    assert "pass over the text" in message
    assert read_recipe(out)["training"]["steps"] != 2500
    settings = json.loads((out / "training" / "plan.json").read_text())["settings"]
    assert apply_settings(read_recipe(out), settings) == read_recipe(out)
