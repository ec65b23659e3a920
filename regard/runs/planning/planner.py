"""Plan a run for the time there is: a short timing sets its steps and schedule, and its pace corrects them.

A plan is a list of settings, as if the user had typed them with --set. So the recipe in the run's folder contains the
whole plan, and a resumed run follows it.
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

TIMED_SHARE = 0.02  # of all the time, spent timing steps, and again timing a validation
TIMED_SECONDS = (1.0, 8.0)  # least and most seconds of timing
FITS = 0.8  # of the time: a run that seems to need no more stays unchanged
DEAR = 0.25  # of the time: a validation that costs more measures only the loss and writes no outputs
BY_LOSS = {"training.validation_beam": 0, "training.best_by": "loss"}
STEPS = "training.steps"
REVISED = ("steps", "validate_every", "save_every", "optimizer.falls")  # options that follow the pace of a run


@runtime_checkable
class DrawsByOptions(Protocol):
    """A task that samples its examples by some training options, which a plan must not change."""

    draws_by: tuple[str, ...]


class Sizes(Protocol):
    """Chooses model sizes for the time there is, and describes its plan."""

    watch: Stopwatch | None  # of the chosen steps

    def __call__(self, recipe: Any, prepared: Any, folder: RunFolder, /) -> list[str]: ...

    def sentences(self, recipe: Any, costs: Costs) -> list[str]: ...


def timed_seconds(allowance: Allowance) -> float:
    """Return how many seconds to time something."""
    return min(max(TIMED_SHARE * 60 * allowance.minutes, TIMED_SECONDS[0]), TIMED_SECONDS[1])


def why_unplanned(recipe: Recipe, given: frozenset[str], goes_on: bool) -> str | None:
    """Return why the steps of a run are not planned, or None if they are."""
    if isinstance(recipe.training, UpdatingOptions):
        return f"{with_article(recipe.family).capitalize()} learns in whole epochs and is not planned"
    if not isinstance(recipe.training, TrainingOptions):
        return f"{with_article(recipe.family).capitalize()} learns by counting and is not planned"
    if goes_on:
        return "A resumed run keeps its plan"
    return f"{STEPS} is set, so nothing is planned" if STEPS in given else None


class Planner:
    """Plans a run for a time limit; `given` are the options that the user set, which do not change."""

    def __init__(
        self,
        allowance: Allowance,
        given: frozenset[str],
        remark: Callable[[str], None],
        sizes: Sizes | None = None,
    ) -> None:
        self.allowance, self.given, self.remark, self.sizes = allowance, given, remark, sizes
        self.spares_writing = False  # True when there is no time to write outputs

    def begin(self, run: Run, trainer: Trainer, validator: Validator, ranks: Ranks) -> Recipe:
        """Time a run, plan it, and let it be replanned during training; return its new recipe."""
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
        """Time steps, then validations, as the leading rank measures them; refuse if there is no time for a single
        step.
        """
        seconds = timed_seconds(self.allowance)
        watch = (self.sizes.watch if self.sizes else None) or time_steps(trainer, seconds)
        (step, items, left), *_ = ranks.gather([watch.seconds_of_step, watch.items, self._seconds])
        if step > 60 * self.allowance.minutes:
            raise Fault(
                f"A single step takes about {step:,.3g} seconds here, which is longer than {self.allowance}; go on "
                "with --resume and more minutes, or begin again with smaller batches or a smaller model."
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
            recipe = keep_plan(
                run, recipe, _as_settings({f"training.{name}": value for name, value in changes.items()})
            )

        budget = self.allowance.budget
        return Replanner(training, budget, frozenset(free), most, costs.validation, keep, costs.saving)

    def plan(self, recipe: Recipe, costs: Costs) -> list[str]:
        """Return the settings that make a recipe fit the time; none if it fits unchanged."""
        if self._fits(recipe.training, costs):
            steps = "step fits" if recipe.training.steps == 1 else "steps fit"
            self.remark(f"The {recipe.training.steps:,} {steps} into {self.allowance}, so they are unchanged.")
            return []
        settings: dict[str, Any] = {}
        if costs.writing and costs.validation > DEAR * self._seconds and not {*BY_LOSS} & self.given:
            settings, costs = settings | BY_LOSS, replace(costs, writing=0.0)
        settings |= self._schedule(recipe.training, costs)
        settings = {name: value for name, value in settings.items() if name not in self.given}
        plan_settings = _as_settings(settings)
        for sentence in self._sentences(with_settings(recipe, plan_settings), costs):
            self.remark(sentence)
        return plan_settings

    @property
    def _seconds(self) -> float:
        """Seconds left for steps and validations."""
        return self.allowance.budget.left(0.0, "best")

    def _fits(self, training: TrainingOptions, costs: Costs) -> bool:
        validations = training.steps // training.validate_every
        left = self.allowance.budget.left(costs.validation, training.final)
        return training.steps * costs.step + validations * costs.validation <= FITS * left

    def _schedule(self, training: TrainingOptions, costs: Costs) -> dict[str, Any]:
        """Return steps for the time there is, ending with a low learning rate and a validation."""
        seconds = self.allowance.budget.left(costs.validation, training.final)
        final: dict[str, Any] = {}
        is_chosen = training.final != "average" or "training.final" in self.given
        if not is_chosen and not can_average(seconds, costs.saving):
            # The rate falls to zero, which does for short runs what an average would.
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
        """Return the schedule, unless the user chose one; an optimiser that averages weights at the end keeps its
        own.

        A trapezoid of the user's needs the fall too, or a later plan could not tell that its rate has begun to fall.
        """
        name = "training.optimizer.schedule"
        if (name in self.given or optimizer.kind == "asgd") and optimizer.schedule != "trapezoid":
            return {}
        stairs = {f"training.optimizer.{option}": type(optimizer).model_fields[option].default for option in OF_STAIRS}
        fall = {name: "trapezoid", "training.optimizer.falls": fall_of(steps)}
        return fall | (stairs if optimizer.schedule == "stairs" else {})

    def _sentences(self, recipe: Recipe, costs: Costs) -> list[str]:
        """Describe the plan for people."""
        steps = "1 step" if recipe.training.steps == 1 else f"about {recipe.training.steps:,} steps"
        schedule = recipe.training.optimizer.schedule
        rate = "falls to zero over the second half" if schedule == "trapezoid" else f"follows the schedule {schedule!r}"
        sentences = [
            f"Timed here: {costs.step:.2g} seconds per step, {costs.validation:.2g} per validation.",
            f"Planned for {self.allowance}: {steps}, more or fewer depending on the pace; "
            f"the learning rate {rate}, and the last weights are validated.",
            *(self.sizes.sentences(recipe, costs) if self.sizes else []),
        ]
        if recipe.training.steps < FEW_STEPS:
            sentences.append("That is too few to learn much: give it more minutes, or expect a poor model.")
        return sentences


def _as_settings(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in values.items()]
