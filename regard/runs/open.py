"""Opening a run: its folder made or found again, its data prepared, its task built; what would fail is refused."""

import fcntl
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regard.base.faults import Fault
from regard.base.files import write_file
from regard.base.parsing import parse_json
from regard.base.plugin_record import PLUGINS
from regard.base.progress import Progress, Remark
from regard.base.recipe import Options, Recipe, TextRecipe, apply_settings, differences, write
from regard.base.version import __version__
from regard.families import check_recipe, plugin_record, task_class, with_settings
from regard.families.abilities import has
from regard.hardware.devices import pick_device
from regard.loading import Loaded, build_task, check_room, load_as
from regard.protocols import Begins, HoldsTexts, Outlines, OwnWeights, Prepared, Settles
from regard.runs.about import about_data
from regard.runs.validate import check_best_by
from regard.training import checkpoint
from regard.training.checkpoint import RunFolder
from regard.training.options import TrainingOptions
from regard.training.pace import PLAN
from regard.training.pieces import check_rows
from regard.training.snapshot import Facts, check_weights, load_weights, named_weights

Plan = Callable[[Any, Any, RunFolder], list[str]]  # from a recipe and its prepared data to settings
LOOKED_AT = 20  # batches, of which the largest must have a row for every piece
READER = "model.reader."  # begins the names of weights that read text, whatever comes of it
# What may differ between a run and its resumption: where it stops, where it is computed and what is said of it.
STOPS = ("training.steps", "training.patience", "training.device", "training.sharded", "description", "examples")


@dataclass(frozen=True)
class Run:
    """A run about to be trained: where it lies, what it is, and what was made of its data."""

    folder: RunFolder
    recipe: Recipe
    prepared: Prepared
    task: Any


def open_run(
    recipe: Recipe,
    folder: Path,
    resume: bool,
    progress: Progress,
    remark: Remark,
    plan: Plan | None = None,
    writes: bool = True,
) -> Run:
    """Make or reopen the run in `folder`: check that it is the same run, prepare its data, build its task.

    A `plan` gives a new run other settings, once its data is prepared. Who does not write opens what another process
    has made.
    """
    device = check_possible(recipe, folder)
    run_folder = _run_folder(recipe, folder, remark)
    if not resume:
        run_folder.refuse_run()
    if run_folder.exists():
        recipe = _same_recipe(recipe, run_folder)
    else:
        recipe = recipe.model_copy(update={"data": _settle(recipe.data, None)})
    start = _start(recipe, run_folder)
    kind, place = task_class(recipe), data_folder(recipe, run_folder.folder)
    prepared = kind.prepare(recipe, place, progress, remark, _start_files(start) if start else None)
    check_room(recipe, prepared.files())
    if plan is not None and not run_folder.exists() and (settings := plan(recipe, prepared, run_folder)):
        _write_plan(run_folder, settings)
        recipe = with_settings(recipe, settings)
        run_folder = _run_folder(recipe, folder, remark)
    task = build_task(recipe, prepared.files())
    if start and not run_folder.steps():
        _take_weights(task, start, recipe)
    elif isinstance(task, Begins) and not run_folder.steps():
        task.begin_with(prepared, recipe)
    if isinstance(task, nn.Module):
        task = task.to(device)
    if isinstance(task, Settles):
        recipe = task.settle(recipe, prepared, remark)
    # What follows may refuse the data, so that nothing may be begun before.
    task.learn_from(prepared, recipe)
    if (pieces := getattr(recipe.training, "pieces", 1)) > 1:
        check_rows(islice(task.batches("train", recipe.seed, 0, 0), LOOKED_AT), pieces)
    if writes:
        _write_beginning(run_folder, recipe, prepared, task)
    return Run(run_folder, recipe, prepared, task)


def _run_folder(recipe: Recipe, folder: Path, remark: Remark) -> RunFolder:
    training = recipe.training
    return RunFolder(folder, getattr(training, "keep", 1), training.save_every, remark)


def planned_settings(folder: RunFolder) -> list[str]:
    """The settings by which a run was planned, if it was: whoever goes on with its recipe needs them too."""
    try:
        settings = parse_json((folder.training / PLAN).read_bytes(), PLAN)["settings"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, Fault):
        raise Fault(f"{folder.training / PLAN} is damaged, so the plan of the run is lost.") from None
    return [str(setting) for setting in settings]


def _write_plan(folder: RunFolder, settings: Sequence[str]) -> None:
    """Note these settings with those of the plan so far, of which they replace what has the same name."""
    names = {setting.partition("=")[0] for setting in settings}
    before = [setting for setting in planned_settings(folder) if setting.partition("=")[0] not in names]
    write_file(folder.training / PLAN, json.dumps({"settings": [*before, *settings]}, indent=1).encode())


def keep_plan(run: Run, recipe: Recipe, settings: Sequence[str], writes: bool = True) -> Recipe:
    """Plan a run that is open by these settings; gives its recipe, which its folder then has too."""
    planned = with_settings(recipe, settings)
    run.folder.every = planned.training.save_every
    if writes:  # the plan first: where a kill comes between, the recipe is read with the plan
        _write_plan(run.folder, settings)
        checkpoint.update_folder(run.folder.folder, {checkpoint.RECIPE: _recipe_bytes(planned)})
    return planned


def _recipe_bytes(recipe: Recipe) -> bytes:
    header = f"Written by regard {__version__}: the whole recipe of this model, every default written out."
    return write(recipe, header).encode()


def _start(recipe: Recipe, run_folder: RunFolder) -> Path | None:
    """The model folder that a run starts from, if it does; one that was begun is such a folder itself."""
    if recipe.start_from is None or run_folder.exists():
        return run_folder.folder if recipe.start_from else None
    return Path(recipe.start_from).expanduser()


def _start_files(folder: Path) -> Mapping[str, bytes]:
    """Read the files of a model folder other than its weights."""
    listed = checkpoint.read_manifest(folder)
    return checkpoint.read_folder(folder, [name for name in listed if name != checkpoint.WEIGHTS])


def _take_weights(task: nn.Module, start: Path, recipe: Recipe) -> None:
    """All weights of the model in a folder; of one that was trained for another task, those that read text."""
    parent = load_as(Loaded, start, device="cpu")
    weights, own = named_weights(parent.task), named_weights(task)
    if parent.recipe.task != recipe.task:
        readers = {name: weights[name] for name in own if name.startswith(READER) and name in weights}
        weights = own | readers
    check_weights(task, weights, start / checkpoint.WEIGHTS)
    load_weights(task, weights)


def data_folder(recipe: Recipe, folder: Path) -> Path:
    """Where the data of a run in `folder` lies prepared."""
    prepared = getattr(recipe.data, "prepared", None)
    return Path(prepared).expanduser() if prepared else folder / "training" / "corpus"


def check_possible(recipe: Recipe, folder: Path | None = None) -> torch.device:
    """Refuse what would fail later, before anything is written or removed; gives the device to train on.

    A run whose data lies prepared in `folder` needs its files no more.
    """
    device = pick_device(getattr(recipe.training, "device", "cpu"))
    check_best_by(recipe)
    task_class(recipe).check(recipe, device, data_folder(recipe, folder) if folder else None)
    return device


@contextmanager
def locked_run(folder: RunFolder) -> Iterator[None]:
    """Inside this block the folder is a run of ours, and no other process trains in it.

    A run that is refused before it has begun leaves nothing behind.
    """
    is_new, made = not folder.is_ours(), [each for each in (folder.folder, *folder.folder.parents) if not each.exists()]
    folder.begin()
    with (folder.training / ".lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Fault(f"Another process is training in {folder.folder}; wait, or choose another --out.") from None
        try:
            yield
        except Fault:
            if is_new and not folder.exists():
                folder.clear()
                for each in made:
                    each.rmdir()
            raise


def _same_recipe(recipe: Recipe, run_folder: RunFolder) -> Recipe:
    """The recipe to resume with; one that differs in more than where it stops is refused."""
    old = check_recipe(apply_settings(checkpoint.read_recipe(run_folder.folder), planned_settings(run_folder)))
    recipe = _as_settled(recipe, old)
    changed = [line for line in differences(old, recipe) if not line.startswith(tuple(f"{stop} " for stop in STOPS))]
    if changed:
        raise Fault(
            f"{run_folder.folder} cannot be resumed with another recipe:",
            *changed,
            "To go on from its weights with what is new: "
            f"regard train … --from {run_folder.folder} --out {run_folder.folder}-2",
        )
    return recipe


def _as_settled(recipe: Recipe, old: Recipe) -> Recipe:
    """Return the recipe with what it leaves open as it was settled when this very run began."""
    if recipe.task != old.task or type(recipe.training) is not type(old.training):
        return recipe
    recipe = recipe.model_copy(update={"data": _settle(recipe.data, old.data)})
    found = {
        name: getattr(old.training, name)
        for name in type(recipe.training).model_fields
        if getattr(recipe.training, name) is None
    }
    return recipe.model_copy(update={"training": recipe.training.model_copy(update=found)})


def _settle(options: Options, old: Options | None) -> Options:
    """Return the options with what they leave open as in `old`, with which the run began, or as new runs have it."""
    if old is not None and type(options) is not type(old):
        return options
    choices = {name: value if old is None else getattr(old, name) for name, value in options.NEW_RUNS.items()}
    found = {name: value for name, value in choices.items() if getattr(options, name) is None}
    for name in type(options).model_fields:
        if isinstance(part := getattr(options, name), Options):
            found[name] = _settle(part, None if old is None else getattr(old, name))
    return options.model_copy(update=found)


def _write_beginning(run_folder: RunFolder, recipe: Recipe, prepared: Prepared, task: Any) -> None:
    """The files of a model folder that are known before training; all of them, where it starts from a model."""
    files: dict[str, bytes] = {}
    if recipe.start_from and not run_folder.exists():
        files[checkpoint.WEIGHTS] = checkpoint.weights_to_bytes(named_weights(task))
    for file, content in prepared.files().items():
        if (old := run_folder.folder / file).exists() and old.read_bytes() != content:
            raise Fault(f"{old} does not belong to the data, which was prepared again; start another run.")
        files[file] = content
    if isinstance(recipe, TextRecipe) and isinstance(prepared, HoldsTexts):
        parameters = parameters_of(task) if isinstance(task, nn.Module) else None
        about = about_data(prepared, parameters, recipe.examples, recipe.task)
        files[checkpoint.ABOUT] = about.to_bytes()
    if (record := plugin_record(recipe)) is not None:
        files[PLUGINS] = record
    # The recipe comes last: where it lies, a run has all that it began with.
    files[checkpoint.RECIPE] = _recipe_bytes(recipe)
    checkpoint.update_folder(run_folder.folder, files)


def is_finished(recipe: Recipe, folder: RunFolder) -> bool:
    """Return True if the run of this very recipe is there and finished."""
    if not folder.exists() or (facts := folder.facts()) is None:
        return False
    _same_recipe(recipe, folder)
    if has(task_class(recipe), OwnWeights):
        return facts.finished
    return facts.finished and (facts.step >= recipe.training.steps or _is_out_of_patience(facts, recipe))


def _is_out_of_patience(facts: Facts, recipe: Recipe) -> bool:
    return 0 < recipe.training.patience <= facts.since_best


def device_of(run: Run) -> torch.device:
    """Where a run is computed."""
    return next(run.task.parameters()).device if isinstance(run.task, nn.Module) else torch.device("cpu")


def parameters_of(task: nn.Module) -> int:
    """Count the weights that a task learns or keeps."""
    return sum(parameter.numel() for parameter in task.parameters())


def describe(run: Run) -> list[str]:
    """Describe what is about to be trained, in a few lines."""
    own = run.task.outline(run.recipe) if isinstance(run.task, Outlines) else []
    if not isinstance(run.task, nn.Module):
        return own
    parameters = parameters_of(run.task)
    frozen = sum(parameter.numel() for parameter in run.task.parameters() if not parameter.requires_grad)
    size = f"{run.recipe.family} of {parameters:,} parameters on {device_of(run)}"
    parts = ", ".join(getattr(run.recipe.training, "freeze", []))
    whole = size + (f", {frozen:,} of them frozen" if frozen else "") + (f" ({parts})" if parts else "")
    return [whole, *own, *_describe_warmup(run.recipe), *_describe_mean(run.recipe)]


def _describe_warmup(recipe: Recipe) -> list[str]:
    """A run that ends before its learning rate has risen learns little, which is seldom meant."""
    training = recipe.training
    if not isinstance(training, TrainingOptions) or training.optimizer.warmup <= training.steps:
        return []
    rising = f"{training.optimizer.warmup:,} steps (training.optimizer.warmup)"
    return [f"the learning rate rises for {rising}, so in the {training.steps:,} of this run it stays below its height"]


def _describe_mean(recipe: Recipe) -> list[str]:
    """Return a sentence if the run is too short to save any checkpoint that a mean could be taken of."""
    training = recipe.training
    if (
        not isinstance(training, TrainingOptions)
        or training.final != "average"
        or training.save_every <= training.steps
    ):
        return []
    return [
        f"the run ends before its first checkpoint, at step {training.save_every:,} (training.save_every), so its "
        "last weights remain in place of a mean (training.final)"
    ]
