"""What a run costs on this machine, found by really taking its first steps."""

import shutil
import statistics
import time
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

from regard.data.corpora.prepared import PreparedPairs
from regard.hardware.devices import pick_device
from regard.runs.checkpoint import RunFolder
from regard.tasks.translation.options import TranslationRecipe
from regard.tasks.translation.task import Translation, build_translation
from regard.training.events import Event, Hurried, Stepped
from regard.training.snapshot import Snapshot, Validation
from regard.training.trainer import Trainer
from regard.verbs.translate.model import TranslationModel

LEAST_EVENTS = 4  # of steps; what comes before the first does not count
SENTENCES = 64  # translated, to know what a validation costs
LONGER = 1.5  # than its reference an output may be, of a model that has learnt little
NEVER = 10**9  # steps


@dataclass(frozen=True)
class Timing:
    """The seconds of a step, a checkpoint and a validation, by loss and by translating; the target tokens of a step."""

    step: float
    tokens: float
    saving: float
    measuring: float
    translating: float = 0.0

    @property
    def validation(self) -> float:
        return self.measuring + self.translating

    def with_batches(self, times: float) -> "Timing":
        """The same with batches so many times as large."""
        return replace(self, step=self.step * times, tokens=self.tokens * times)

    def whole(self, steps: int, saves: int, validations: int) -> float:
        """The seconds of a run."""
        return steps * self.step + saves * self.saving + validations * self.validation


class Timer:
    """Times recipes on one corpus, each for so many seconds, in a folder that is removed again."""

    def __init__(self, corpus: PreparedPairs, folder: Path, seconds: float) -> None:
        self.corpus, self.folder, self.seconds = corpus, folder, seconds

    def __call__(self, recipe: TranslationRecipe) -> Timing:
        task = build_translation(recipe, self.corpus.source, self.corpus.target).to(pick_device(recipe.training.device))
        task.learn_from(self.corpus, recipe)
        endless = {"steps": NEVER, "validate_every": NEVER, "save_every": NEVER, "patience": 0, "final": "best"}
        watch, keeper = Stopwatch(self.seconds), _TimedKeeper(RunFolder(self.folder))
        try:
            training = recipe.training.model_copy(update=endless)
            Trainer(task, training, recipe.seed, keeper, _refuse_validation, [watch]).run()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return Timing(watch.seconds_of_step, watch.items, keeper.seconds, *_validation(task, recipe, self.corpus))


class Stopwatch:
    """Hears the steps of a run and stops it when enough of them were timed."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.heard: list[tuple[float, Stepped]] = []

    def __call__(self, event: Event) -> str | None:
        if isinstance(event, Stepped):
            self.heard.append((time.monotonic(), event))
        enough = len(self.heard) >= LEAST_EVENTS and self.heard[-1][0] - self.heard[0][0] >= self.seconds
        return Hurried("timed") if enough else None

    # Medians, for on a GPU the first step of each shape is far slower than all that follow.

    @property
    def seconds_of_step(self) -> float:
        steps = ((two[0] - one[0]) / (two[1].step - one[1].step) for one, two in pairwise(self.heard))
        return max(statistics.median(steps), 1e-6)

    @property
    def items(self) -> float:
        """Those that a step learns from."""
        return statistics.median(two[1].items / (two[1].step - one[1].step) for one, two in pairwise(self.heard))


class _TimedKeeper:
    """Keeps the checkpoints of a run that is only timed, and knows how long that takes."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder, self.seconds = folder, 0.0

    def save(self, snapshot: Snapshot) -> None:
        begin = time.monotonic()
        self.folder.save(snapshot)
        self.seconds = time.monotonic() - begin

    def latest(self) -> None:
        return None

    def publish(self, weights: dict[str, Tensor], validation: Validation | None) -> None:
        pass

    def average(self, last: int) -> dict[str, Tensor]:
        raise RuntimeError("a run that is only timed averages nothing")


def _refuse_validation() -> Validation:
    raise RuntimeError("a run that is only timed is not validated")


@torch.no_grad()
def _validation(task: Translation, recipe: TranslationRecipe, corpus: PreparedPairs) -> tuple[float, float]:
    """The seconds of a validation, by loss and by translating, from a few of its sentences.

    A model that has learnt nothing writes to the limit; one that has learnt a little ends of itself, if late.
    """
    sample, beam = corpus.valid[:SENTENCES], recipe.training.validation_beam
    if not sample:
        return 0.0, 0.0
    times = len(corpus.valid) / len(sample)
    begin = time.monotonic()
    task.eval().measure(task.pair_up(sample))
    measuring = times * (time.monotonic() - begin)
    if not beam:
        return measuring, 0.0
    begin = time.monotonic()
    outputs = TranslationModel(task, recipe).translate([source for source, _ in sample], beam=beam, n_best=1)
    seconds = time.monotonic() - begin
    written = sum(len(output.tokens) + 1 for output in outputs)
    wanted = sum(len(tokens) + 1 for tokens in task.target.encode_all([target for _, target in sample]))
    return measuring, times * seconds * min(1.0, LONGER * wanted / written)
