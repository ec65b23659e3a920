"""`regard train`: from a recipe, or from two text files."""

import platform
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.console import console_progress, remark
from regard.faults import Fault

if TYPE_CHECKING:
    from regard.defaults import TwoFiles
    from regard.families import Recipe

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
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, by the recipe in it.")] = False,
    minutes: Annotated[float | None, typer.Option(min=0, help="Stop cleanly after so many minutes.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of everything random.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
) -> None:
    """Train a model from a RECIPE, or from the two text files --source and --target with good defaults."""
    from regard.defaults import TwoFiles

    if recipe is not None and (source or target):
        raise Fault("Give a recipe or --source and --target, not both.")
    begun = resume and recipe is None and not (source or target)  # what to train is in the run
    if recipe is None and not begun and not (source and target):
        raise Fault("Give a recipe (`regard recipes` lists some), or two text files with --source and --target.")
    if resume and overwrite:
        raise Fault("--resume goes on with a run and --overwrite replaces it; give one of them.")
    if (recipe is not None or begun) and (valid_source or valid_target or languages):
        raise Fault(
            "--valid-source, --valid-target and --languages go with --source and --target; a recipe has its own."
        )
    for path in filter(None, (source, target, valid_source, valid_target, out)):
        _check_name(path)
    if begun:
        table, name = _recipe_of_run(out), ""
    elif recipe is None and source and target:
        table, name = _from_files(TwoFiles(source, target, valid_source, valid_target, languages), out, resume)
    else:
        table, name = recipe_table(str(recipe))
        if "compare" in table:
            raise Fault(f"{recipe} is a comparison of several recipes; run it with `regard compare {recipe}`.")
    changes = [*(settings or []), *([f"seed={seed}"] if seed is not None else [])]
    train(table, changes, out or Path("runs") / name, resume=resume, minutes=minutes, overwrite=overwrite)


def _check_name(path: Path) -> None:
    """Refuse a path that cannot be written into a recipe."""
    try:
        str(path.resolve()).encode()
    except UnicodeEncodeError:
        raise Fault(f"The name {str(path)!a} is no UTF-8, so a recipe cannot hold it; give it another.") from None


def recipe_table(name: str) -> tuple[dict[str, Any], str]:
    """The recipe at a path, or the one of that name that comes with regard."""
    from regard.cli.recipes import recipe_text
    from regard.recipe import parse, read_table

    path = Path(name)
    if path.is_file() or path.suffix == ".toml":
        return read_table(path), path.stem
    return parse(recipe_text(name), name), name


def _recipe_of_run(folder: Path | None) -> dict[str, Any]:
    """The recipe of the run that is to go on."""
    from regard.checkpoint import RunFolder, read_recipe

    if folder is None:
        raise Fault("Say with --out which run is to go on, or give what to train: a recipe, or --source and --target.")
    if not RunFolder(folder).exists():
        raise Fault(
            f"{folder} holds no recipe to go on with; give one, or --source and --target, as when the run was begun."
        )
    return read_recipe(folder)


def _from_files(files: "TwoFiles", out: Path | None, resume: bool) -> tuple[dict[str, Any], str]:
    """A recipe made for the files; a run that goes on has one already."""
    import torch

    from regard.checkpoint import RunFolder, read_recipe
    from regard.data.options import Corpus
    from regard.defaults import recipe_for
    from regard.recipe import check

    files.check()
    name = "-".join(files.pair_of_languages())
    folder = out or Path("runs") / name
    if resume and RunFolder(folder).exists():
        table = read_recipe(folder)
        for split, corpus in files.corpora().items():
            if (old := table["data"][split]) != [check(Corpus, corpus).model_dump(exclude_none=True)]:
                raise Fault(f"{folder} cannot be resumed with other data: data.{split} was {old} and is now {corpus}")
        return table, name
    table, sentences = recipe_for(files, torch.cuda.is_available())
    for sentence in sentences:
        remark(sentence)
    return table, name


def train(
    table: dict[str, Any], settings: list[str], folder: Path, *, resume: bool, minutes: float | None, overwrite: bool
) -> None:
    """Check the recipe, train it, and say what came of it."""
    from regard import runs
    from regard.checkpoint import RunFolder
    from regard.families import check_recipe
    from regard.recipe import apply_settings

    recipe = check_recipe(apply_settings(table, settings))
    if resume and runs.is_finished(recipe, RunFolder(folder)):
        remark(f"{folder} is finished; there is nothing to resume.")
        return
    if train_recipe(recipe, folder, resume=resume, minutes=minutes, overwrite=overwrite):
        raise typer.Exit(130)
    _say_result(folder)


def train_recipe(
    recipe: "Recipe", folder: Path, *, resume: bool, minutes: float | None = None, overwrite: bool = False
) -> bool:
    """Open the run and train it to its end or to a stop; gives whether someone interrupted it."""
    from regard import runs
    from regard.checkpoint import RunFolder
    from regard.training.listeners import TensorBoard, deadline, interruptions, progress_listener
    from regard.training.pace import Pace

    stop_in_time = [deadline(minutes)] if minutes is not None else []
    runs.check_possible(recipe)
    if overwrite and folder.exists():
        with runs.held(RunFolder(folder)):  # nobody's run is removed under their hands
            RunFolder(folder).remove()
    with runs.held(RunFolder(folder)):
        with console_progress() as progress:
            run = runs.open_run(recipe, folder, resume, progress, remark)
        for line in [*run.corpus.report.lines(), *runs.describe(run)]:
            remark(line)
        with quick_products(), interruptions() as interrupted, progress_listener() as shown:
            tensorboard, pace = TensorBoard(run.folder.training / "tensorboard"), Pace(run.folder.training)
            runs.train(run, [shown, tensorboard, pace, interrupted, *stop_in_time])
    return interrupted.asked


@contextmanager
def quick_products() -> Iterator[None]:
    """Inside this block matrix products on ARM without SVE are torch's plain ones if they have several threads.

    Where both were measured, on Neoverse-N1, a step on two threads is then 3 to 7% faster than with those of oneDNN; on
    one thread it would be 5 to 12% slower (docs/speed.md).
    """
    import torch

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


def _say_result(folder: Path) -> None:
    from regard.evaluation import read_scores

    for score in read_scores(folder):
        print(f"{score['split']} {score['metric']} {score['value']:.2f}  ({score['signature']})")
    remark(f"The model is in {folder}; try: echo 'text' | regard translate {shlex.quote(str(folder))}")
