"""Start a run from a recipe or text files, or resume one."""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.base.extras import how_to_install, is_installed
from regard.base.faults import Fault
from regard.base.progress import Progress, Remark, ignore_remark, silent
from regard.base.recipe import Recipe, apply_settings
from regard.console import console_progress, remark
from regard.hardware.threads import same_threads, so_many_threads
from regard.runs import open as runs
from regard.runs.dry_run import dry_run
from regard.runs.from_text.sizes import TextSizes
from regard.runs.parents import resolve_in
from regard.runs.planning.allowance import Allowance
from regard.runs.planning.planner import Planner, why_unplanned
from regard.runs.ranks import Job, train_on_processes
from regard.runs.request import RunPlan, TrainingRequest, plan_of
from regard.runs.together import check_same, facts_of, open_together
from regard.runs.train import train as train_run
from regard.training.checkpoint import RunFolder, read_recipe
from regard.training.events import Listener
from regard.training.listeners import TensorBoard, deadline, interruptions, minutes_are_over, progress_listener
from regard.training.options import TrainingOptions, UpdatingOptions
from regard.training.pace import Pace
from regard.training.pieces import check_shares, refuse_pieces
from regard.training.process_group import Address, LostRank, ProcessGroup, open_store
from regard.training.pulse import SILENCE_SECONDS, Pulse
from regard.training.ranks import ALONE, Ranks


@contextmanager
def this_rank(remark: Remark) -> Iterator[Ranks]:
    """Yield the ranks that this process belongs to by its environment, or itself alone.

    When a rank falls silent, the first of the others reports it, and all of them end.
    """
    address = Address.in_environment()
    if address is None:
        yield ALONE
        return

    def end(sentence: str) -> None:
        remark(f"{sentence}; --resume continues from the last checkpoint.")
        sys.stderr.flush()
        os._exit(1)  # the main thread may wait for the lost rank forever

    group = ProcessGroup(address, open_store(address))
    pulse = Pulse(group, on_silence=end)
    try:
        yield group
    except LostRank:
        time.sleep(2 * SILENCE_SECONDS)  # meanwhile the pulse finds out which rank is lost and ends this process
        raise Fault("Another rank is lost; --resume continues from the last checkpoint.") from None
    pulse.stop()
    group.close()


GRACE = 0.05  # share of its time that a planned run may be late before it is stopped


@dataclass(frozen=True)
class Audience:
    """Receivers of a run's progress: remarks, progress of the preparation, and training events."""

    remark: Remark
    progress: Callable[[], AbstractContextManager[Progress]]
    listener: Callable[[], AbstractContextManager[Listener]]
    is_silent: bool = False


def silent_audience() -> Audience:
    """Return an audience that prints nothing."""
    return Audience(ignore_remark, lambda: nullcontext(silent), lambda: nullcontext(lambda event: None), is_silent=True)


def console_audience() -> Audience:
    """Return the audience at the terminal: remarks, progress and events on standard error."""
    return Audience(remark, console_progress, progress_listener)


@dataclass(frozen=True)
class StartedRun:
    """Result of a request: the run's folder, whether it was already finished, and whether it was interrupted.

    Among several ranks, only the one that leads reports it.
    """

    folder: Path
    was_finished: bool = False
    interrupted: bool = False
    leads: bool = True


def start_training(request: TrainingRequest, audience: Audience) -> StartedRun:
    """Train as requested; refuse every contradiction in the request first."""
    now = time.monotonic()
    began = now if request.began is None else request.began
    plan = plan_of(request)
    folder = request.out or Path("runs") / plan.name
    if request.processes is not None or request.dry_run:
        return _train_on_processes(request, plan, folder, began, audience)
    allowance = None if request.minutes is None else Allowance(request.minutes, began, loading=now - began)
    with this_rank(audience.remark) as ranks:
        return train_table(
            plan.table,
            request.settings,
            folder,
            audience if ranks.leads else silent_audience(),
            resume=request.resume,
            overwrite=request.overwrite,
            allowance=allowance,
            choices=plan.choices,
            ranks=ranks,
        )


def _train_on_processes(
    request: TrainingRequest, plan: RunPlan, folder: Path, began: float, audience: Audience
) -> StartedRun:
    """Start processes and train on them, after refusing all that can be refused without them; a dry run ends there."""
    processes, run_folder = request.processes or 1, RunFolder(folder)
    planned = runs.planned_settings(run_folder) if request.resume else []
    table = apply_settings(plan.table, [*planned, *request.settings])
    if processes > 1:
        _refuse_counting(resolve_in(folder, table, request.resume))
    pieces = _open_pieces(table, folder, request.resume, processes)
    recipe = resolve_in(folder, apply_settings(table, pieces), request.resume)
    _check_pieces(recipe, processes)
    if request.resume and runs.is_finished(recipe, run_folder):
        return _tell_finished(folder, audience)
    runs.check_possible(recipe, None if request.overwrite else folder)
    run_folder.refuse_others()
    if not (request.resume or request.overwrite):
        run_folder.refuse_run()
    if request.dry_run:
        is_begun = request.resume and run_folder.exists()
        dry_run(recipe, folder if is_begun else None, processes, audience.remark)
        return StartedRun(folder, was_finished=True)
    job = Job(
        plan.table,
        [*request.settings, *pieces],
        str(folder),
        request.resume,
        request.overwrite,
        request.minutes,
        began,
        plan.choices,
        audience.is_silent,
    )
    outcome = train_on_processes(job, processes, request.restarts, audience.remark)
    return StartedRun(folder, outcome.was_finished, outcome.interrupted)


def _refuse_counting(recipe: Recipe) -> None:
    if not isinstance(recipe.training, TrainingOptions):
        how = "by updates of its own" if isinstance(recipe.training, UpdatingOptions) else "by counting"
        raise Fault(f"A model of the family {recipe.family} learns {how} on one process; omit --processes.")


def _open_pieces(table: dict[str, Any], folder: Path, resume: bool, processes: int) -> list[str]:
    """Return the setting of `pieces` if it is open: as the run began, or one per process."""
    training = table.get("training")
    if isinstance(training, dict) and "pieces" in training:
        return []
    is_begun = resume and RunFolder(folder).exists()
    pieces = read_recipe(folder).get("training", {}).get("pieces", 1) if is_begun else processes
    return [f"training.pieces={pieces}"] if pieces > 1 else []


def _pieces_of(recipe: Recipe) -> int:
    """Return how many pieces batches are cut into; one where nothing is learnt by gradient."""
    return recipe.training.pieces if isinstance(recipe.training, TrainingOptions) else 1


def _check_pieces(recipe: Recipe, processes: int) -> None:
    """Refuse pieces that the processes cannot share evenly, or more pieces than a batch has rows."""
    pieces = _pieces_of(recipe)
    check_shares(pieces, processes)
    if pieces > (most := getattr(recipe.training, "batch", pieces)):
        refuse_pieces(pieces, f"training.batch is {most}")


def _tell_finished(folder: Path, audience: Audience, leads: bool = True) -> StartedRun:
    audience.remark(f"{folder} is finished; there is nothing to resume.")
    return StartedRun(folder, was_finished=True, leads=leads)


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
    ranks: Ranks = ALONE,
) -> StartedRun:
    """Check the recipe, say what was chosen for it, and train it.

    A new run that learns by steps is planned to fit the allowance of time; any other run is only stopped by it.
    """
    if ranks.size == 1 and not (resume or overwrite):
        RunFolder(folder).refuse_run()  # of several ranks, a faster one may already have made it
    planned = runs.planned_settings(RunFolder(folder)) if resume else []
    whole = apply_settings(table, [*planned, *settings])
    recipe = resolve_in(folder, apply_settings(whole, _open_pieces(whole, folder, resume, ranks.size)), resume)
    _check_pieces(recipe, ranks.size)
    planner = None
    if allowance is not None:
        options_set = frozenset(setting.partition("=")[0].strip() for setting in settings)
        if why := why_unplanned(recipe, options_set, goes_on=resume and bool(RunFolder(folder).steps())):
            audience.remark(f"{why}: the run stops when {minutes_are_over(allowance.minutes)}.")
        else:
            is_free = bool(choices) and recipe.start_from is None and ranks.size == 1
            sizes = TextSizes(allowance, options_set) if is_free else None
            planner = Planner(allowance, options_set, audience.remark, sizes)
    for choice in choices[:1] if planner and planner.sizes else choices:  # the plan describes the rest itself
        audience.remark(choice)
    check_same(ranks, facts_of(recipe))
    if ranks.gather(resume and runs.is_finished(recipe, RunFolder(folder)))[0]:
        return _tell_finished(folder, audience, ranks.leads)
    if resume and not RunFolder(folder).exists():
        audience.remark(f"There is no run in {folder} to resume, so it begins.")
    interrupted = train_recipe(
        recipe, folder, audience, resume=resume, overwrite=overwrite, allowance=allowance, planner=planner, ranks=ranks
    )
    return StartedRun(folder, interrupted=interrupted, leads=ranks.leads)


def train_recipe(
    recipe: Recipe,
    folder: Path,
    audience: Audience,
    *,
    resume: bool,
    overwrite: bool = False,
    allowance: Allowance | None = None,
    planner: Planner | None = None,
    ranks: Ranks = ALONE,
) -> bool:
    """Open the run, train it to its end or to a stop, and return True if someone interrupted it.

    The run stops when the allowance is used up, planned or not.
    """
    runs.check_possible(recipe, None if overwrite else folder)
    if overwrite and folder.exists() and ranks.leads:
        with runs.locked_run(RunFolder(folder)):  # never remove a run that another process is training
            RunFolder(folder).remove()
    sizes = planner.sizes if planner else None
    with runs.locked_run(RunFolder(folder)) if ranks.leads else nullcontext():
        with quick_products(), audience.progress() as progress:
            run = open_together(
                ranks,
                folder,
                lambda writes: runs.open_run(
                    recipe, folder, resume or not writes, progress, audience.remark, sizes, writes
                ),
            )
        for line in dict.fromkeys([*run.prepared.report, *runs.describe(run)]):  # a model of a graph describes it too
            audience.remark(line)
        grace = GRACE * 60 * allowance.minutes if allowance and planner else 0.0
        stop_in_time = [deadline(allowance.minutes, allowance.left + grace)] if allowance else []
        with (
            _threads(run, audience.remark),
            quick_products(),
            interruptions() as interrupted,
            audience.listener() as shown,
        ):
            curves = _curves(run, audience.remark) if ranks.leads else []
            keeping: list[Listener] = [*curves, Pace(run.folder.training), *stop_in_time] if ranks.leads else []
            train_run(run, [shown, *keeping, interrupted], ranks, planner)
    return interrupted.asked


def _curves(run: runs.Run, remark: Remark) -> list[Listener]:
    """Return a writer of TensorBoard curves; without the package, none, and a remark says so."""
    if is_installed("tensorboard"):
        return [TensorBoard(run.folder.training / "tensorboard")]
    remark(f"no TensorBoard curves, because it is not installed: {how_to_install('tensorboard')}")
    return []


def _threads(run: runs.Run, remark: Remark) -> AbstractContextManager[None]:
    """Use one thread if batches are cut into pieces, so that sums are the same for any number of processes."""
    device, before = runs.device_of(run), facts.threads if (facts := run.folder.facts()) else None
    in_pieces = device.type == "cpu" and _pieces_of(run.recipe) > 1
    return so_many_threads(1) if in_pieces else same_threads(before, device, remark)


@contextmanager
def quick_products() -> Iterator[None]:
    """Use torch's plain matrix products inside this block, on ARM without SVE and with several threads.

    On Neoverse-N1, where both were measured, a step on two threads is then 3 to 7% faster than with oneDNN; on one
    thread it would be 5 to 12% slower (docs/speed.md).
    """
    # Typed as the property behind it, although one assigns a bool.
    backend: Any = torch.backends.mkldnn
    before = backend.enabled
    plain = platform.machine() == "aarch64" and not torch.backends.cpu.get_cpu_capability().startswith("SVE")
    if plain and torch.get_num_threads() > 1:
        backend.enabled = False
    try:
        yield
    finally:
        backend.enabled = before
