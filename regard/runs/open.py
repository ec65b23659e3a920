"""Wires data, task, trainer, search, metrics and model folder together for the commands."""

import fcntl
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from regard import __version__
from regard.base.faults import Fault
from regard.base.files import write_file
from regard.base.parsing import parse_json
from regard.base.progress import Progress
from regard.base.recipe import differences, write
from regard.data.corpora.prepare import prepare
from regard.data.corpora.prepared import Prepared, is_prepared, purpose_of
from regard.data.tokenisers.tokeniser import load_tokenisers, tokeniser_names
from regard.families import FAMILIES, Recipe, check_recipe, with_settings
from regard.metrics import BETTER, METRICS
from regard.model import Model, build_task, check_room, check_weights, load, pick_device
from regard.protocols import Measure
from regard.runs import checkpoint
from regard.runs.checkpoint import RunFolder
from regard.runs.evaluate import from_pairs, measure_in_pieces, score_outputs
from regard.runs.from_text import budget
from regard.seeing.head_reports import inspect, logged
from regard.tasks.translation.task import Translation
from regard.training.events import Listener
from regard.training.freezing import check_parts, freeze
from regard.training.pace import PLAN
from regard.training.precision import has_bf16_lstm
from regard.training.snapshot import Facts, Validation, load_weights, named_weights
from regard.training.trainer import Trainer

FEWEST_TOKENS = 16  # that a vocabulary has, before it is known how many
WATCHED = 64  # validation pairs on which heads are watched, where that is asked for
SAMPLES = 2  # outputs shown at each validation
TRANSLATED = ("bleu", "chrf")  # what a validation measures by really translating, beside what `best_by` names
Plan = Callable[[Recipe, Prepared, Path], list[str]]
# What may differ between a run and its resumption: where it stops and where it is computed, not what is learnt.
STOPS = ("training.steps", "training.patience", "training.device")


@dataclass(frozen=True)
class Run:
    """A run about to be trained: where it lies, what it is, and what was read from its text."""

    folder: RunFolder
    recipe: Recipe
    corpus: Prepared
    task: Translation


def open_run(
    recipe: Recipe,
    folder: Path,
    resume: bool,
    progress: Progress,
    remark: Callable[[str], None],
    plan: Plan | None = None,
) -> Run:
    """Make or reopen the run in `folder`: check that it is the same run, prepare its text, build its task.

    A `plan` gives a new run other settings, once its text is prepared.
    """
    device = check_possible(recipe, folder)
    run_folder = RunFolder(folder, recipe.training.keep, recipe.training.save_every, remark)
    if run_folder.exists():
        if not resume:
            raise Fault(f"{folder} holds a run already; give --resume to go on with it or --overwrite to replace it.")
        recipe = _same_recipe(recipe, run_folder)
    start = _start(recipe, run_folder)
    tokenisers = load_tokenisers(start, recipe.data.tokeniser) if start else None
    corpus = prepare(recipe.data, _corpus_folder(recipe, run_folder), progress, tokenisers, remark)
    check_room(recipe, corpus.source.size, corpus.target.size)
    if plan is not None and not run_folder.exists():
        _check_validation(build_task(recipe, corpus.source, corpus.target), corpus)
        if settings := plan(recipe, corpus, run_folder.training / "timing"):
            write_file(run_folder.training / PLAN, json.dumps({"settings": settings}, indent=1).encode())
            recipe = with_settings(recipe, settings)
            run_folder = RunFolder(folder, recipe.training.keep, recipe.training.save_every, remark)
    task = build_task(recipe, corpus.source, corpus.target)
    freeze(task.model, recipe.training.freeze)
    if start and not run_folder.steps():
        _take_weights(task, start)
    task = task.to(device)
    _check_validation(task, corpus)
    if recipe.training.batch_tokens is None:
        found = budget.find(task, recipe, corpus, remark)
        recipe = recipe.model_copy(update={"training": recipe.training.model_copy(update={"batch_tokens": found})})
    _write_beginning(run_folder, recipe, corpus, task)
    learn_from(task, recipe, corpus)
    if task.sampling_workers:
        remark(f"{task.sampling_workers} worker processes cut the text anew in every epoch")
    return Run(run_folder, recipe, corpus, task)


def learn_from(task: Translation, recipe: Recipe, corpus: Prepared) -> None:
    """Give a task the corpus, cut into batches as its recipe says."""
    assert recipe.training.batch_tokens is not None
    sampling = recipe.data.tokeniser.sampling > 0
    fast = recipe.training.fast and recipe.training.precision != "float32"  # in which the kernels outgrow many GPUs
    task.learn_from(corpus, recipe.training.batch_tokens, sampling, fast)


def planned_settings(folder: RunFolder) -> list[str]:
    """The settings by which a run was planned, if it was: whoever goes on with its recipe needs them too."""
    try:
        settings = parse_json((folder.training / PLAN).read_bytes(), PLAN)["settings"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, Fault):
        raise Fault(f"{folder.training / PLAN} is damaged, so the plan of the run is lost.") from None
    return [str(setting) for setting in settings]


def _start(recipe: Recipe, run_folder: RunFolder) -> Path | None:
    """The model folder that a run starts from, if it does; one that was begun is such a folder itself."""
    if recipe.start_from is None or run_folder.exists():
        return run_folder.folder if recipe.start_from else None
    return Path(recipe.start_from).expanduser()


def _take_weights(task: Translation, start: Path) -> None:
    weights = named_weights(load(start, device="cpu").task)
    check_weights(task, weights, start)
    load_weights(task, weights)


def _corpus_folder(recipe: Recipe, run: RunFolder) -> Path:
    """Where the text of a run lies prepared."""
    return Path(recipe.data.prepared).expanduser() if recipe.data.prepared else run.training / "corpus"


def check_possible(recipe: Recipe, folder: Path | None = None) -> torch.device:
    """Refuse what would fail later, before anything is written or removed; gives the device to train on.

    A run whose corpus lies prepared in `folder` needs its text no more.
    """
    device = pick_device(recipe.training.device)
    _check_measure(recipe)
    check_room(recipe, FEWEST_TOKENS, FEWEST_TOKENS)
    if folder is None or not is_prepared(_corpus_folder(recipe, RunFolder(folder))):
        purpose_of(recipe.data)  # every file of text is there
    if recipe.training.log_attention and getattr(recipe.model, "decoder", None) == "bottleneck":
        raise Fault("training.log_attention is true, but a bottleneck has no attention to log.")
    _check_precision(recipe, device)
    network, _ = FAMILIES[recipe.family].load()
    check_parts(recipe.family, network, recipe.training.freeze)
    return device


def _check_precision(recipe: Recipe, device: torch.device) -> None:
    asked = device.type == "cpu" and recipe.training.precision == "bf16"
    if asked and getattr(recipe.model, "cell", None) == "lstm" and not has_bf16_lstm(device):
        raise Fault(
            "training.precision is 'bf16', but on this CPU torch has no LSTM in bf16; "
            "leave training.precision away, or set model.cell to 'gru'."
        )


def _check_validation(task: Translation, corpus: Prepared) -> None:
    """A validation sentence too long for the model is better told now than at the first validation."""
    sides = [task.source.encode_all([s for s, _ in corpus.valid]), task.target.encode_all([t for _, t in corpus.valid])]
    longest = max((len(tokens) + 1 for side in sides for tokens in side), default=0)
    if longest > task.model.options.longest:
        raise Fault(
            f"The longest validation sentence has {longest} tokens, but model.longest is {task.model.options.longest}."
        )


@contextmanager
def held(folder: RunFolder) -> Iterator[None]:
    """Inside this block the folder is a run of ours, and no other process trains in it."""
    folder.begin()
    with (folder.training / ".lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Fault(f"Another process is training in {folder.folder}; wait, or choose another --out.") from None
        yield


def _check_measure(recipe: Recipe) -> None:
    by, translated = recipe.training.best_by, METRICS if recipe.training.validation_beam else ()
    names = ["loss", "perplexity", "accuracy", *translated]
    if by not in names:
        raise Fault(f"training.best_by is '{by}', but a validation can measure {', '.join(names)}.")


def _translated(best_by: str) -> tuple[str, ...]:
    """What a validation measures by really translating, the measure that says which weights are best among it."""
    return tuple(dict.fromkeys([*TRANSLATED, *({best_by} & METRICS.keys())]))


def _same_recipe(recipe: Recipe, run_folder: RunFolder) -> Recipe:
    """The recipe to resume with; one that differs in more than where it stops is refused."""
    old = check_recipe(checkpoint.read_recipe(run_folder.folder))
    if recipe.training.batch_tokens is None:  # found for this very run, the first time
        training = recipe.training.model_copy(update={"batch_tokens": old.training.batch_tokens})
        recipe = recipe.model_copy(update={"training": training})
    changed = [line for line in differences(old, recipe) if not line.startswith(tuple(f"{stop} " for stop in STOPS))]
    if changed:
        raise Fault(
            f"{run_folder.folder} cannot be resumed with another recipe:",
            *changed,
            "To go on from its weights with what is new: "
            f"regard train … --from {run_folder.folder} --out {run_folder.folder}-2",
        )
    return recipe


def _write_beginning(run_folder: RunFolder, recipe: Recipe, corpus: Prepared, task: Translation) -> None:
    """The files of a model folder that are known before training; all of them, where it starts from a model."""
    files: dict[str, bytes] = {}
    if recipe.start_from and not run_folder.exists():
        files[checkpoint.WEIGHTS] = checkpoint.weights_to_bytes(named_weights(task))
    for name, tokeniser in zip(tokeniser_names(recipe.data.tokeniser), (corpus.source, corpus.target), strict=False):
        for file, content in tokeniser.files(name).items():
            if (old := run_folder.folder / file).exists() and old.read_bytes() != content:
                raise Fault(f"{old} is not the tokeniser of the corpus, which was prepared anew; start another run.")
            files[file] = content
    # The recipe comes last: where it lies, a run has all that it began with.
    header = f"Written by regard {__version__}: the whole recipe of this model, every default written out."
    files[checkpoint.RECIPE] = write(recipe, header).encode()
    checkpoint.update_folder(run_folder.folder, files)


def is_finished(recipe: Recipe, folder: RunFolder) -> bool:
    """Whether the run of this very recipe lies there with nothing left to do."""
    if not folder.exists() or (facts := folder.facts()) is None:
        return False
    _same_recipe(recipe, folder)
    return facts.finished and (facts.step >= recipe.training.steps or _out_of_patience(facts, recipe))


def _out_of_patience(facts: Facts, recipe: Recipe) -> bool:
    return 0 < recipe.training.patience <= facts.since_best


def describe(run: Run) -> list[str]:
    """What is about to be trained, in a few lines."""
    parameters = sum(parameter.numel() for parameter in run.task.parameters())
    frozen = sum(parameter.numel() for parameter in run.task.parameters() if not parameter.requires_grad)
    plan, seed = run.task.plan, run.recipe.seed
    return [
        f"{run.corpus.source.size:,} tokens in the vocabulary"
        + (
            ""
            if run.corpus.source is run.corpus.target
            else f" of the source, {run.corpus.target.size:,} of the target"
        ),
        f"{run.recipe.family} of {parameters:,} parameters on {run.task.device}"
        + (f", {frozen:,} of them frozen ({', '.join(run.recipe.training.freeze)})" if frozen else ""),
        f"{plan.count(seed, 0):,} batches an epoch, {100 * plan.padding_share(seed, 0):.1f}% of them padding",
        *_mixture(run),
        *([run.task.path] if run.task.path else []),
    ]


def _mixture(run: Run) -> list[str]:
    """Which share of the pairs comes from which corpus, where there are several."""
    if len(run.recipe.data.train) == 1:
        return []
    weights = [weight if count else 0.0 for _, count, weight in run.corpus.train.corpora]
    named = zip(weights, run.recipe.data.train, strict=True)
    shares = [f"{weight / sum(weights):.1%} from {corpus.names[0]}" for weight, corpus in named]
    return [f"of the pairs of an epoch {', '.join(shares)}"]


def train(run: Run, listeners: Sequence[Listener]) -> Facts:
    """Train the run to its end or to a stop, and draw its loss curve."""
    validator = Validator(run)
    trainer = Trainer(run.task, run.recipe.training, run.recipe.seed, run.folder, validator, listeners)
    facts = trainer.run()
    if facts.losses:
        from regard.viewing.curves import draw_curves

        series = {"training loss": list(facts.losses)}
        for step, values in facts.tallies:
            for name, value in values.items():
                series.setdefault(f"training {name}", []).append((step, value))
        for step, measures in facts.validations:
            for name, value in measures.items():
                series.setdefault(f"validation {name}", []).append((step, value))
        draw_curves(series, run.folder.folder / "curve.png", "Training")
    return facts


class Validator:
    """Measures a run on its validation data: by loss, and by really translating."""

    def __init__(self, run: Run) -> None:
        self.run, self.model = run, Model(run.task, run.recipe)

    def __call__(self) -> Validation:
        recipe, pairs = self.run.recipe, self.run.corpus.valid
        beam = recipe.training.validation_beam
        measures = measure(self.run.task, "valid")
        perplexity = measures["perplexity"]
        scores = [{"metric": "perplexity", "value": perplexity.value, "signature": perplexity.signature,
                   "split": "valid", "n": len(pairs)}]  # fmt: skip
        samples: list[tuple[str, str, str]] = []
        if beam:
            data, search = from_pairs(pairs, "valid", recipe.data.merge_references), {"beam": beam}
            outputs = [each.text for each in self.model.translate(data.sources, beam=beam, n_best=1)]
            for metric in _translated(recipe.training.best_by):
                found = score_outputs(
                    outputs, data.references, metric, "valid", recipe.decoding.model_copy(update=search)
                )
                measures[metric] = Measure.of_value(found.value, BETTER[metric], found.signature)
                scores.append(found.as_dict())
            shown = zip(data.sources, outputs, data.references[0], strict=True)
            samples = [(source, output, target or "") for source, output, target in islice(shown, SAMPLES)]
        details = (
            logged(self.run.task, inspect(self.run.task, pairs[:WATCHED])) if recipe.training.log_attention else {}
        )
        return Validation(measures, scores, samples, details)


@torch.no_grad()
def measure(task: Translation, split: str) -> dict[str, Measure]:
    """The task's own measures over a whole split, however it is cut into batches."""
    measures: dict[str, Measure] = {}
    for batch in task.batches(split, seed=0, epoch=0, start=0):
        for name, found in (each for piece in measure_in_pieces(task, batch) for each in piece.items()):
            measures[name] = measures[name] + found if name in measures else found
    return measures
