"""Starting a run from what people have, a recipe or text files, and going on with one that was begun."""

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.base.recipe import Recipe, apply_settings, check, differences, parse, read_table
from regard.data.corpora.options import Corpus, PairData
from regard.families import check_settings
from regard.hardware.threads import same_threads, so_many_threads
from regard.runs import open as runs
from regard.runs.checkpoint import RunFolder, read_recipe
from regard.runs.from_text.defaults import TextFiles, recipe_for
from regard.runs.from_text.fine_tuning import recipe_from
from regard.runs.from_text.planning import Allowance, Planner
from regard.runs.parents import resolve_in
from regard.runs.recipes import recipe_text
from regard.runs.train import train as train_run
from regard.training.events import Listener
from regard.training.listeners import TensorBoard, deadline, interruptions
from regard.training.pace import Pace


@dataclass(frozen=True)
class Audience:
    """Who is told how a run goes: in sentences, while its data is prepared, and of every event of the training."""

    remark: Remark
    progress: Callable[[], AbstractContextManager[Progress]]
    listener: Callable[[], AbstractContextManager[Listener]]


@dataclass(frozen=True)
class TrainingRequest:
    """What may be asked of a training: on the command line, and in Python.

    A recipe is a table, a TOML file or the name of one that comes with regard; in its place may stand text files.
    """

    recipe: str | Mapping[str, Any] | None = None
    settings: Sequence[str] = ()
    source: Path | None = None
    target: Path | None = None
    pairs: Path | None = None
    valid_source: Path | None = None
    valid_target: Path | None = None
    valid_pairs: Path | None = None
    languages: str | None = None
    start: Path | None = None
    old_share: float | None = None
    out: Path | None = None
    resume: bool = False
    minutes: float | None = None
    overwrite: bool = False


@dataclass(frozen=True)
class StartedRun:
    """What came of a request: where the run lies, whether there was anything to do, and whether someone stopped it."""

    folder: Path
    was_finished: bool = False
    interrupted: bool = False


@dataclass(frozen=True)
class _Plan:
    """A recipe as a table, the name of its run, and what was chosen for it, in sentences."""

    table: dict[str, Any]
    name: str = ""
    choices: Sequence[str] = field(default_factory=list)


def start_training(asked: TrainingRequest, audience: Audience) -> StartedRun:
    """Train what is asked for, after every contradiction in it is refused."""
    began = time.monotonic()
    text = _files("", asked.source, asked.target, asked.pairs)
    valid = _files("valid-", asked.valid_source, asked.valid_target, asked.valid_pairs)
    _check(asked, text, valid)
    if text:
        plan = _plan_files(asked, TextFiles(text, valid, asked.languages))
    elif asked.recipe is not None:
        plan = _plan_recipe(asked.recipe)
    else:
        plan = _Plan(_recipe_of_run(asked.out))
    if asked.start is not None:
        plan.table["start_from"] = str(asked.start.resolve())
    allowance = None if asked.minutes is None else Allowance(asked.minutes, began)
    return train_table(
        plan.table,
        asked.settings,
        asked.out or Path("runs") / plan.name,
        audience,
        resume=asked.resume,
        overwrite=asked.overwrite,
        allowance=allowance,
        choices=plan.choices,
    )


def _check(asked: TrainingRequest, text: tuple[Path, ...], valid: tuple[Path, ...]) -> None:
    """Refuse what contradicts itself, and paths that cannot be written into a recipe."""
    if asked.recipe is not None and text:
        raise Fault("Give a recipe or text files, not both.")
    if asked.resume and asked.overwrite:
        raise Fault("--resume goes on with a run and --overwrite replaces it; give one of them.")
    if not text and not asked.resume and asked.recipe is None:
        raise Fault("Give a recipe (`regard recipes` lists some), --source and --target, or --pairs.")
    if not text and (valid or asked.languages):
        raise Fault("Files to validate with and --languages go with text files; a recipe has its own.")
    if asked.old_share is not None and not (text and asked.start):
        raise Fault(
            "--old-share goes with text files and --from; a recipe lists old text beside the new in data.train."
        )
    for path in (*text, *valid, *filter(None, (asked.start, asked.out))):
        try:
            str(path.resolve()).encode()
        except UnicodeEncodeError:
            raise Fault(f"The name {str(path)!a} is no UTF-8, so a recipe cannot hold it; give it another.") from None


def _files(prefix: str, source: Path | None, target: Path | None, pairs: Path | None) -> tuple[Path, ...]:
    """The files of a split: a source and a target, one file of pairs, or none."""
    two = f"--{prefix}source and --{prefix}target"
    if pairs is not None:
        if source or target:
            raise Fault(f"Give {two}, or --{prefix}pairs, not both.")
        return (pairs,)
    if source is None and target is None:
        return ()
    if source is None or target is None:
        raise Fault(f"{two} belong together; give both.")
    return source, target


def recipe_table(name: str) -> tuple[dict[str, Any], str]:
    """The recipe at a path, or the one of that name that comes with regard."""
    path = Path(name)
    if path.is_file() or path.suffix == ".toml":
        return read_table(path), path.stem
    return parse(recipe_text(name), name), name


def _plan_recipe(recipe: str | Mapping[str, Any]) -> _Plan:
    """A recipe that can be trained by itself."""
    if isinstance(recipe, str):
        table, name = recipe_table(recipe)
    else:
        table, name = dict(recipe), str(recipe.get("family", "model"))
    if "compare" in table:
        raise Fault(f"{name} is a comparison of several recipes; run it with `regard compare {name}`.")
    return _Plan(table, name)


def _recipe_of_run(folder: Path | None) -> dict[str, Any]:
    """The recipe of the run that is to go on."""
    if folder is None:
        raise Fault("Say with --out which run is to go on, or give what to train: a recipe or text files.")
    if not RunFolder(folder).exists():
        raise Fault(f"{folder} holds no recipe to go on with; give one, or text files, as when the run was begun.")
    return read_recipe(folder)


def _plan_files(asked: TrainingRequest, files: TextFiles) -> _Plan:
    """A recipe made for the files, and what was chosen; a run that goes on has one already."""
    files.check()
    name = "-".join(files.pair_of_languages())
    folder = asked.out or Path("runs") / name
    if asked.resume and RunFolder(folder).exists():
        return _Plan(_same_files(files, folder), name)
    start = asked.start
    family = read_recipe(start).get("family") if start else None
    known = {"data": files.corpora()} | ({"family": family} if family else {})
    check_settings(apply_settings(known, asked.settings))  # before all the text is read
    if start:
        table, choices = recipe_from(start, files, asked.old_share or 0.0, torch.cuda.is_available())
    else:
        table, choices = recipe_for(files, torch.cuda.is_available())
    return _Plan(table, name, choices)


def _same_files(files: TextFiles, folder: Path) -> dict[str, Any]:
    """The recipe of a run that goes on, which must have been begun with these files."""
    table = read_recipe(folder)
    given = {split: [check(Corpus, corpus)] for split, corpus in files.corpora().items()}
    old = check(PairData, table["data"])
    # Old text that was mixed in stands behind the new.
    given["train"] = [given["train"][0].model_copy(update={"weight": old.train[0].weight}), *old.train[1:]]
    if changed := differences(old, old.model_copy(update=given)):
        raise Fault(
            f"{folder} cannot be resumed with other data:",
            *(f"data.{change}" for change in changed),
            f"To go on from its weights with these: regard train … --from {folder} --out {folder}-2",
        )
    return table


def train_table(
    table: dict[str, Any],
    settings: Sequence[str],
    folder: Path,
    audience: Audience,
    *,
    resume: bool = False,
    overwrite: bool = False,
    allowance: Allowance | None = None,
    choices: Sequence[str] = (),
) -> StartedRun:
    """Check the recipe, say what was chosen for it, and train it.

    An allowance of time is what a new run of a translator is planned for; every other run is only stopped by it.
    """
    planned = runs.planned_settings(RunFolder(folder)) if resume else []
    recipe = resolve_in(folder, apply_settings(table, [*planned, *settings]), resume)
    planner = None
    if allowance is not None and not resume and recipe.task == "translation":
        given = frozenset(setting.partition("=")[0].strip() for setting in settings)
        free = bool(choices) and recipe.start_from is None
        planner = Planner(allowance, given, is_free=free, remark=audience.remark)
    for choice in choices[:1] if planner else choices:  # a planner has sentences of its own for the rest
        audience.remark(choice)
    if resume and runs.is_finished(recipe, RunFolder(folder)):
        audience.remark(f"{folder} is finished; there is nothing to resume.")
        return StartedRun(folder, was_finished=True)
    interrupted = train_recipe(
        recipe, folder, audience, resume=resume, overwrite=overwrite, allowance=allowance, planner=planner
    )
    return StartedRun(folder, interrupted=interrupted)


def train_recipe(
    recipe: Recipe,
    folder: Path,
    audience: Audience,
    *,
    resume: bool,
    overwrite: bool = False,
    allowance: Allowance | None = None,
    planner: Planner | None = None,
) -> bool:
    """Open the run, train it to its end or to a stop, and give whether someone interrupted it.

    When the allowance is used up the run stops, planned or not.
    """
    runs.check_possible(recipe, None if overwrite else folder)
    if overwrite and folder.exists():
        with runs.locked_run(RunFolder(folder)):  # nobody's run is removed under their hands
            RunFolder(folder).remove()
    with runs.locked_run(RunFolder(folder)):
        with quick_products(), audience.progress() as progress:
            run = runs.open_run(recipe, folder, resume, progress, audience.remark, planner)
        for line in [*run.prepared.report, *runs.describe(run)]:
            audience.remark(line)
        reserve = planner.reserve if planner else 0.0
        stop_in_time = [deadline(allowance.minutes, allowance.left - reserve)] if allowance else []
        with (
            _threads(run, audience.remark),
            quick_products(),
            interruptions() as interrupted,
            audience.listener() as shown,
        ):
            tensorboard, pace = TensorBoard(run.folder.training / "tensorboard"), Pace(run.folder.training)
            train_run(run, [shown, tensorboard, pace, interrupted, *stop_in_time])
    return interrupted.asked


def _threads(run: runs.Run, remark: Remark) -> AbstractContextManager[None]:
    """One thread where batches are cut into pieces, so that the sums are the same on any number of processes."""
    device, before = runs.device_of(run), facts.threads if (facts := run.folder.facts()) else None
    in_pieces = device.type == "cpu" and getattr(run.recipe.training, "pieces", 1) > 1
    return so_many_threads(1) if in_pieces else same_threads(before, device, remark)


@contextmanager
def quick_products() -> Iterator[None]:
    """Inside this block matrix products on ARM without SVE are torch's plain ones if they have several threads.

    Where both were measured, on Neoverse-N1, a step on two threads is then 3 to 7% faster than with those of oneDNN; on
    one thread it would be 5 to 12% slower (docs/speed.md).
    """
    # Typed as the property that stands behind it, though one sets it to a bool.
    backend: Any = torch.backends.mkldnn
    before = backend.enabled
    plain = platform.machine() == "aarch64" and not torch.backends.cpu.get_cpu_capability().startswith("SVE")
    if plain and torch.get_num_threads() > 1:
        backend.enabled = False
    try:
        yield
    finally:
        backend.enabled = before
