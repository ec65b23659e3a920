"""Runs planned for the time there is: laws on a clock that the test sets, then the command itself."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small import SETTINGS, train_arguments, write_corpus

from regard.base.recipe import Recipe
from regard.cli import main
from regard.families import check_recipe, with_settings
from regard.runs import start
from regard.runs.checkpoint import WEIGHTS, RunFolder, read_recipe
from regard.runs.from_text import planning
from regard.runs.from_text.planning import Allowance, Planner
from regard.runs.from_text.timing import Stopwatch, Timing
from regard.training.events import Hurried, Started, Stepped

TOKENS = 100_000  # of the targets of the text


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What time it is; a test moves it on."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def recipe(**training: Any) -> Recipe:
    """What is trained from two files of a few thousand pairs on a CPU, for a little longer than anyone has."""
    chosen = {"steps": 20_000, "batch_tokens": 4096, "best_by": "chrf", "patience": 8, "device": "cpu"} | training
    model = {"preset": "tiny", "norm": "before", "dropout": 0.3}
    return check_recipe({"data": {"train": ["a.en", "a.pt"]}, "model": model, "training": chosen})


def costs(step: float, clock: list[float], validation: float = 5.0) -> Callable[[Recipe], Timing]:
    """A machine on which a step of 1,024 tokens of the tiny model takes so many seconds; timing takes three."""

    def timed(asked: Recipe) -> Timing:
        clock[0] += 3
        sizes, times = asked.model.model_dump(), (asked.training.batch_tokens or 0) / 1024
        depth = (sizes["encoder_layers"] + sizes["decoder_layers"]) / 8
        return Timing(step * depth * times, 800 * times, 0.1, 0.1 * validation, 0.9 * validation)

    return timed


def planner(minutes: float, *given: str, is_free: bool = True) -> tuple[Planner, list[str]]:
    said: list[str] = []
    return Planner(Allowance(minutes), frozenset(given), is_free, said.append), said


@pytest.mark.parametrize("minutes", [1, 4, 60])
@pytest.mark.parametrize("step", [0.01, 0.2, 2.0])
@pytest.mark.parametrize("validation", [0.5, 60.0])
@pytest.mark.parametrize("is_free", [True, False])
def test_what_is_planned_fits_and_uses_the_time(
    clock: list[float], minutes: float, step: float, validation: float, is_free: bool
) -> None:
    """Preparing takes ten seconds; steps, checkpoints and validations, at their timed cost, stay below what is left."""
    chosen, _ = planner(minutes, is_free=is_free)
    clock[0] += 10
    timed = costs(step, clock, validation)
    settings = chosen.plan(recipe(), timed, TOKENS)
    seconds, planned = clock[0] - 100, with_settings(recipe(), settings)
    cost, training = timed(planned), planned.training
    each = cost.validation if training.validation_beam else cost.measuring
    seconds += training.steps * cost.step + training.steps // training.save_every * cost.saving
    seconds += -(-training.steps // training.validate_every) * each
    enough = training.steps > 1 and training.steps * training.batch_tokens < recipe().training.steps * 4096
    assert seconds <= 60 * minutes or training.steps == 1
    assert seconds + cost.step >= 0.8 * 60 * minutes or not enough


def test_the_rate_comes_down_and_the_end_is_validated(clock: list[float]) -> None:
    planned = with_settings(recipe(), planner(4)[0].plan(recipe(), costs(0.1, clock), TOKENS)).training
    assert planned.optimizer.schedule == "cosine"
    assert planned.optimizer.warmup <= planned.steps / 10
    assert planned.patience == 0
    assert planned.validate_every * 10 >= planned.steps


def test_a_schedule_that_comes_down_stays(clock: list[float]) -> None:
    asked = recipe(optimizer={"schedule": "linear", "warmup": 5})
    settings = planner(4, is_free=False)[0].plan(asked, costs(0.1, clock), TOKENS)
    assert "training.optimizer.schedule=linear" in settings
    assert "training.optimizer.warmup=5" in settings


def test_what_fits_stays_as_it_is(clock: list[float]) -> None:
    chosen, said = planner(60)
    assert chosen.plan(recipe(steps=500), costs(0.1, clock), TOKENS) == []
    assert said == ["The 500 steps fit into 60 minutes, so they stay as they are."]


def test_a_recipe_keeps_its_model_and_its_batches(clock: list[float]) -> None:
    settings = planner(1, is_free=False)[0].plan(recipe(), costs(0.5, clock), TOKENS)
    assert not any(setting.startswith(("model", "training.batch_tokens")) for setting in settings)


@pytest.mark.parametrize(
    ("minutes", "step", "layers", "batch", "dropout"),
    [
        (4, 0.2, 2, 1024, 0.1),  # about 1,100 steps of the tiny model, so half of its blocks
        (15, 0.2, 4, 1024, 0.1),  # about 4,200: enough for all of it
        (60, 0.2, 4, 4096, 0.3),  # 17,000, so batches four times as large and over forty times through the text
    ],
)
def test_size_batches_and_dropout_follow_from_the_time(
    clock: list[float], minutes: float, step: float, layers: int, batch: int, dropout: float
) -> None:
    planned = with_settings(recipe(), planner(minutes)[0].plan(recipe(), costs(step, clock), TOKENS))
    assert (planned.model.encoder_layers, planned.training.batch_tokens) == (layers, batch)
    assert planned.model.dropout == dropout


def test_what_someone_set_is_not_chosen(clock: list[float]) -> None:
    given = ("model.width", "training.batch_tokens", "training.optimizer.schedule", "model.dropout")
    settings = planner(4, *given)[0].plan(recipe(batch_tokens=512), costs(0.5, clock), TOKENS)
    names = {setting.partition("=")[0] for setting in settings}
    assert not names & {*given, "model.encoder_layers"}
    assert "training.steps" in names


def test_steps_that_someone_set_are_the_plan(tmp_path: Path) -> None:
    chosen, said = planner(4, "training.steps")
    assert chosen(recipe(), None, tmp_path) == []  # type: ignore[arg-type]  # without a look at the corpus
    assert said == []


def test_a_dear_validation_is_made_by_the_loss(clock: list[float]) -> None:
    chosen, _ = planner(1)
    planned = with_settings(recipe(), chosen.plan(recipe(), costs(0.1, clock, validation=60.0), TOKENS)).training
    assert (planned.validation_beam, planned.best_by) == (0, "loss")
    assert chosen.reserve == pytest.approx(6.0)


def test_the_plan_is_said_aloud(clock: list[float]) -> None:
    chosen, said = planner(4)
    planned = with_settings(recipe(), chosen.plan(recipe(), costs(0.2, clock), TOKENS)).training
    told = " ".join(said)
    assert f"Planned for 4 minutes: {planned.steps:,} steps of 1,024 tokens" in told
    assert "2 + 2 blocks of width 128 and dropout 0.1" in told
    assert "hardly enough" not in told
    chosen, said = planner(1)
    chosen.plan(recipe(), costs(2.0, clock), TOKENS)
    assert "hardly enough to begin with" in said[-1]


def test_the_stopwatch_counts_neither_the_first_step_nor_slow_ones(clock: list[float]) -> None:
    watch = Stopwatch(seconds=3.0)
    assert watch(Started(0, 10)) is None
    answers = []
    for step, pause in enumerate([50.0, 1.0, 1.0, 9.0, 1.0], 1):
        clock[0] += pause
        answers.append(watch(Stepped(step, 0, 1.0, 700 + step, 1e-3, 1.0)))
    assert (watch.seconds_of_step, watch.items) == (1.0, 703.5)
    assert answers[:3] == [None, None, None]
    assert isinstance(answers[3], Hurried)


# The command itself, with a plan that the test knows.

PLANNED = [
    "training.steps=14",
    "training.save_every=3",
    "training.final=average",
    "training.optimizer.schedule=cosine",
]


def arguments(corpus: tuple[Path, Path], out: Path) -> list[str]:
    """The small translator, its steps and checkpoints left to the plan."""
    whole = train_arguments(*corpus, out)
    for name in ("training.steps", "training.save_every"):
        place = whole.index(f"{name}={SETTINGS[name]}")
        del whole[place - 1 : place + 1]
    return whole


@pytest.fixture
def known_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning.Planner, "plan", lambda self, recipe, timed, tokens: PLANNED)


def weights(folder: Path) -> bytes:
    return (folder / WEIGHTS).read_bytes()


@pytest.mark.usefixtures("no_curves", "known_plan")
def test_a_planned_run_is_its_recipe_and_goes_on_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = write_corpus(tmp_path)
    whole, again, pieces = (tmp_path / name for name in ("whole", "again", "pieces"))
    assert main([*arguments(corpus, whole), "--minutes", "5"]) == 0
    table = read_recipe(whole)["training"]
    assert (table["steps"], table["save_every"], table["optimizer"]["schedule"]) == (14, 3, "cosine")
    assert json.loads((whole / "training" / "plan.json").read_text()) == {"settings": PLANNED}
    assert main(["train", str(whole / "recipe.toml"), "--out", str(again)]) == 0
    assert weights(again) == weights(whole)

    def at_step_5(minutes: float, seconds: float) -> Callable[[Any], str | None]:
        return lambda event: "over" if isinstance(event, Stepped) and event.step == 5 else None

    with monkeypatch.context() as patch:
        patch.setattr(start, "deadline", at_step_5)
        assert main([*arguments(corpus, pieces), "--minutes", "5"]) == 0
    assert RunFolder(pieces).facts().step == 5
    assert main([*arguments(corpus, pieces), "--minutes", "5", "--resume"]) == 0
    assert weights(pieces) == weights(whole)
    assert RunFolder(pieces).facts() == RunFolder(whole).facts()


@pytest.mark.usefixtures("no_curves")
def test_the_command_really_times_and_keeps_to_its_minutes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quarter of a minute is left for a machine that is busy with other tests."""
    monkeypatch.setattr(planning, "LAST_SECONDS", 0.5)
    out, began = tmp_path / "run", time.monotonic()
    assert main([*arguments(write_corpus(tmp_path), out), "--minutes", "0.1"]) == 0
    assert time.monotonic() - began < 21
    said = capsys.readouterr().err
    assert "Planned for 0.1 minutes" in said
    assert not (out / "training" / "timing").exists()
    assert read_recipe(out)["training"]["steps"] != 2500
