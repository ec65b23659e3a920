"""Plans on a clock that the test sets: what fits, what is reported, and what stays unchanged."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from own_clock import tell_time

from regard.base.recipe import Recipe
from regard.families import check_recipe, with_settings
from regard.runs.from_text.sizes import TextSizes
from regard.runs.planning.allowance import Allowance
from regard.runs.planning.costs import Costs, Stopwatch
from regard.runs.planning.planner import Planner, why_unplanned
from regard.training.events import Hurried, Started, Stepped

TOKENS = 100_000  # of the targets of the text


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the current time; a test moves it forward."""
    now = [100.0]
    tell_time(monkeypatch, lambda: now[0])
    return now


def recipe(**training: Any) -> Recipe:
    """Return a recipe for a few thousand pairs on a CPU that takes a little longer than the time available."""
    chosen = {"steps": 20_000, "batch_tokens": 4096, "best_by": "chrf", "patience": 8, "device": "cpu"} | training
    model = {"preset": "tiny", "norm": "before", "dropout": 0.3}
    return check_recipe({"data": {"train": ["a.en", "a.pt"]}, "model": model, "training": chosen})


def planner(minutes: float, *given: str) -> tuple[Planner, list[str]]:
    lines: list[str] = []
    return Planner(Allowance(minutes), frozenset(given), lines.append), lines


def costs(step: float, validation: float = 5.0) -> Costs:
    return Costs(step, 800, 0.1 * validation, 0.9 * validation)


@pytest.mark.parametrize("minutes", [1, 4, 60])
@pytest.mark.parametrize("step", [0.01, 0.2, 2.0])
@pytest.mark.parametrize("validation", [0.5, 60.0])
@pytest.mark.parametrize("final", ["best", "average"])
def test_what_is_planned_fits_and_uses_the_time(
    clock: list[float], minutes: float, step: float, validation: float, final: str
) -> None:
    """Preparing takes ten seconds; steps and validations at their measured cost fit into the rest."""
    chosen, _ = planner(minutes)
    clock[0] += 10
    wish = recipe(final=final)
    training = with_settings(wish, chosen.plan(wish, costs(step, validation))).training
    seconds_each = validation if training.validation_beam else 0.1 * validation
    validations = -(-training.steps // training.validate_every) + (final == "average")
    seconds = 10 + training.steps * step + validations * seconds_each
    assert seconds <= 60 * minutes + seconds_each  # a very long last validation may be late
    assert seconds <= 60 * minutes or training.steps == 1 or seconds_each > 0.2 * 60 * minutes
    assert seconds + step >= 0.8 * 60 * minutes or training.steps in (1, wish.training.steps)


def test_the_rate_comes_down_and_the_end_is_validated(clock: list[float]) -> None:
    planned = with_settings(recipe(), planner(4)[0].plan(recipe(), costs(0.1))).training
    assert planned.optimizer.schedule == "trapezoid"
    assert planned.optimizer.falls == [[planned.steps // 2, planned.steps]]
    assert planned.optimizer.warmup <= planned.steps / 10
    assert planned.patience == 0
    assert planned.validate_every * 8 >= planned.steps


def test_stairs_are_left_with_all_that_belongs_to_them(clock: list[float]) -> None:
    stairs = {"schedule": "stairs", "fall_after": 3000, "fall_every": 500, "fall_to": 0.3}
    wish = recipe(optimizer=stairs)
    planned = with_settings(wish, planner(1)[0].plan(wish, costs(0.1))).training.optimizer
    assert planned.schedule == "trapezoid"
    assert planned.fall_after == 0


def test_weights_that_are_averaged_in_the_end_keep_their_schedule(clock: list[float]) -> None:
    wish = recipe(optimizer={"kind": "asgd", "schedule": "constant"})
    planned = with_settings(wish, planner(1)[0].plan(wish, costs(0.1))).training
    assert planned.optimizer.schedule == "constant"
    assert planned.steps < 20_000


def test_what_fits_stays_as_it_is(clock: list[float]) -> None:
    chosen, lines = planner(60)
    assert chosen.plan(recipe(steps=500), costs(0.1)) == []
    assert lines == ["The 500 steps fit into 60 minutes, so they are unchanged."]


def test_what_hardly_fits_is_planned(clock: list[float]) -> None:
    """500 steps of a tenth of a second need 50 of 53 seconds, so a slower machine would cut them off."""
    planned = with_settings(recipe(steps=500), planner(1)[0].plan(recipe(steps=500), costs(0.1, 1.0)))
    assert planned.training.steps <= 500
    assert planned.training.optimizer.schedule == "trapezoid"


def test_a_recipe_keeps_its_model_and_its_batches(clock: list[float]) -> None:
    settings = planner(1)[0].plan(recipe(), costs(0.5))
    assert not any(setting.startswith(("model", "training.batch_tokens")) for setting in settings)


def test_what_someone_set_is_not_chosen(clock: list[float]) -> None:
    settings_given = ("training.optimizer.schedule", "training.validate_every", "training.optimizer.warmup")
    settings = planner(4, *settings_given)[0].plan(recipe(), costs(0.5))
    names = {setting.partition("=")[0] for setting in settings}
    assert not names & {*settings_given, "training.optimizer.falls"}
    assert "training.steps" in names


@pytest.mark.parametrize("falls", [[], [[15_000, 20_000]]])
@pytest.mark.parametrize("kind", ["adam", "asgd"])
@pytest.mark.parametrize("given", [(), ("training.optimizer.schedule",)])
def test_a_trapezoid_of_the_users_falls_as_planned(
    clock: list[float], given: tuple[str, ...], kind: str, falls: list[list[int]]
) -> None:
    """Falls of a recipe belong to its own length."""
    wish = recipe(optimizer={"kind": kind, "schedule": "trapezoid", "falls": falls})
    planned = with_settings(wish, planner(4, *given)[0].plan(wish, costs(0.1))).training
    assert planned.steps < 20_000
    assert planned.optimizer.falls == [[planned.steps // 2, planned.steps]]


def test_falls_that_someone_set_stay(clock: list[float]) -> None:
    wish = recipe(optimizer={"schedule": "trapezoid", "falls": [[300, 400]]})
    planned = with_settings(wish, planner(4, "training.optimizer.falls")[0].plan(wish, costs(0.1))).training
    assert planned.steps < 20_000
    assert planned.optimizer.falls == [[300, 400]]


def test_a_dear_validation_is_made_by_the_loss(clock: list[float]) -> None:
    planned = with_settings(recipe(), planner(1)[0].plan(recipe(), costs(0.1, validation=60.0))).training
    assert (planned.validation_beam, planned.best_by) == (0, "loss")


def test_dear_checkpoints_are_few_and_not_averaged(clock: list[float]) -> None:
    """80 checkpoints of a second each would take more than a minute."""
    wish = recipe(final="average")
    quick, dear = costs(0.01), replace(costs(0.01), saving=1.0)
    planned = with_settings(wish, planner(1)[0].plan(wish, quick)).training
    assert (planned.final, planned.steps // planned.save_every) == ("average", 80)
    planned = with_settings(wish, planner(1)[0].plan(wish, dear)).training
    assert planned.final == "last"
    assert 1 <= planned.steps // planned.save_every <= 3
    training = with_settings(wish, planner(1, "training.final")[0].plan(wish, dear)).training
    assert training.final == "average"


def test_a_machine_that_loads_slowly_has_more_time_at_the_end(clock: list[float]) -> None:
    quick, slow = Allowance(4, loading=1.5), Allowance(4, loading=12.0)
    assert quick.budget.end - slow.budget.end == pytest.approx(10.0)


def test_half_of_the_time_is_for_steps_however_long_a_validation_takes(clock: list[float]) -> None:
    wish = recipe(validation_beam=0, best_by="loss")
    planned = with_settings(wish, planner(1)[0].plan(wish, Costs(0.1, 800, measuring=50.0))).training
    assert 0.4 * 60 <= planned.steps * 0.1 <= 0.5 * 60


def test_the_plan_is_said_aloud(clock: list[float]) -> None:
    chosen, lines = planner(4)
    planned = with_settings(recipe(), chosen.plan(recipe(), costs(0.2))).training
    assert lines[0] == "Timed here: 0.2 seconds per step, 5 per validation."
    assert f"Planned for 4 minutes: about {planned.steps:,} steps" in lines[1]
    assert len(lines) == 2
    chosen, lines = planner(1)
    chosen.plan(recipe(), costs(2.0))
    assert "too few to learn much" in lines[-1]


def test_what_is_not_planned_says_why(clock: list[float]) -> None:
    counted = check_recipe({"family": "ngram", "data": {"train": "a.txt", "valid": "b.txt"}})
    epochs = check_recipe({"family": "word2vec", "data": {"train": "a.txt"}})
    assert why_unplanned(counted, frozenset(), False) == "An ngram learns by counting and is not planned"
    assert why_unplanned(epochs, frozenset(), False) == "A word2vec learns in whole epochs and is not planned"
    assert why_unplanned(recipe(), frozenset(), True) == "A resumed run keeps its plan"
    assert why_unplanned(recipe(), frozenset({"training.steps"}), False) == (
        "training.steps is set, so nothing is planned"
    )
    assert why_unplanned(recipe(), frozenset(), False) is None


# Sizes, where there is text and no recipe


def timing(step: float, clock: list[float]) -> tuple[Callable[[Recipe], Stopwatch], list[Recipe]]:
    """Return a machine on which a step of 1,024 tokens of the tiny model takes these seconds; timing takes three."""
    recipes: list[Recipe] = []

    def timed(recipe: Recipe) -> Stopwatch:
        recipes.append(recipe)
        sizes, times = recipe.model.model_dump(), recipe.training.batch_tokens / 1024
        depth = (sizes["encoder_layers"] + sizes["decoder_layers"]) / 8
        watch, began = Stopwatch(3.0), clock[0]
        watch.heard = [(n * step * depth * times, n, int(800 * times)) for n in range(4)]
        clock[0] = began + 3
        return watch

    return timed, recipes


def sizes(minutes: float, *given: str) -> TextSizes:
    chosen = TextSizes(Allowance(minutes), frozenset(given))
    chosen.tokens, chosen.pairs = TOKENS, 5000
    return chosen


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
    timed, recipes = timing(step, clock)
    planned = with_settings(recipe(), sizes(minutes).choose(recipe(), timed, vocabulary=0))
    assert (planned.model.encoder_layers, planned.training.batch_tokens) == (layers, batch)
    assert planned.model.dropout == dropout
    assert planned.training.steps == 20_000 * 4096 // batch  # at the most
    assert [recipe_timed.model.encoder_layers for recipe_timed in recipes] == [
        2
    ]  # timing is expensive where steps are slow


def test_what_was_timed_for_the_size_is_not_timed_again(clock: list[float]) -> None:
    small, larger = sizes(4), sizes(15)
    small.choose(recipe(), timing(0.2, clock)[0], vocabulary=0)
    larger.choose(recipe(), timing(0.2, clock)[0], vocabulary=0)
    assert small.watch is not None
    assert larger.watch is None


def test_a_size_that_fits_stays(clock: list[float]) -> None:
    assert sizes(60).choose(recipe(steps=500), timing(0.1, clock)[0], vocabulary=0) == []


def test_a_size_that_someone_set_stays(clock: list[float]) -> None:
    settings_given = ("model.width", "training.batch_tokens", "model.dropout")
    settings = sizes(4, *settings_given).choose(recipe(batch_tokens=512), timing(0.5, clock)[0], vocabulary=0)
    names = {setting.partition("=")[0] for setting in settings}
    assert not names & {*settings_given, "model.encoder_layers"}


def test_a_plan_from_text_says_what_was_chosen(clock: list[float]) -> None:
    chosen = sizes(4)
    small = with_settings(recipe(), ["training.steps=2090", "training.batch_tokens=1024", "model.encoder_layers=2"])
    sentences = chosen.sentences(small, costs(0.1))
    assert sentences == [
        "Steps of 1,024 tokens pass over the text 16.7 times. "
        "The model has 2 + 4 blocks of width 128 and dropout 0.3; --set changes what you name.",
        "A run of this length on 5,000 captions reached about 19 BLEU; other text may differ.",
    ]


# Timing


def heard(clock: list[float], watch: Stopwatch, pauses: list[float], every: int = 1) -> list[str | None]:
    answers = []
    for number, pause in enumerate(pauses, 1):
        clock[0] += pause
        answers.append(watch(Stepped(number * every, 0, 1.0, (700 + number) * every, 1e-3, 1.0)))
    return answers


def test_the_stopwatch_counts_neither_the_first_step_nor_slow_ones(clock: list[float]) -> None:
    watch = Stopwatch(seconds=20.0)
    assert watch(Started(0, 10)) is None
    answers = heard(clock, watch, [50.0, 1.0, 1.0, 18.0, 1.0])
    assert (watch.seconds_of_step, watch.items) == (1.0, 703.5)
    assert answers[:3] == [None, None, None]
    assert isinstance(answers[3], Hurried)


def test_captures_do_not_count(clock: list[float]) -> None:
    """Every ten steps take 0.15 seconds, and recording passes takes 0.7 more."""
    captured = [0.0]
    watch = Stopwatch(2.0, lambda: captured[0])
    for number in range(1, 30):
        clock[0] += 0.85
        captured[0] += 0.7
        if watch(Stepped(10 * number, 0, 1.0, 7000, 1e-3, 1.0)):
            break
    assert watch.seconds_of_step == pytest.approx(0.015)
    assert watch.items == 700


def test_a_single_step_is_enough_where_it_takes_long(clock: list[float]) -> None:
    watch = Stopwatch(seconds=2.0)
    (answer,) = heard(clock, watch, [9.0])
    assert isinstance(answer, Hurried)
    assert (watch.seconds_of_step, watch.items) == (9.0, 701)


@pytest.mark.parametrize(
    ("given", "schedule", "rate"),
    [
        ((), "inverse-sqrt", "falls to zero over the second half"),
        (("training.optimizer.schedule",), "constant", "follows the schedule 'constant'"),
    ],
)
def test_a_plan_says_how_the_rate_goes(clock: list[float], given: tuple[str, ...], schedule: str, rate: str) -> None:
    chosen, lines = planner(4, *given)
    chosen.plan(recipe(optimizer={"schedule": schedule}), costs(0.2))
    assert f"the learning rate {rate}, and the last weights are validated." in lines[1]
