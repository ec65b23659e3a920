"""Open a run: make or find its folder, prepare its data, build its task, and refuse what would fail later."""

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
from regard.data.corpora.options import PairData
from regard.families import check_recipe, plugin_record, task_class, with_settings
from regard.families.abilities import has
from regard.hardware.devices import pick_device
from regard.loading import Loaded, build_task, check_room, load_as
from regard.protocols import Begins, HoldsTexts, Outlines, OwnWeights, Prepared, Settles
from regard.runs.about import about_data
from regard.runs.teachers import check_teachers, with_teachers
from regard.runs.validate import check_best_by
from regard.training import checkpoint
from regard.training.checkpoint import RunFolder
from regard.training.options import TrainingOptions
from regard.training.pace import PLAN
from regard.training.pieces import check_rows
from regard.training.snapshot import Facts, check_weights, load_weights, named_weights

Plan = Callable[[Any, Any, RunFolder], list[str]]  # from a recipe and its prepared data to settings
LOOKED_AT = 20  # batches, the largest of which must have a row for every piece
READER = "model.reader."  # prefix of the weights that read text, whatever the task
# Options that may differ when a run is resumed: where it stops, its device, and its description.
STOPS = ("training.steps", "training.patience", "training.device", "training.sharded", "description", "examples")


@dataclass(frozen=True)
class Run:
    """A run about to be trained: its folder, recipe, prepared data and task."""

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

    A `plan` gives a new run other settings once its data is prepared. With `writes` false, the folder that another
    process has made is opened.
    """
    device = check_possible(recipe, folder)
    run_folder = _run_folder(recipe, folder, remark)
    if not resume:
        run_folder.refuse_run()
    if run_folder.exists():
        recipe = _same_recipe(recipe, run_folder)
        _refuse_lost_checkpoints(recipe, run_folder)
    else:
        recipe = recipe.model_copy(update={"data": _settle(recipe.data, None)})
    start = _start(recipe, run_folder)
    kind, place = task_class(recipe), data_folder(recipe, run_folder.folder)
    if writes and isinstance(recipe.data, PairData) and recipe.data.mono:
        from regard.runs.mono.for_run import write_mono  # loads what translates, which few runs need

        write_mono(recipe.data, place, progress, remark)
    prepared = kind.prepare(recipe, place, progress, remark, start_files(recipe, run_folder))
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
    recipe = with_teachers(recipe, task)
    if isinstance(task, Settles):
        recipe = task.settle(recipe, prepared, remark)
    # The following steps may refuse the data, so nothing may be written before them.
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
    """Read the settings with which a run was planned, if it was; resuming its recipe needs them too."""
    try:
        settings = parse_json((folder.training / PLAN).read_bytes(), PLAN)["settings"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, Fault):
        raise Fault(f"{folder.training / PLAN} is damaged, so the plan of the run is lost.") from None
    return [str(setting) for setting in settings]


def _write_plan(folder: RunFolder, settings: Sequence[str]) -> None:
    """Add these settings to those of the plan, replacing settings of the same name."""
    names = {setting.partition("=")[0] for setting in settings}
    before = [setting for setting in planned_settings(folder) if setting.partition("=")[0] not in names]
    write_file(folder.training / PLAN, json.dumps({"settings": [*before, *settings]}, indent=1).encode())


def keep_plan(run: Run, recipe: Recipe, settings: Sequence[str], writes: bool = True) -> Recipe:
    """Change an open run's plan by these settings; return its recipe, which is also written to its folder."""
    planned = with_settings(recipe, settings)
    run.folder.every = planned.training.save_every
    if writes:  # the plan first: after a kill in between, the recipe is read together with the plan
        _write_plan(run.folder, settings)
        checkpoint.update_folder(run.folder.folder, {checkpoint.RECIPE: _recipe_bytes(planned)})
    return planned


def _recipe_bytes(recipe: Recipe) -> bytes:
    header = f"Written by regard {__version__}: the whole recipe of this model, every default written out."
    return write(recipe, header).encode()


def _start(recipe: Recipe, run_folder: RunFolder) -> Path | None:
    """Return the model folder that a run starts from, if any; a run that was begun starts from its own folder."""
    if recipe.start_from is None or run_folder.exists():
        return run_folder.folder if recipe.start_from else None
    return Path(recipe.start_from).expanduser()


def start_files(recipe: Recipe, run_folder: RunFolder) -> Mapping[str, bytes] | None:
    """Read the files, other than the weights, of the model that a run starts from or takes its tokenisers from."""
    start, origin = _start(recipe, run_folder), getattr(recipe.data, "tokenisers_from", None)
    if start is None and origin is not None:
        start = run_folder.folder if run_folder.exists() else Path(origin).expanduser()
    if start is None:
        return None
    listed = checkpoint.read_manifest(start)
    return checkpoint.read_folder(start, [name for name in listed if name != checkpoint.WEIGHTS])


def _take_weights(task: nn.Module, start: Path, recipe: Recipe) -> None:
    """Take all weights of the model in a folder, or only those that read text if it was trained for another task."""
    parent = load_as(Loaded, start, device="cpu")
    weights, own_weights = named_weights(parent.task), named_weights(task)
    if parent.recipe.task != recipe.task:
        readers = {name: weights[name] for name in own_weights if name.startswith(READER) and name in weights}
        weights = own_weights | readers
    check_weights(task, weights, start / checkpoint.WEIGHTS)
    load_weights(task, weights)


def data_folder(recipe: Recipe, folder: Path) -> Path:
    """Return the folder where the data of a run in `folder` is prepared."""
    prepared = getattr(recipe.data, "prepared", None)
    return Path(prepared).expanduser() if prepared else folder / "training" / "corpus"


def check_possible(recipe: Recipe, folder: Path | None = None) -> torch.device:
    """Refuse what would fail later, before anything is written or removed; return the device to train on.

    A run whose data is already prepared in `folder` no longer needs the original files.
    """
    device = pick_device(getattr(recipe.training, "device", "cpu"))
    check_best_by(recipe)
    check_teachers(recipe)
    task_class(recipe).check(recipe, device, data_folder(recipe, folder) if folder else None)
    return device


@contextmanager
def locked_run(folder: RunFolder) -> Iterator[None]:
    """Keep the run folder locked while the block runs, so that no other process trains in it.

    A run that is refused before it has begun leaves nothing behind.
    """
    is_new, new_folders = (
        not folder.is_ours(),
        [path for path in (folder.folder, *folder.folder.parents) if not path.exists()],
    )
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
                for path in new_folders:
                    path.rmdir()
            raise


def _same_recipe(recipe: Recipe, run_folder: RunFolder) -> Recipe:
    """Return the recipe to resume with; refuse one that differs in more than the options that may change."""
    old = check_recipe(apply_settings(checkpoint.read_recipe(run_folder.folder), planned_settings(run_folder)))
    recipe = _as_settled(recipe, old)
    changed = [line for line in differences(old, recipe) if not line.startswith(tuple(f"{stop} " for stop in STOPS))]
    if changed:
        raise Fault(
            f"{run_folder.folder} cannot be resumed with another recipe:", *changed, _how_to_go_on_from(run_folder)
        )
    return recipe


def _refuse_lost_checkpoints(recipe: Recipe, run_folder: RunFolder) -> None:
    """Refuse a run that has a model but no checkpoint: it would start from nothing, and replace the model."""
    if recipe.start_from is None and not run_folder.steps() and (run_folder.folder / checkpoint.WEIGHTS).exists():
        raise Fault(
            f"{run_folder.checkpoints} has no checkpoint left, so {run_folder.folder} cannot be resumed.",
            _how_to_go_on_from(run_folder),
        )


def _how_to_go_on_from(run_folder: RunFolder) -> str:
    folder = run_folder.folder
    return f"To start a new run from its weights: regard train … --from {folder} --out {folder}-2"


def _as_settled(recipe: Recipe, old: Recipe) -> Recipe:
    """Return the recipe with its open options filled in as they were when the run began."""
    if recipe.task != old.task or type(recipe.training) is not type(old.training):
        return recipe
    recipe = recipe.model_copy(update={"data": _settle(recipe.data, old.data)})
    settled = {
        name: getattr(old.training, name)
        for name in type(recipe.training).model_fields
        if getattr(recipe.training, name) is None
    }
    return recipe.model_copy(update={"training": recipe.training.model_copy(update=settled)})


def _settle(options: Options, old: Options | None) -> Options:
    """Return the options with open values filled in from `old`, the run's first options, or from the defaults of new
    runs.
    """
    if old is not None and type(options) is not type(old):
        return options
    choices = {name: value if old is None else getattr(old, name) for name, value in options.NEW_RUNS.items()}
    settled = {name: value for name, value in choices.items() if getattr(options, name) is None}
    for name in type(options).model_fields:
        if isinstance(part := getattr(options, name), Options):
            settled[name] = _settle(part, None if old is None else getattr(old, name))
    return options.model_copy(update=settled)


def _write_beginning(run_folder: RunFolder, recipe: Recipe, prepared: Prepared, task: Any) -> None:
    """Write the files of a model folder that are known before training, with the weights if it starts from a model."""
    files: dict[str, bytes] = {}
    if recipe.start_from and not run_folder.exists():
        files[checkpoint.WEIGHTS] = checkpoint.weights_to_bytes(named_weights(task))
    for file, content in prepared.files().items():
        if (old := run_folder.folder / file).exists() and old.read_bytes() != content:
            raise Fault(f"{old} does not match the data, which was prepared again; start another run.")
        files[file] = content
    if isinstance(recipe, TextRecipe) and isinstance(prepared, HoldsTexts):
        parameters = parameters_of(task) if isinstance(task, nn.Module) else None
        about = about_data(prepared, parameters, recipe.examples, recipe.task)
        files[checkpoint.ABOUT] = about.to_bytes()
    if (record := plugin_record(recipe)) is not None:
        files[PLUGINS] = record
    # The recipe comes last: where it exists, the run has all its first files.
    files[checkpoint.RECIPE] = _recipe_bytes(recipe)
    checkpoint.update_folder(run_folder.folder, files)


def is_finished(recipe: Recipe, folder: RunFolder) -> bool:
    """Return True if a run of this recipe exists and is finished."""
    if not folder.exists() or (facts := folder.facts()) is None:
        return False
    _same_recipe(recipe, folder)
    if has(task_class(recipe), OwnWeights):
        return facts.finished
    return facts.finished and (facts.step >= recipe.training.steps or _is_out_of_patience(facts, recipe))


def _is_out_of_patience(facts: Facts, recipe: Recipe) -> bool:
    return 0 < recipe.training.patience <= facts.since_best


def device_of(run: Run) -> torch.device:
    """Return the device that a run is computed on."""
    return next(run.task.parameters()).device if isinstance(run.task, nn.Module) else torch.device("cpu")


def parameters_of(task: nn.Module) -> int:
    """Count the weights of a task."""
    return sum(parameter.numel() for parameter in task.parameters())


def describe(run: Run) -> list[str]:
    """Describe the run about to be trained, in a few lines."""
    outline = run.task.outline(run.recipe) if isinstance(run.task, Outlines) else []
    if not isinstance(run.task, nn.Module):
        return outline
    parameters = parameters_of(run.task)
    frozen = sum(parameter.numel() for parameter in run.task.parameters() if not parameter.requires_grad)
    size = f"{run.recipe.family} of {parameters:,} parameters on {device_of(run)}"
    parts = ", ".join(getattr(run.recipe.training, "freeze", []))
    whole = size + (f", {frozen:,} of them frozen" if frozen else "") + (f" ({parts})" if parts else "")
    return [whole, *outline, *_describe_warmup(run.recipe), *_describe_mean(run.recipe)]


def _describe_warmup(recipe: Recipe) -> list[str]:
    """Return a sentence if the run ends before its learning rate has risen, which is seldom intended."""
    training = recipe.training
    if not isinstance(training, TrainingOptions) or training.optimizer.warmup <= training.steps:
        return []
    rising = f"{training.optimizer.warmup:,} steps (training.optimizer.warmup)"
    return [
        f"the learning rate warms up for {rising}, so it stays below its peak in this run of {training.steps:,} steps"
    ]


def _describe_mean(recipe: Recipe) -> list[str]:
    """Return a sentence if the run is too short to save any checkpoint for an average."""
    training = recipe.training
    if (
        not isinstance(training, TrainingOptions)
        or training.final != "average"
        or training.save_every <= training.steps
    ):
        return []
    return [
        f"the run ends before its first checkpoint, at step {training.save_every:,} (training.save_every), so its "
        "last weights are kept instead of an average (training.final)"
    ]
