"""`regard compare`: train several variants of a recipe and compare their scores in one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import refuse_missing_folder
from regard.console import print_json, refuse_existing, refuse_folder, remark, remark_written, say_table

if TYPE_CHECKING:
    from regard.runs.compare.report import Comparison
    from regard.runs.compare.running import ComparedRuns


def command(
    recipe: Annotated[str, typer.Argument(help="A recipe: a TOML file, or a name from `regard recipes`.")],
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=A,B,…", help="An option and the values to compare: model.norm=before,after."),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(metavar="'NAME: OPTION=VALUE …'", help="A named variant that changes several options."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs per variant, each with its own seed.", show_default="3")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change the recipe: training.steps=200.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the comparison.", show_default="runs/compare-NAME")
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option("-o", "--write", metavar="FILE", help="Also write the table to a .tex, .csv, .md or .json file."),
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Metrics, as in `regard evaluate`; repeatable.", show_default="bleu, chrf")
    ] = None,
    split: Annotated[
        Literal["test", "valid"] | None, typer.Option(help="Split to score.", show_default="test if there is one")
    ] = None,
    by_length: Annotated[
        bool | None, typer.Option("--by-length/--no-by-length", help="Also show scores by source length.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the comparison in --out.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the comparison in --out.")] = False,
    minutes: Annotated[float | None, typer.Option(min=0, help="Stop cleanly after this many minutes.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Runs to train in parallel.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Train variants of RECIPE with several seeds each, score them, and test which differences are significant."""
    from regard.base.recipe import apply_settings
    from regard.runs.compare.plan import make_plan
    from regard.runs.compare.request import asked_for
    from regard.runs.compare.running import Manner, folder_of, run_comparison
    from regard.runs.request import recipe_table
    from regard.runs.start import console_audience

    manner = Manner(split, resume, overwrite, jobs, minutes)
    manner.check()
    _check_files(files or [], overwrite)
    table, name = recipe_table(recipe)
    others = {"seeds": seeds, "metrics": metric, "by_length": by_length}
    plan = make_plan(asked_for(apply_settings(table, settings or []), vary or [], variant or [], others), name)
    folder = folder_of(name, out)
    runs = run_comparison(plan, folder, manner, console_audience())
    _tell(runs, folder, files or [], overwrite, as_json)


def _tell(runs: "ComparedRuns", folder: Path, files: list[Path], overwrite: bool, as_json: bool) -> None:
    """Print the results, or how far the comparison got."""
    if runs.interrupted:
        remark(f"{quantity(runs.planned - runs.finished, 'run')} not finished; --resume continues from there.")
        raise typer.Exit(130)
    if runs.left:
        remark(runs.progress())
    if runs.comparison:
        _say(runs.comparison, folder, as_json)
        for file in files:
            remark_written(runs.comparison.save(file, overwrite))
    if runs.failures:
        raise runs.failure()


def _check_files(files: list[Path], overwrite: bool) -> None:
    """Refuse files that could not be written later, before anything is trained."""
    from regard.runs.compare.formats import check_format

    for file in files:
        check_format(file)
        refuse_folder(file)
        refuse_missing_folder(file)
        refuse_existing(file, overwrite)
    if len(set(files)) < len(files):
        raise Fault("-o names the same file twice.")


def _say(comparison: "Comparison", folder: Path, as_json: bool) -> None:
    """Print the tables and where the files are."""
    from regard.runs.compare import page

    if as_json:
        print_json(comparison.as_dict())
        return
    say_table(*page.table(comparison))
    for place, measure in enumerate(comparison.variants[0].measures if comparison.buckets else []):
        print(f"\n{measure.metric} by source length")
        say_table(*page.length_table(comparison, place))
    for note in page.notes(comparison):
        remark(note)
    pictures = f"the pictures in {folder / 'comparison.png'} and {folder / 'losses.png'}"
    remark(f"The table is in {folder / 'comparison.md'}, {pictures}.")
