"""The budget of a recipe: how many tokens and operations it takes, and how long on a number of GPUs.

A measured pace holds for models that do the same work per token. A model that does more work is assumed to be slower in
proportion. A model that does less is assumed to be just as fast, because something other than its work limits a small
model.
"""

import math
from dataclasses import dataclass, field
from typing import Any

from regard.base.faults import Fault
from regard.base.recipe import Recipe
from regard.families import check_recipe, task_class, with_article
from regard.protocols import Budgeted, StepCost
from regard.runs.about import data_names

# A multiplication comes with an addition; backward costs as much for inputs as for weights: Kaplan et al. 2020.
OPERATIONS = 6


@dataclass(frozen=True)
class MeasuredPace:
    """Tokens per second of one model on one GPU, measured in a training by regard; target tokens for translators."""

    family: str
    tokens: float
    device: str
    source: str  # the command that repeats the measurement, and its date
    task: str
    data: dict[str, Any]  # the part of the recipe that decides its work
    model: dict[str, Any]
    training: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PublishedRun:
    """A published result: the score, the machine and the hours."""

    data: str  # data set in the catalogue
    preset: str
    score: str
    hours: float
    gpus: int
    device: str
    source: str

    def in_words(self) -> str:
        time = f"{self.hours / 24:.1f} days" if self.hours >= 48 else f"{self.hours:.1f} hours"
        whole = f"{self.hours * self.gpus:,.0f} GPU hours"
        return f"{self.score} after {time} on {self.gpus} {self.device}, {whole} ({self.source})"


def _pairs(vocabulary: int) -> dict[str, Any]:
    return {"train": "pairs.tsv", "tokeniser": {"kind": "bpe", "vocabulary": vocabulary}}


_UPDATES = "an update by benchmarks/train_gpu.py, 25,600 tokens a batch, 15 November 2026"
_TEXT_OF_BERT = {"train": "text.txt", "tokeniser": {"vocabulary": 12_000}}

MEASURED = (
    MeasuredPace(
        "transformer", 945_134, "H200", f"{_UPDATES}: 'regard, norm after'", "translation", _pairs(32_000),
        {"preset": "base"},
    ),
    MeasuredPace(
        "transformer", 318_519, "H200", "wmt14-en-fr by benchmarks/wmt_speed.py, the whole loop, 17 November 2026",
        "translation", _pairs(32_000), {"preset": "big"},
    ),
    MeasuredPace(
        "transformer", 581_000, "H200", "regard train multi30k-en-de, 15 November 2026", "translation", _pairs(8000),
        {"preset": "small", "encoder_layers": 4, "decoder_layers": 4}, {"consistency": 5.0},
    ),
    MeasuredPace(
        "transformer", 698_638, "H200", "regard train multi30k-en-de-tiny, 8,192 tokens a batch, 15 November 2026",
        "translation", _pairs(8000), {"preset": "tiny"},
    ),
    MeasuredPace(
        "bert", 495_000, "H200", "an update by benchmarks/bert.py, 64 spans of 512 tokens", "masked", _TEXT_OF_BERT,
        {"preset": "base"}, {"span": 512},
    ),
    MeasuredPace(
        "bert", 2_080_000, "H200", "an update by benchmarks/bert.py, 64 spans of 512 tokens", "masked", _TEXT_OF_BERT,
        {"preset": "small"}, {"span": 512},
    ),
    MeasuredPace(
        "gpt", 501_734, "H200", "an update by benchmarks/gpt.py, 32 rows of 1,024 tokens", "language",
        {"train": "text.txt", "tokeniser": {"kind": "bpe", "vocabulary": 50_257}}, {"preset": "small"},
    ),
)  # fmt: skip

_PAPER = "Vaswani et al. 2017"
_SCALING = "Ott et al. 2018, larger batches in half precision"

PUBLISHED = (
    PublishedRun("wmt14-en-de", "base", "27.3 BLEU", 12, 8, "P100", _PAPER),
    PublishedRun("wmt14-en-de", "big", "28.4 BLEU", 84, 8, "P100", _PAPER),
    PublishedRun("wmt14-en-de", "big", "28.69 BLEU", 446 / 60, 8, "V100", "NVIDIA, Transformer for PyTorch"),
    PublishedRun("wmt14-en-de", "big", "29.3 BLEU", 85 / 60, 128, "V100", _SCALING),
    PublishedRun("wmt14-en-fr", "base", "38.1 BLEU", 12, 8, "P100", _PAPER),
    PublishedRun("wmt14-en-fr", "big", "41.8 BLEU", 84, 8, "P100", _PAPER),
    PublishedRun("wmt14-en-fr", "big", "43.2 BLEU", 8.5, 128, "V100", _SCALING),
)


@dataclass(frozen=True)
class Budget:
    """Tokens, work and time that a recipe takes."""

    room: int  # tokens that fit into a batch
    tokens: float  # tokens that a step learns from
    steps: int
    multiplications: float  # per token, forward
    nearest: MeasuredPace | None
    pace: float  # tokens per second on one such GPU, scaled by the work; 0 if nothing similar was measured
    published: list[PublishedRun]

    @property
    def all_tokens(self) -> float:
        return self.tokens * self.steps

    @property
    def operations(self) -> float:
        return OPERATIONS * self.multiplications * self.all_tokens

    def hours(self, gpus: int) -> float | None:
        """Return the hours on this many GPUs, each as fast as one alone, or None if nothing similar was measured."""
        return self.all_tokens / self.pace / gpus / 3600 if self.pace else None


def budget_of(recipe: Recipe) -> Budget:
    """Return the budget of a recipe, which must read text and learn by gradient."""
    kind = task_class(recipe)
    if not issubclass(kind, Budgeted):
        raise Fault(
            "A budget exists only for translation, language and masked models that learn by gradient; this is "
            f"{with_article(recipe.family)} for the task {recipe.task}."
        )
    cost = kind.step_cost(recipe)
    nearest, pace = _pace(recipe, cost)
    return Budget(
        room=cost.tokens,
        tokens=cost.tokens * cost.filled,
        steps=recipe.training.steps,
        multiplications=cost.multiplications,
        nearest=nearest,
        pace=pace,
        published=_published(recipe),
    )


def _pace(recipe: Recipe, cost: StepCost) -> tuple[MeasuredPace | None, float]:
    """Return the pace of the measured model with the nearest work per token, scaled to the work of this one."""
    alike = [(pace, _work(pace)) for pace in MEASURED if (pace.family, pace.task) == (recipe.family, recipe.task)]
    if not alike:
        return None, 0.0
    nearest, work = min(alike, key=lambda candidate: abs(math.log(candidate[1] / cost.multiplications)))
    return nearest, nearest.tokens * min(1.0, work / cost.multiplications)


def _work(pace: MeasuredPace) -> float:
    table = {"family": pace.family, "task": pace.task, "data": pace.data, "model": pace.model}
    recipe = check_recipe(table | {"training": pace.training})
    return task_class(recipe).step_cost(recipe).multiplications


def _published(recipe: Recipe) -> list[PublishedRun]:
    """Return published results for the same data and sizes."""
    names = {name.partition(":")[0] for name in data_names(recipe.model_dump())}
    preset = getattr(recipe.model, "preset", None)
    return [run for run in PUBLISHED if run.data in names and run.preset == preset]


def budget_lines(budget: Budget, gpus: int) -> list[tuple[str, str]]:
    """Return the budget as named lines for people."""
    room = f" of {budget.room:,} that fit into a batch" if budget.room != round(budget.tokens) else ""
    lines = [
        ("tokens", f"{budget.tokens:,.0f} a step{room}, {budget.steps:,} steps: {budget.all_tokens:.2g} in all"),
        (
            "work",
            f"{budget.multiplications / 1e6:,.1f}M multiplications a token, {budget.operations:.2g} operations in all",
        ),
    ]
    hours = budget.hours(1)
    if budget.nearest is None or hours is None:
        lines.append(("pace", "no similar model was measured, so the time cannot be estimated"))
    else:
        lines.append(("pace", f"{budget.pace:,.0f} tokens a second on one {budget.nearest.device}"))
        lines.append(("from", f"{budget.nearest.tokens:,.0f}: {budget.nearest.source}"))
        lines.append(("time", f"{_hours(hours)} on one {budget.nearest.device}"))
        if gpus > 1:
            lines.append(("", f"{_hours(hours / gpus)} on {gpus}, if each is as fast as one alone (not tried yet)"))
    for number, run in enumerate(budget.published):
        lines.append(("" if number else "published", run.in_words()))
    return lines


def _hours(hours: float) -> str:
    if hours >= 1:
        return f"{hours:.1f} hours"
    if hours > 1 / 30:
        return f"{60 * hours:.0f} minutes"
    return f"{3600 * hours:.0f} seconds" if hours >= 1 / 1800 else "less than two seconds"
