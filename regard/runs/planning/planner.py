"""A run planned for the time there is: a short timing decides its steps and its schedule, and the pace corrects them.

A plan is a list of settings, as if someone had typed them with --set. So the recipe in the run's folder says all of it,
and a run that goes on goes on by it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from regard.base.faults import Fault
from regard.base.recipe import Recipe
from regard.families import with_article, with_settings
from regard.measuring import Validator
from regard.runs.open import Run, keep_plan
from regard.runs.planning.allowance import Allowance
from regard.runs.planning.costs import Costs, Stopwatch, time_checkpoint, time_steps, time_validation
from regard.training.checkpoint import RunFolder
from regard.training.options import OF_STAIRS, OptimizerOptions, TrainingOptions, UpdatingOptions
from regard.training.pace import FEW_STEPS
from regard.training.ranks import Ranks
from regard.training.replanning import OF_KNOWN_LENGTH, Changes, Replanner, can_average, fall_of, intervals
from regard.training.trainer import Trainer

TIMED_SHARE = 0.02  # of all the time, spent on timing steps, and again on timing a validation
TIMED_SECONDS = (1.0, 8.0)  # the least and the most of it
FITS = 0.8  # of the time: a run that seems to need no more of it is left as it is
DEAR = 0.25  # of the time: a validation that costs more is made by the loss alone, without writing outputs
BY_LOSS = {"training.validation_beam": 0, "training.best_by": "loss"}
STEPS = "training.steps"
REVISED = ("steps", "validate_every", "save_every", "optimizer.falls")  # options that follow the pace of a run


@runtime_checkable
class DrawsByOptions(Protocol):
    """A task that draws its examples by some of the training options too, which a plan leaves as they are."""

    draws_by: tuple[str, ...]


class Sizes(Protocol):
    """A chooser of model sizes for the time there is, with sentences on its plan."""

    watch: Stopwatch | None  # of steps as they were chosen

    def __call__(self, recipe: Any, prepared: Any, folder: RunFolder, /) -> list[str]: ...

    def sentences(self, recipe: Any, costs: Costs) -> list[str]: ...


def timed_seconds(allowance: Allowance) -> float:
    """Return how long to time something."""
    return min(max(TIMED_SHARE * 60 * allowance.minutes, TIMED_SECONDS[0]), TIMED_SECONDS[1])


def why_unplanned(recipe: Recipe, given: frozenset[str], goes_on: bool) -> str | None:
    """Return why the steps of a run are not planned, in words; None if they are."""
    if isinstance(recipe.training, UpdatingOptions):
        return f"{with_article(recipe.family).capitalize()} learns in whole epochs, which are not planned"
    if not isinstance(recipe.training, TrainingOptions):
        return f"{with_article(recipe.family).capitalize()} learns by counting, which is not planned"
    if goes_on:
        return "A run that goes on keeps its plan"
    return f"{STEPS} is set, so nothing is planned" if STEPS in given else None


class Planner:
    """Plans a run for an allowance of time; `given` are the options that someone set, which stay as they are."""

    def __init__(
        self,
        allowance: Allowance,
        given: frozenset[str],
        remark: Callable[[str], None],
        sizes: Sizes | None = None,
    ) -> None:
        self.allowance, self.given, self.remark, self.sizes = allowance, given, remark, sizes
        self.spares_writing = False  # for want of time

    def begin(self, run: Run, trainer: Trainer, validator: Validator, ranks: Ranks) -> Recipe:
        """Time a run, plan it, and let it be replanned while it trains; gives the recipe that it then has."""
        if isinstance(trainer.task, DrawsByOptions):
            self.given |= {f"training.{name}" for name in trainer.task.draws_by}
        costs, most = self._time(trainer, validator, ranks), run.recipe.training.steps
        settings, *_ = ranks.gather(self.plan(run.recipe, costs) if ranks.leads else None)
        if not settings:
            return run.recipe
        recipe = keep_plan(run, run.recipe, settings, ranks.leads)
        self.spares_writing = any(setting.startswith(tuple(BY_LOSS)) for setting in settings)
        writing = 0.0 if self.spares_writing else costs.writing
        trainer.follow(recipe.training, self._replanner(run, recipe, most, replace(costs, writing=writing)))
        return recipe

    def _time(self, trainer: Trainer, validator: Validator, ranks: Ranks) -> Costs:
        """Time steps and then validations, as the rank that leads finds them; refuse what cannot take a single step."""
        seconds = timed_seconds(self.allowance)
        watch = (self.sizes.watch if self.sizes else None) or time_steps(trainer, seconds)
        (step, items, left), *_ = ranks.gather([watch.seconds_of_step, watch.items, self._seconds])
        if step > 60 * self.allowance.minutes:
            raise Fault(
                f"A single step takes about {step:,.0f} seconds here, which is longer than {self.allowance}; "
                "give it more minutes, smaller batches or a smaller model."
            )
        validation = time_validation(trainer, validator, seconds) if left else (0.0, 0.0)
        return Costs(step, items, *validation, time_checkpoint(trainer))

    def _replanner(self, run: Run, recipe: Recipe, most: int, costs: Costs) -> Replanner | None:
        training = recipe.training
        if training.optimizer.schedule in OF_KNOWN_LENGTH:
            return None
        free = {name for name in REVISED if f"training.{name}" not in self.given}
        if training.optimizer.schedule != "trapezoid":
            free.discard("optimizer.falls")

        def keep(changes: Changes) -> None:
            nonlocal recipe
            recipe = keep_plan(run, recipe, _as_settings({f"training.{name}": each for name, each in changes.items()}))

        budget = self.allowance.budget
        return Replanner(training, budget, frozenset(free), most, costs.validation, keep, costs.saving)

    def plan(self, recipe: Recipe, costs: Costs) -> list[str]:
        """Return the settings that make a recipe fit the time; none where its steps fit as they are."""
        if self._fits(recipe.training, costs):
            steps = "step fits" if recipe.training.steps == 1 else "steps fit"
            self.remark(f"The {recipe.training.steps:,} {steps} into {self.allowance}, so they stay as they are.")
            return []
        settings: dict[str, Any] = {}
        if costs.writing and costs.validation > DEAR * self._seconds and not {*BY_LOSS} & self.given:
            settings, costs = settings | BY_LOSS, replace(costs, writing=0.0)
        settings |= self._schedule(recipe.training, costs)
        settings = {name: value for name, value in settings.items() if name not in self.given}
        found = _as_settings(settings)
        for sentence in self._sentences(with_settings(recipe, found), costs):
            self.remark(sentence)
        return found

    @property
    def _seconds(self) -> float:
        """The time left for steps and validations."""
        return self.allowance.budget.left(0.0, "best")

    def _fits(self, training: TrainingOptions, costs: Costs) -> bool:
        validations = training.steps // training.validate_every
        left = self.allowance.budget.left(costs.validation, training.final)
        return training.steps * costs.step + validations * costs.validation <= FITS * left

    def _schedule(self, training: TrainingOptions, costs: Costs) -> dict[str, Any]:
        """Steps for the time there is, at whose end the learning rate has come down and there is a validation."""
        seconds = self.allowance.budget.left(costs.validation, training.final)
        final: dict[str, Any] = {}
        is_chosen = training.final != "average" or "training.final" in self.given
        if not is_chosen and not can_average(seconds, costs.saving):
            # The rate falls to nothing, which does for short runs what an average would.
            final, training = {"training.final": "last"}, training.model_copy(update={"final": "last"})
        often = intervals(training, training.steps, seconds, costs.validation)["validate_every"]
        validations = math.ceil(training.steps / often) - 1
        steps = max(1, min(training.steps, int((seconds - validations * costs.validation) / costs.step)))
        chosen = intervals(training, steps, seconds, costs.validation, costs.saving)
        return {
            STEPS: steps,
            **final,
            **{f"training.{name}": value for name, value in chosen.items()},
            "training.patience": 0,
            "training.optimizer.warmup": min(training.optimizer.warmup, steps // 10),
            **self._fall(training.optimizer, steps),
        }

    def _fall(self, optimizer: OptimizerOptions, steps: int) -> dict[str, Any]:
        """The schedule, unless someone has chosen one; an optimiser that averages weights at the end keeps its own."""
        name = "training.optimizer.schedule"
        if name in self.given or optimizer.kind == "asgd":
            return {}
        of_stairs = {f"training.optimizer.{each}": type(optimizer).model_fields[each].default for each in OF_STAIRS}
        fall = {name: "trapezoid", "training.optimizer.falls": fall_of(steps)}
        return fall | (of_stairs if optimizer.schedule == "stairs" else {})

    def _sentences(self, recipe: Recipe, costs: Costs) -> list[str]:
        """The plan for people."""
        steps = "1 step" if recipe.training.steps == 1 else f"about {recipe.training.steps:,} steps"
        said = [
            f"Timed here: {costs.step:.2g} seconds a step, {costs.validation:.2g} a validation.",
            f"Planned for {self.allowance}: {steps}, more or fewer as the pace turns out; "
            "the learning rate falls to nothing over the second half, and the end is validated.",
            *(self.sizes.sentences(recipe, costs) if self.sizes else []),
        ]
        if recipe.training.steps < FEW_STEPS:
            said.append("That is hardly enough to begin with: give it more minutes, or expect next to nothing.")
        return said


def _as_settings(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in values.items()]
