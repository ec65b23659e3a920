"""A run planned for the time there is: a short timing decides its size, its steps and its schedule.

A plan is a list of settings, as if someone had typed them with --set. So the recipe in the run's folder says all of it,
and a run that goes on goes on by it.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from regard.data.corpora.prepared import PreparedPairs
from regard.families import with_settings
from regard.hardware.devices import pick_device
from regard.models.transformer.network import PRESETS
from regard.runs.from_text.expectations import brief_expectation
from regard.runs.from_text.timing import Timer, Timing
from regard.tasks.translation import budget
from regard.tasks.translation.options import TranslationRecipe
from regard.tasks.translation.task import build_translation
from regard.training.pace import FEW_STEPS

MARGIN = 0.05  # of the time left, for a machine that is slower later on
LAST_SECONDS = 4.0  # for the curve and all else that comes after the last validation
TIMED_SHARE = 0.02  # of all the time, spent on timing one size
TIMED_SECONDS = (1.0, 8.0)  # the least and the most of it
VALIDATING_SHARE = 0.1  # of the time, but for the validation at the end
MOST_VALIDATIONS = 10
DEAR = 0.25  # of the time: a validation that costs more is made by the loss alone, without translating
BY_LOSS = {"training.validation_beam": 0, "training.best_by": "loss"}
CHECKPOINTS = 10  # of a run that averages none
AVERAGED = 80  # checkpoints of a run that averages the last ones
COMES_DOWN = ("cosine", "linear")  # schedules that end with a learning rate of nothing

# What is chosen besides where there is text and no recipe, on a CPU. Updates are what a short training lacks, and a CPU
# computes no faster in large batches: so batches are small, and grow when there is time for many of them.
BATCHES = (1024, 2048, 4096)
MANY_UPDATES = 4000  # with so many the larger batch is taken
ENOUGH_UPDATES = 2000  # with fewer the smaller model is
FEW_PASSES = 40  # over the text; with fewer there is no time to learn it by heart, and dropout only slows
LIGHT_DROPOUT = 0.1
TINY = {"preset": "tiny", **PRESETS["tiny"]}
SMALLER = (TINY, TINY | {"encoder_layers": 2, "decoder_layers": 2})


@dataclass(frozen=True)
class Allowance:
    """The minutes that a whole command may take, counted from its beginning."""

    minutes: float
    began: float = field(default_factory=lambda: time.monotonic())

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.began + 60 * self.minutes - time.monotonic())

    def __str__(self) -> str:
        return "1 minute" if self.minutes == 1 else f"{self.minutes:g} minutes"


class Planner:
    """Plans a run for an allowance of time.

    `given` are the options that someone set, and `is_free` says that all others may change, for there is text and no
    recipe. `reserve` are the seconds that a run which is late leaves for its validation.
    """

    def __init__(
        self, allowance: Allowance, given: frozenset[str], is_free: bool, remark: Callable[[str], None]
    ) -> None:
        self.allowance, self.given, self.is_free, self.remark = allowance, given, is_free, remark
        self.reserve = 0.0

    def __call__(self, recipe: TranslationRecipe, corpus: PreparedPairs, folder: Path) -> list[str]:
        """The settings that make a recipe fit the time; none where its steps were given, or fit as they are.

        What timing writes lies in `folder` meanwhile.
        """
        if "training.steps" in self.given:
            return []
        if recipe.training.batch_tokens is None:
            recipe = change_recipe(recipe, {"training.batch_tokens": _found_batch(recipe, corpus, self.remark)})
        share = min(max(TIMED_SHARE * 60 * self.allowance.minutes, TIMED_SECONDS[0]), TIMED_SECONDS[1])
        tokens = int(corpus.train.target_lengths.sum()) + len(corpus.train.target_lengths)
        settings = self.plan(recipe, Timer(corpus, folder, share), tokens)
        if settings and self.is_free and pick_device(recipe.training.device).type == "cpu":
            training = with_settings(recipe, settings).training
            learnt = training.steps * (training.batch_tokens or budget.CPU_TOKENS)
            if expected := brief_expectation(len(corpus.train.target_lengths), learnt):
                self.remark(expected)
        return settings

    def plan(self, recipe: TranslationRecipe, timed: Callable[[TranslationRecipe], Timing], tokens: int) -> list[str]:
        """The same from what gives the timing of a recipe, and the target tokens of the text, ends counted."""
        on_cpu = pick_device(recipe.training.device).type == "cpu"
        if self.is_free and on_cpu and recipe.family == "transformer":
            settings, timing = self._choose_size(recipe, timed, tokens)
        else:
            settings, timing = {}, timed(recipe)
        self.reserve = timing.validation
        if not settings and self._fits(recipe, timing):
            self.remark(f"The {recipe.training.steps:,} steps fit into {self.allowance}, so they stay as they are.")
            return []
        if timing.validation > DEAR * self._seconds and not {*BY_LOSS} & self.given:
            settings, timing = settings | BY_LOSS, replace(timing, translating=0.0)
            self.reserve = timing.validation
        own = recipe.training.batch_tokens or budget.CPU_TOKENS
        most = recipe.training.steps * own // settings.get("training.batch_tokens", own)  # to learn from no more text
        settings |= self._schedule(recipe, timing, most)
        settings = {name: value for name, value in settings.items() if name not in self.given}
        for sentence in self._sentences(change_recipe(recipe, settings), timing, tokens):
            self.remark(sentence)
        return [f"{name}={value}" for name, value in settings.items()]

    def _choose_size(
        self, recipe: TranslationRecipe, timed: Callable[[TranslationRecipe], Timing], tokens: int
    ) -> tuple[dict[str, Any], Timing]:
        """Settings for model, batches and dropout, none where the time is enough as it is; and the timing."""
        own = recipe.training.batch_tokens or budget.CPU_TOKENS
        batch = own if "training.batch_tokens" in self.given else min(own, BATCHES[0])
        settings: dict[str, Any] = {"training.batch_tokens": batch}
        timing = timed(change_recipe(recipe, settings))
        if self._fits(recipe, timing.with_batches(own / batch)):
            return {}, timing.with_batches(own / batch)
        for size in self._smaller(recipe):
            if self._updates(timing) >= ENOUGH_UPDATES:
                break
            settings |= {f"model.{name}": value for name, value in size.items()}
            timing = timed(change_recipe(recipe, settings))
        if "training.batch_tokens" not in self.given:
            ample = [size for size in BATCHES if size <= own and self._updates(timing) * batch >= MANY_UPDATES * size]
            settings |= {"training.batch_tokens": max([batch, *ample])}
            timing = timing.with_batches(settings["training.batch_tokens"] / batch)
        if self._updates(timing) * timing.tokens < FEW_PASSES * tokens:
            settings |= {"model.dropout": min(LIGHT_DROPOUT, recipe.model.dropout)}
        return settings, timing

    def _smaller(self, recipe: TranslationRecipe) -> list[dict[str, Any]]:
        """Sizes smaller than that of a recipe, the largest first; none if someone has set a size."""
        if any(f"model.{name}" in self.given for name in TINY):
            return []
        return [size for size in SMALLER if _bulk(size) < _bulk(recipe.model.model_dump())]

    @property
    def _seconds(self) -> float:
        """What is left for steps, checkpoints and validations."""
        return max(0.0, (1 - MARGIN) * self.allowance.left - LAST_SECONDS)

    def _updates(self, timing: Timing) -> float:
        return self._seconds / timing.step

    def _fits(self, recipe: TranslationRecipe, timing: Timing) -> bool:
        training = recipe.training
        saves, validations = training.steps // training.save_every + 1, training.steps // training.validate_every + 1
        return timing.whole(training.steps, saves, validations) <= self._seconds

    def _schedule(self, recipe: TranslationRecipe, timing: Timing, most: int) -> dict[str, Any]:
        """Steps for the time there is, at whose end the learning rate has come down and there is a validation."""
        training, seconds = recipe.training, self._seconds
        affordable = VALIDATING_SHARE * seconds / max(timing.validation, 1e-6)
        validations = max(1, min(MOST_VALIDATIONS, int(affordable)))
        saves = AVERAGED if training.final == "average" else CHECKPOINTS
        rest = seconds - timing.whole(0, saves, validations)
        steps = max(1, min(most, int(rest / timing.step)))
        optimizer = training.optimizer
        return {
            "training.steps": steps,
            "training.validate_every": math.ceil(steps / validations),
            "training.save_every": max(1, steps // saves),
            "training.patience": 0,
            "training.optimizer.warmup": min(optimizer.warmup, steps // 10),
            "training.optimizer.schedule": optimizer.schedule if optimizer.schedule in COMES_DOWN else "cosine",
        }

    def _sentences(self, recipe: TranslationRecipe, timing: Timing, tokens: int) -> list[str]:
        """The plan for people."""
        training, model = recipe.training, recipe.model
        validations = math.ceil(training.steps / training.validate_every)
        seconds = timing.whole(training.steps, training.steps // training.save_every, validations)
        steps = "1 step" if training.steps == 1 else f"{training.steps:,} steps"
        passes = training.steps * timing.tokens / max(tokens, 1)
        said = [
            f"Timed here: {timing.step:.2g} seconds a step, {timing.validation:.2g} a validation.",
            f"Planned for {self.allowance}: {steps} of {training.batch_tokens:,} tokens, "
            f"{passes:,.1f} times through the text, in about {seconds / 60:.1f} minutes; "
            f"the learning rate falls to nothing, and the end is validated.",
        ]
        if self.is_free and recipe.family == "transformer":
            said.append(
                f"The model has {model.encoder_layers} + {model.decoder_layers} blocks of width {model.width} "
                f"and dropout {model.dropout:g}; --set changes what you name."
            )
        if training.steps < FEW_STEPS:
            said.append("That is hardly enough to begin with: give it more minutes, or expect next to nothing.")
        return said


def change_recipe(recipe: TranslationRecipe, settings: Mapping[str, Any]) -> TranslationRecipe:
    """A recipe with options of it set anew."""
    return with_settings(recipe, [f"{name}={value}" for name, value in settings.items()])


def _bulk(sizes: Mapping[str, Any]) -> int:
    """What a model of these sizes costs, roughly."""
    layers = sizes["encoder_layers"] + sizes["decoder_layers"]
    return int(layers * sizes["width"] * (4 * sizes["width"] + 2 * sizes["feed_forward"]))


def _found_batch(recipe: TranslationRecipe, corpus: PreparedPairs, remark: Callable[[str], None]) -> int:
    """The tokens of a batch where a recipe leaves them to be found."""
    device = pick_device(recipe.training.device)
    if device.type == "cpu":
        return budget.CPU_TOKENS
    return budget.find_batch_tokens(
        build_translation(recipe, corpus.source, corpus.target).to(device), recipe, corpus, remark
    )
