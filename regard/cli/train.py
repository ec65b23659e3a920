"""`regard train`: from a recipe, or from two text files."""

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.console import console_progress, remark
from regard.faults import Fault

Out = Annotated[Path | None, typer.Option("--out", help="Folder of the run and its model.", show_default="runs/NAME")]


def command(
    recipe: Annotated[str | None, typer.Argument(help="A recipe: a TOML file or a name from `regard recipes`.")] = None,
    source: Annotated[Path | None, typer.Option(help="Source sentences, one a line (plain, .gz or .xz).")] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None,
    valid_source: Annotated[Path | None, typer.Option(help="Source sentences to validate with.")] = None,
    valid_target: Annotated[Path | None, typer.Option(help="Their translations.")] = None,
    languages: Annotated[str | None, typer.Option(help="The two languages, as in en-pt.")] = None,
    out: Out = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change the recipe: training.steps=200.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    minutes: Annotated[float | None, typer.Option(min=0, help="Stop cleanly after so many minutes.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of everything random.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
) -> None:
    """Train a model from a RECIPE, or from the two text files --source and --target with good defaults."""
    from regard.defaults import TwoFiles

    if recipe is not None and (source or target):
        raise Fault("Give a recipe or --source and --target, not both.")
    if recipe is None and not (source and target):
        raise Fault("Give a recipe (`regard recipes` lists some), or two text files with --source and --target.")
    if resume and overwrite:
        raise Fault("--resume goes on with a run and --overwrite replaces it; give one of them.")
    if recipe is None and source and target:
        table, name = _from_files(TwoFiles(source, target, valid_source, valid_target, languages), out, resume)
    else:
        table, name = _from_recipe(str(recipe))
    changes = [*(settings or []), *([f"seed={seed}"] if seed is not None else [])]
    train(table, changes, out or Path("runs") / name, resume=resume, minutes=minutes, overwrite=overwrite)


def _from_recipe(name: str) -> tuple[dict[str, Any], str]:
    """The recipe at a path, or the one of that name that comes with regard."""
    from regard.cli.recipes import recipe_text
    from regard.recipe import parse, read_table

    path = Path(name)
    if path.exists() or path.suffix == ".toml":
        return read_table(path), path.stem
    return parse(recipe_text(name), name), name


def _from_files(files: Any, out: Path | None, resume: bool) -> tuple[dict[str, Any], str]:
    import torch

    from regard.defaults import recipe_for

    table, sentences = recipe_for(files, torch.cuda.is_available())
    for sentence in sentences:
        remark(sentence)
    return table, "-".join(files.pair_of_languages())


def train(
    table: dict[str, Any], settings: list[str], folder: Path, *, resume: bool, minutes: float | None, overwrite: bool
) -> Any:
    """Check the recipe, open the run, train it, and say what came of it; gives the run."""
    from regard import runs
    from regard.checkpoint import RunFolder
    from regard.families import check_recipe
    from regard.recipe import apply_settings
    from regard.training.events import Listener
    from regard.training.listeners import TensorBoard, deadline, interruptions, progress_listener

    recipe = check_recipe(apply_settings(table, settings))
    if overwrite:
        remove_run(folder)
    if resume and runs.is_finished(recipe, RunFolder(folder)):
        remark(f"{folder} is finished; there is nothing to resume.")
        return None
    with console_progress() as progress:
        run = runs.open_run(recipe, folder, resume, progress, remark)
    for line in [*run.corpus.report.lines(), *runs.describe(run)]:
        remark(line)
    with interruptions() as interrupted, progress_listener() as shown:
        listeners: list[Listener] = [shown, TensorBoard(run.folder.training / "tensorboard"), interrupted]
        if minutes is not None:
            listeners.append(deadline(minutes))
        runs.train(run, listeners)
    if interrupted.asked:
        raise typer.Exit(130)
    _say_result(folder)
    return run


def remove_run(folder: Path) -> None:
    """Make room for a new run where an old one lies; anything else that lies there is refused."""
    from regard.checkpoint import MANIFEST, RECIPE

    if not folder.exists():
        return
    names = {path.name for path in folder.iterdir() if not path.name.endswith(".partial")}
    if not ({RECIPE, MANIFEST} <= names or names <= {"training", MANIFEST}):
        raise Fault(f"{folder} is not a run of regard, so it is not overwritten; choose another --out.")
    shutil.rmtree(folder)


def _say_result(folder: Path) -> None:
    from regard.evaluation import read_scores

    for score in read_scores(folder):
        print(f"{score['split']} {score['metric']} {score['value']:.2f}  ({score['signature']})")
    remark(f"The model is in {folder}; try: echo 'text' | regard translate {folder}")
