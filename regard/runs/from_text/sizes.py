"""Choose the size of a translator for the time there is: model, batches and dropout, without a recipe."""

from collections.abc import Callable, Mapping
from typing import Any

from regard.data.corpora.prepared import PreparedPairs
from regard.families import with_settings
from regard.hardware.devices import pick_device
from regard.models.transformer.options import PRESETS
from regard.runs.from_text.expectations import brief_expectation
from regard.runs.planning.allowance import Allowance
from regard.runs.planning.costs import Costs, Stopwatch, time_steps
from regard.runs.planning.planner import FITS, STEPS, timed_seconds
from regard.tasks.translation import budget
from regard.tasks.translation.building import build_translation
from regard.tasks.translation.options import TranslationRecipe
from regard.training.checkpoint import RunFolder
from regard.training.snapshot import Validation
from regard.training.trainer import Trainer

# A short training lacks updates, and a CPU is no faster with large batches, so batches are small and grow only when
# there is time for many of them.
BATCHES = (1024, 2048, 4096)
MANY_UPDATES = 4000  # with this many, the larger batch is used
ENOUGH_UPDATES = 2000  # with fewer, the smaller model is used
FEW_PASSES = 40  # over the text; with fewer there is no time to overfit, and dropout only slows training
LIGHT_DROPOUT = 0.1
TINY = {"preset": "tiny", **PRESETS["tiny"]}
SMALLER = (TINY, TINY | {"encoder_layers": 2, "decoder_layers": 2})


class TextSizes:
    """Chooses the size of a translator on a CPU by timing its steps; `given` are the options that the user set."""

    def __init__(self, allowance: Allowance, given: frozenset[str]) -> None:
        self.allowance, self.given = allowance, given
        self.pairs, self.tokens = 0, 0  # pairs of the text and target tokens, ends included
        self.watch: Stopwatch | None = None  # timed exactly the chosen model and batches, if there is one

    def __call__(self, recipe: TranslationRecipe, corpus: PreparedPairs, folder: RunFolder) -> list[str]:
        """Return settings for a smaller model, or none if steps were set or the recipe fits."""
        self.pairs = len(corpus.train.target_lengths)
        self.tokens = int(corpus.train.target_lengths.sum()) + self.pairs
        is_chosen = pick_device(recipe.training.device).type == "cpu" and recipe.family == "transformer"
        if STEPS in self.given or not is_chosen:
            return []
        seconds = timed_seconds(self.allowance)

        def timed(timed_recipe: TranslationRecipe) -> Stopwatch:
            task = build_translation(timed_recipe, corpus.source, corpus.target)
            task.learn_from(corpus, timed_recipe)
            return time_steps(
                Trainer(task, timed_recipe.training, timed_recipe.seed, folder, _refuse_validation), seconds
            )

        return self.choose(recipe, timed, corpus.target.size)

    def choose(
        self, recipe: TranslationRecipe, timed: Callable[[TranslationRecipe], Stopwatch], vocabulary: int
    ) -> list[str]:
        """Return the settings, given a function that times the steps of a recipe, and the vocabulary size.

        Only the smallest model is timed; the time of the others grows with their number of weights.
        """
        own_batch, recipe_size = recipe.training.batch_tokens or budget.CPU_TOKENS, recipe.model.model_dump()
        batch = own_batch if "training.batch_tokens" in self.given else min(own_batch, BATCHES[0])
        sizes = [{}, *self._smaller(recipe)]
        settings = _model_settings(sizes[-1]) | {"training.batch_tokens": batch}
        watch = timed(change_recipe(recipe, settings))
        costs = [_bulk(recipe_size | size, vocabulary) for size in sizes]
        steps = [watch.seconds_of_step * cost / costs[-1] for cost in costs]
        if recipe.training.steps * steps[0] * own_batch / batch <= FITS * self._seconds:
            return []
        chosen = next((n for n, step in enumerate(steps) if self._seconds / step >= ENOUGH_UPDATES), len(sizes) - 1)
        updates, chosen_batch = self._seconds / steps[chosen], batch
        if "training.batch_tokens" not in self.given:
            ample = updates * batch / MANY_UPDATES
            chosen_batch = max([batch, *(size for size in BATCHES if size <= min(own_batch, ample))])
        settings = _model_settings(sizes[chosen]) | {"training.batch_tokens": chosen_batch}
        if updates * watch.items < FEW_PASSES * self.tokens:
            settings["model.dropout"] = min(LIGHT_DROPOUT, recipe.model.dropout)
        settings[STEPS] = (
            recipe.training.steps * own_batch // chosen_batch
        )  # at most, so that no more text is learnt from
        self.watch = watch if (chosen, chosen_batch) == (len(sizes) - 1, batch) else None
        return [f"{name}={value}" for name, value in settings.items() if name not in self.given]

    def _smaller(self, recipe: TranslationRecipe) -> list[dict[str, Any]]:
        """Return sizes smaller than the recipe's, largest first; none if the user set a size."""
        if any(f"model.{name}" in self.given for name in TINY):
            return []
        return [size for size in SMALLER if _bulk(size) < _bulk(recipe.model.model_dump())]

    @property
    def _seconds(self) -> float:
        return self.allowance.budget.left(0.0, "best")

    def sentences(self, recipe: TranslationRecipe, costs: Costs) -> list[str]:
        """Return sentences about a plan: the text, the model, and the score that similar runs reached."""
        training, model = recipe.training, recipe.model
        passes = training.steps * costs.items / max(self.tokens, 1)
        size = ""
        if recipe.family == "transformer":
            blocks = f"{model.encoder_layers} + {model.decoder_layers} blocks of width {model.width}"
            size = f" The model has {blocks} and dropout {model.dropout:g}; --set changes what you name."
        batch = f" of {training.batch_tokens:,} tokens" if training.batch_tokens else ""
        notes = [f"Steps{batch} pass over the text {passes:,.1f} times.{size}"]
        if pick_device(training.device).type == "cpu":
            learnt = training.steps * (training.batch_tokens or budget.CPU_TOKENS)
            notes.append(brief_expectation(self.pairs, learnt))
        return [sentence for sentence in notes if sentence]


def change_recipe(recipe: TranslationRecipe, settings: Mapping[str, Any]) -> TranslationRecipe:
    """Return a recipe with some options changed."""
    return with_settings(recipe, [f"{name}={value}" for name, value in settings.items()])


def _model_settings(size: Mapping[str, Any]) -> dict[str, Any]:
    return {f"model.{name}": value for name, value in size.items()}


def _bulk(sizes: Mapping[str, Any], vocabulary: int = 0) -> int:
    """Return the approximate cost of a model of these sizes: its weights, including the output layer."""
    layers = sizes["encoder_layers"] + sizes["decoder_layers"]
    return int(sizes["width"] * (layers * (4 * sizes["width"] + 2 * sizes["feed_forward"]) + vocabulary))


def _refuse_validation() -> Validation:
    raise RuntimeError("a run that is only timed is not validated")
