"""`regard compare`: one recipe, several variants, one table."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.cli.console import console_progress, print_json, remark, say_table

if TYPE_CHECKING:
    from regard.runs.compare.plan import ComparisonPlan, PlannedRun
    from regard.runs.compare.report import Comparison, Failure


def command(
    recipe: Annotated[str, typer.Argument(help="A recipe: a TOML file or a name from `regard recipes`.")],
    vary: Annotated[
        list[str] | None, typer.Option(metavar="NAME=A,B,…", help="An option and its values: model.norm=before,after.")
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(metavar="'NAME: OPTION=VALUE …'", help="A variant that changes several options."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs of each variant.", show_default="3")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change the recipe: training.steps=200.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the comparison.", show_default="runs/compare-NAME")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="What to score with, as in `regard evaluate`.", show_default="bleu, chrf")
    ] = None,
    split: Annotated[
        Literal["test", "valid"] | None, typer.Option(help="What to score.", show_default="test where there is one")
    ] = None,
    by_length: Annotated[
        bool | None, typer.Option("--by-length/--no-by-length", help="Scores by the length of the source too.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the comparison in --out.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the comparison in --out.")] = False,
    minutes: Annotated[float | None, typer.Option(min=0, help="Stop cleanly after so many minutes.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Runs that are trained side by side.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Train variants of a RECIPE with several seeds each, score them all, and say which differ by more than luck."""
    from regard.base.recipe import apply_settings
    from regard.runs.compare.plan import make_plan
    from regard.runs.compare.request import asked_for
    from regard.runs.request import recipe_table

    if resume and overwrite:
        raise Fault("--resume goes on with a comparison and --overwrite replaces it; give one of them.")
    table, name = recipe_table(recipe)
    others = {"seeds": seeds, "metrics": metric, "by_length": by_length}
    plan = make_plan(asked_for(apply_settings(table, settings or []), vary or [], variant or [], others), name)
    folder = out or Path("runs") / (name if name.startswith("compare") else f"compare-{name}")
    _compare(plan, folder, split, Manner(resume, overwrite, jobs, _clock(minutes), as_json))


@dataclass(frozen=True)
class Manner:
    """How a comparison is gone about."""

    resume: bool
    overwrite: bool
    jobs: int
    minutes_left: Callable[[], float | None]  # None when nobody counts them
    as_json: bool


def _clock(minutes: float | None) -> Callable[[], float | None]:
    end = None if minutes is None else time.monotonic() + 60 * minutes
    return lambda: None if end is None else max(0.0, (end - time.monotonic()) / 60)


def _compare(plan: "ComparisonPlan", folder: Path, split: str | None, manner: Manner) -> None:
    """Check everything, prepare the text, train the runs, judge them, and tell."""
    from regard.runs.compare.folder import open_comparison, prepare_text

    planned = plan.runs(folder)
    split = split or ("test" if all(_has_test(run) for run in planned) else "valid")
    _check(plan, planned, split, fresh=manner.overwrite)
    seeds = plan.options.seeds
    remark(f"{len(plan.variants)} variants with {seeds} seed{'s' * (seeds > 1)} each: {len(planned)} runs.")
    with open_comparison(plan, folder, manner.resume, manner.overwrite):
        with console_progress() as progress:
            prepare_text(planned, folder, split, progress)
        failures = _train(planned, manner)
        done = [run for run in planned if _is_finished(run)]
        if len(done) + len(failures) < len(planned):
            remark(f"{len(done)} of {len(planned)} runs are finished; --resume goes on with the others.")
            return
        if done:
            comparison = replace(_judge(plan, done, split, manner.jobs), failures=failures)
            _say(comparison, done, folder, manner.as_json)
    if failures:
        raise Fault(f"{len(failures)} of {len(planned)} runs failed; --resume tries them again.", *map(str, failures))


def _check(plan: "ComparisonPlan", planned: Sequence["PlannedRun"], split: str, fresh: bool) -> None:
    """Refuse what would fail later, before anything is written, removed or trained."""
    from regard.runs import open as runs

    _check_metrics(plan)
    if split == "test" and not all(_has_test(run) for run in planned):
        raise Fault("The recipe names no test data; give --split valid.")
    for run in planned:
        runs.check_possible(run.recipe)
        if not fresh:
            _is_finished(run)  # one that was begun with another recipe is refused
    if any(getattr(run.recipe.training, "batch_tokens", 0) is None for run in planned):
        remark("training.batch_tokens is not set, so each run finds its own; set it to compare like with like.")


def _has_test(run: "PlannedRun") -> bool:
    """Whether a recipe has test data."""
    from regard.runs.evaluate import has_part

    return has_part(run.recipe.data, "test")


def _check_metrics(plan: "ComparisonPlan") -> None:
    from regard.families import with_article
    from regard.runs.validate import check_measured
    from regard.verbs.translate.evaluation import check_metrics

    recipe = plan.variants[0].recipes[0]
    if recipe.task == "translation":
        check_metrics(plan.metrics)
        return
    check_measured(recipe, plan.metrics)
    if plan.options.by_length:
        model = with_article(recipe.family).capitalize()
        raise Fault(f"{model} makes no translations, so there are no scores by their length.")


def _is_finished(run: "PlannedRun") -> bool:
    from regard.runs.checkpoint import RunFolder
    from regard.runs.open import is_finished

    return is_finished(run.recipe, RunFolder(run.folder))


def _train(planned: Sequence["PlannedRun"], manner: Manner) -> "list[Failure]":
    """Train what is not finished yet, and give what failed; a run that fails does not keep the others waiting."""
    left = [run for run in planned if not _is_finished(run)]
    if len(left) < len(planned):
        remark(f"{len(planned) - len(left)} of {len(planned)} runs are finished already.")
    return (_train_side_by_side if manner.jobs > 1 else _train_in_turn)(left, manner)


def _train_in_turn(left: Sequence["PlannedRun"], manner: Manner) -> "list[Failure]":
    from regard.cli.train import console_audience
    from regard.runs.compare.report import Failure
    from regard.runs.planning.allowance import Allowance
    from regard.runs.start import train_recipe

    failures: list[Failure] = []
    began = time.monotonic()
    for number, run in enumerate(left, 1):
        if manner.minutes_left() == 0:
            break
        each = (time.monotonic() - began) / 60 / max(number - 1, 1)
        minutes_to_come = round(each * (len(left) - number + 1))
        duration = f"about {minutes_to_come} minutes" if minutes_to_come > 1 else "a minute or less"
        still = f" ({duration} left)" if number > 1 else ""
        remark(f"\nRun {number} of {len(left)}: {run.title}{still}")
        try:
            minutes = manner.minutes_left()
            allowance = None if minutes is None else Allowance(minutes)
            interrupted = train_recipe(run.recipe, run.folder, console_audience(), resume=True, allowance=allowance)
        except Fault as fault:
            failures.append(Failure(run, fault.sentences))
            remark(f"{run.title} failed: {fault}")
            continue
        if interrupted:
            raise _interruption(len(left) - number + 1)
    return failures


def _train_side_by_side(left: Sequence["PlannedRun"], manner: Manner) -> "list[Failure]":
    from regard.runs.compare.report import Failure
    from regard.runs.compare.side_by_side import train_side_by_side
    from regard.training.listeners import interruptions

    failures: list[Failure] = []
    with interruptions() as interrupted, console_progress() as progress:
        ended = train_side_by_side(left, manner.jobs, manner.minutes_left, lambda: interrupted.asked)
        for number, (run, complaint) in enumerate(ended, 1):
            if not interrupted.asked:
                progress(f"training, {manner.jobs} runs at once", number, len(left))
            if complaint:
                failures.append(Failure(run, complaint))
                remark(f"{run.title} failed: {' '.join(complaint)}")
    if interrupted.asked:
        raise _interruption(sum(not _is_finished(run) for run in left))
    return failures


def _interruption(left: int) -> typer.Exit:
    remark(f"{left} runs are not finished; --resume goes on with them.")
    return typer.Exit(130)


def _judge(plan: "ComparisonPlan", done: Sequence["PlannedRun"], split: str, jobs: int) -> "Comparison":
    """Score the finished runs, and put together what they show."""
    from regard.runs.compare.lengths import buckets
    from regard.runs.compare.outcomes import judge
    from regard.runs.compare.report import Comparison, find

    judged = []
    with console_progress() as progress:
        for number, run in enumerate(done, 1):
            judged.append(judge(run, split, plan.metrics, progress))
            progress("scoring the runs", number, len(done))
    found = buckets(judged[0].sources) if plan.options.by_length else []
    items = judged[0].scores[0].n
    return Comparison(plan.name, plan.differ_in, split, items, jobs, found, find(plan, judged, found))


def _say(comparison: "Comparison", done: Sequence["PlannedRun"], folder: Path, as_json: bool) -> None:
    """Print the table, and leave it in the folder as JSON, as a page and as pictures."""
    from regard.runs.compare import page
    from regard.runs.compare.keep import keep, keep_losses

    if missing := keep(comparison, folder) | keep_losses(done, folder, comparison.title):
        remark(f"No font here can draw {' '.join(sorted(missing))}.")
    if as_json:
        print_json(comparison.as_dict())
        return
    say_table(*page.table(comparison))
    for place, measure in enumerate(comparison.variants[0].measures if comparison.buckets else []):
        print(f"\n{measure.metric} by the length of the source")
        say_table(*page.length_table(comparison, place))
    for note in page.notes(comparison):
        remark(note)
    pictures = f"the pictures in {folder / 'comparison.png'} and {folder / 'losses.png'}"
    remark(f"The table is in {folder / 'comparison.md'}, {pictures}.")
