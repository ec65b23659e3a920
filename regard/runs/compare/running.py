"""Run a comparison: check it, train its runs, score them, and store the findings."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import write_file
from regard.base.progress import Remark
from regard.families import with_article
from regard.hardware.devices import pick_device
from regard.hardware.sharing import advice_on_sharing
from regard.runs import open as runs
from regard.runs.compare.comparison_folder import open_comparison, prepare_text
from regard.runs.compare.findings import Failure, SeedScores, find
from regard.runs.compare.formats import FORMATS
from regard.runs.compare.lengths import buckets
from regard.runs.compare.outcomes import judge
from regard.runs.compare.plan import ComparisonPlan, PlannedRun
from regard.runs.compare.report import Comparison
from regard.runs.compare.side_by_side import train_side_by_side
from regard.runs.evaluate import has_part
from regard.runs.planning.allowance import Allowance, check_minutes
from regard.runs.start import Audience, train_recipe
from regard.runs.validate import check_measured
from regard.training.checkpoint import RunFolder
from regard.training.listeners import interruptions
from regard.verbs.translate.evaluation import check_metrics
from regard.viewing.comparison import draw_by_length, draw_comparison
from regard.viewing.curves import draw_curves


def keep(comparison: Comparison, folder: Path) -> set[str]:
    """Write the comparison into the folder; return the characters that no installed font can draw."""
    for suffix, text in FORMATS.items():
        write_file(folder / f"comparison{suffix}", text(comparison).encode())
    names = [variant.variant for variant in comparison.variants]
    metrics = {place: _label(measure) for place, measure in enumerate(comparison.variants[0].measures)}
    values = {
        label: [variant.measures[place].values for variant in comparison.variants] for place, label in metrics.items()
    }
    missing = draw_comparison(names, values, folder / "comparison.png", comparison.title)
    if comparison.buckets:
        lines = {
            label: [variant.measures[place].by_length for variant in comparison.variants]
            for place, label in metrics.items()
        }
        ticks = [(bucket.label, len(bucket.sentences)) for bucket in comparison.buckets]
        missing |= draw_by_length(ticks, names, lines, folder / "by-length.png", comparison.title)
    return missing


def keep_losses(runs: Sequence[PlannedRun], folder: Path, title: str) -> set[str]:
    """Draw the training loss of each variant's first seed in one picture; return characters that no font can draw."""
    first = {run.variant: run for run in reversed(runs)}
    curves: dict[str, list[tuple[int, float]]] = {}
    for run in reversed(first.values()):
        if (facts := RunFolder(run.folder).facts()) is not None and facts.losses:
            curves[f"training loss, {run.title}"] = list(facts.losses)
    return draw_curves(curves, folder / "losses.png", title) if curves else set()


def _label(measure: SeedScores) -> str:
    return f"{measure.metric} (lower is better)" if measure.better == "lower" else measure.metric


@dataclass(frozen=True)
class Manner:
    """Options for running a comparison."""

    split: str | None = None  # test by default, if there is test data
    resume: bool = False
    overwrite: bool = False
    jobs: int = 1
    minutes: float | None = None

    def check(self) -> None:
        """Refuse contradictory options, and minutes that are no length of time."""
        check_minutes(self.minutes)
        if self.resume and self.overwrite:
            raise Fault("--resume continues a comparison and --overwrite replaces it; give one of them.")


@dataclass(frozen=True)
class ComparedRuns:
    """The state of a comparison; it has a result once no run is left to train and at least one was trained."""

    planned: int
    finished: int
    failures: list[Failure] = field(default_factory=list)
    interrupted: bool = False
    comparison: Comparison | None = None

    @property
    def left(self) -> int:
        """Runs that are still to be trained."""
        return self.planned - self.finished - len(self.failures)

    def progress(self) -> str:
        """Return a sentence that says how many runs are finished."""
        return f"{self.finished} of {self.planned} runs are finished; --resume continues with the others."

    def failure(self) -> Fault:
        """Return a fault that says which runs failed, and why."""
        failed = f"{len(self.failures)} of {self.planned} runs failed; --resume tries them again."
        return Fault(failed, *map(str, self.failures))


def folder_of(name: str, out: Path | None) -> Path:
    """Return the folder of a comparison: `out`, or one named after its recipe."""
    return out or Path("runs") / (name if name.startswith("compare") else f"compare-{name}")


def run_comparison(plan: ComparisonPlan, folder: Path, manner: Manner, audience: Audience) -> ComparedRuns:
    """Check everything, prepare the text, train the runs that are not finished, and judge them."""
    manner.check()
    planned, clock = plan.runs(folder), _clock(manner.minutes)
    split = manner.split or ("test" if all(_has_test(run) for run in planned) else "valid")
    _check(plan, planned, split, audience.remark, fresh=manner.overwrite)
    seeds = quantity(plan.options.seeds, "seed")
    audience.remark(f"{len(plan.variants)} variants with {seeds} each: {len(planned)} runs.")
    with open_comparison(plan, folder, manner.resume, manner.overwrite):
        with audience.progress() as progress:
            prepare_text(planned, folder, split, progress)
        failures, interrupted = _train(planned, manner.jobs, clock, audience)
        done = [run for run in planned if _is_finished(run)]
        state = ComparedRuns(len(planned), len(done), failures, interrupted)
        if interrupted or state.left or not done:
            return state
        comparison = replace(_judge(plan, done, split, manner.jobs, audience), failures=failures)
        if missing := keep(comparison, folder) | keep_losses(done, folder, comparison.title):
            audience.remark(f"No font here can draw {' '.join(sorted(missing))}.")
        return replace(state, comparison=comparison)


def _clock(minutes: float | None) -> Callable[[], float | None]:
    """Return a function that gives the minutes left, or None if there is no limit."""
    end = None if minutes is None else time.monotonic() + 60 * minutes
    return lambda: None if end is None else max(0.0, (end - time.monotonic()) / 60)


def _check(plan: ComparisonPlan, planned: Sequence[PlannedRun], split: str, remark: Remark, fresh: bool) -> None:
    """Refuse anything that would fail later, before writing, removing or training anything."""
    _check_metrics(plan)
    if split == "test" and not all(_has_test(run) for run in planned):
        raise Fault("The recipe names no test data; give --split valid.")
    recipes = [run.recipe for run in planned if run.recipe.task != "translation"]  # which holds out what it lacks
    if unscored := next((recipe.family for recipe in recipes if not has_part(recipe.data, split)), None):
        raise Fault(
            f"{with_article(unscored).capitalize()} has no {split} data for a comparison to score; name "
            f"some in data.{split}, or train the variants one by one and score each with `regard evaluate`."
        )
    for run in planned:
        runs.check_possible(run.recipe)
        if not fresh:
            _is_finished(run)  # refuses a run that was begun with another recipe
    if any(getattr(run.recipe.training, "batch_tokens", 0) is None for run in planned):
        remark("training.batch_tokens is not set, so each run chooses its own; set it for a fair comparison.")


def _has_test(run: PlannedRun) -> bool:
    """Return True if the recipe has test data."""
    return has_part(run.recipe.data, "test")


def _check_metrics(plan: ComparisonPlan) -> None:
    recipe = plan.variants[0].recipes[0]
    if recipe.task == "translation":
        check_metrics(plan.metrics)
        return
    check_measured(recipe, plan.metrics)
    if plan.options.by_length:
        model = with_article(recipe.family).capitalize()
        raise Fault(f"{model} does not translate, so it has no scores by source length.")


def _is_finished(run: PlannedRun) -> bool:
    return runs.is_finished(run.recipe, RunFolder(run.folder))


def _train(
    planned: Sequence[PlannedRun], jobs: int, minutes_left: Callable[[], float | None], audience: Audience
) -> tuple[list[Failure], bool]:
    """Train the runs that are not finished; return the failures and whether someone interrupted the training.

    A run that fails does not stop the others.
    """
    left = [run for run in planned if not _is_finished(run)]
    if len(left) < len(planned):
        audience.remark(f"{len(planned) - len(left)} of {len(planned)} runs are finished already.")
    if jobs > 1:
        _remark_on_sharing(left, audience.remark)
        return _train_side_by_side(left, jobs, minutes_left, audience)
    return _train_in_turn(left, minutes_left, audience)


def _remark_on_sharing(left: Sequence[PlannedRun], remark: Remark) -> None:
    """Say how several runs on a GPU could share it."""
    devices = {pick_device(getattr(run.recipe.training, "device", "cpu")).type for run in left}
    if "cuda" in devices and (advice := advice_on_sharing()):
        remark(f"Side by side, {advice}.")


def _train_in_turn(
    left: Sequence[PlannedRun], minutes_left: Callable[[], float | None], audience: Audience
) -> tuple[list[Failure], bool]:
    failures: list[Failure] = []
    began = time.monotonic()
    for number, run in enumerate(left, 1):
        minutes = minutes_left()
        if minutes == 0:
            break
        minutes_per_run = (time.monotonic() - began) / 60 / max(number - 1, 1)
        minutes_to_come = round(minutes_per_run * (len(left) - number + 1))
        duration = f"about {minutes_to_come} minutes" if minutes_to_come > 1 else "a minute or less"
        remaining = f" ({duration} left)" if number > 1 else ""
        audience.remark(f"\nRun {number} of {len(left)}: {run.title}{remaining}")
        allowance = None if minutes is None else Allowance(minutes)
        try:
            interrupted = train_recipe(run.recipe, run.folder, audience, resume=True, allowance=allowance)
        except Fault as fault:
            failures.append(Failure(run, fault.sentences))
            audience.remark(f"{run.title} failed: {fault}")
            continue
        if interrupted:
            return failures, True
    return failures, False


def _train_side_by_side(
    left: Sequence[PlannedRun], jobs: int, minutes_left: Callable[[], float | None], audience: Audience
) -> tuple[list[Failure], bool]:
    failures: list[Failure] = []
    with interruptions() as interrupted, audience.progress() as progress:
        results = train_side_by_side(left, jobs, minutes_left, lambda: interrupted.asked)
        for number, (run, complaint) in enumerate(results, 1):
            if not interrupted.asked:
                progress(f"training, {jobs} runs at once", number, len(left))
            if complaint:
                failures.append(Failure(run, complaint))
                audience.remark(f"{run.title} failed: {' '.join(complaint)}")
    return failures, interrupted.asked


def _judge(plan: ComparisonPlan, done: Sequence[PlannedRun], split: str, jobs: int, audience: Audience) -> Comparison:
    """Score the finished runs and collect the findings."""
    judged = []
    with audience.progress() as progress:
        for number, run in enumerate(done, 1):
            judged.append(judge(run, split, plan.metrics, progress))
            progress("scoring the runs", number, len(done))
    length_buckets = buckets(judged[0].sources) if plan.options.by_length else []
    items = judged[0].scores[0].n
    return Comparison(plan.name, plan.differ_in, split, items, jobs, length_buckets, find(plan, judged, length_buckets))
