"""`regard train`: from a recipe, or from text files."""

import platform
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.faults import Fault
from regard.cli.console import console_progress, remark

if TYPE_CHECKING:
    from regard.base.recipe import Recipe
    from regard.runs.from_text.defaults import TextFiles
    from regard.runs.from_text.planning import Allowance, Planner

Out = Annotated[Path | None, typer.Option("--out", help="Folder of the run and its model.", show_default="runs/NAME")]
Start = Annotated[
    Path | None,
    typer.Option("--from", metavar="MODEL", help="A model folder whose weights and tokenisers to start from."),
]
Minutes = Annotated[
    float | None,
    typer.Option(min=0, help="Plan the run to be done in so many minutes; with --resume, stop when they are over."),
]
OldShare = Annotated[
    float | None, typer.Option(min=0, max=0.95, help="Share of the text that MODEL was trained on, mixed in.")
]


def command(
    recipe: Annotated[
        str | None,
        typer.Argument(help="A recipe (a TOML file or a name from `regard recipes`), or a file of pairs (.tsv, .txt)."),
    ] = None,
    source: Annotated[Path | None, typer.Option(help="Source sentences, one a line (plain, .gz or .xz).")] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None,
    pairs: Annotated[Path | None, typer.Option(help="Both in one file: source, tab, target on each line.")] = None,
    valid_source: Annotated[Path | None, typer.Option(help="Source sentences to validate with.")] = None,
    valid_target: Annotated[Path | None, typer.Option(help="Their translations.")] = None,
    valid_pairs: Annotated[Path | None, typer.Option(help="Both in one file.")] = None,
    languages: Annotated[str | None, typer.Option(help="The two languages, as in en-pt.")] = None,
    start: Start = None,
    old_share: OldShare = None,
    out: Out = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change the recipe: training.steps=200.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, by the recipe in it.")] = False,
    minutes: Minutes = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of everything random.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
) -> None:
    """Train a model from a RECIPE, or from text files with good defaults: --source and --target, or --pairs."""
    began = time.monotonic()
    from regard.runs.from_text.defaults import TextFiles
    from regard.runs.from_text.planning import Allowance

    if recipe is not None and _holds_pairs(recipe):
        pairs, recipe = _only(pairs, Path(recipe)), None
    text = _files("", source, target, pairs)
    valid = _files("valid-", valid_source, valid_target, valid_pairs)
    if recipe is not None and text:
        raise Fault("Give a recipe or text files, not both.")
    if resume and overwrite:
        raise Fault("--resume goes on with a run and --overwrite replaces it; give one of them.")
    if not text and not resume and recipe is None:
        raise Fault("Give a recipe (`regard recipes` lists some), --source and --target, or --pairs.")
    if not text and (valid or languages):
        raise Fault("Files to validate with and --languages go with text files; a recipe has its own.")
    if old_share is not None and not (text and start):
        raise Fault(
            "--old-share goes with text files and --from; a recipe lists old text beside the new in data.train."
        )
    for path in (*text, *valid, *filter(None, (start, out))):
        _check_name(path)
    changes = [*(settings or []), *([f"seed={seed}"] if seed is not None else [])]
    choices: list[str] = []
    if text:
        files = TextFiles(text, valid, languages)
        table, name, choices = _from_files(files, changes, out, resume, start, old_share or 0.0)
    elif recipe is not None:
        table, name = _recipe_alone(recipe)
    else:
        table, name = _recipe_of_run(out), ""
    if start is not None:
        table["start_from"] = str(start.resolve())
    folder = out or Path("runs") / name
    allowance = None if minutes is None else Allowance(minutes, began)
    train(table, changes, folder, resume=resume, allowance=allowance, overwrite=overwrite, choices=choices)


def _holds_pairs(name: str) -> bool:
    """Whether what stands where a recipe may stand is a file of pairs, going by its name."""
    return Path(name.removesuffix(".gz").removesuffix(".xz")).suffix in (".tsv", ".txt")


def _only(pairs: Path | None, named: Path) -> Path:
    if pairs is not None:
        raise Fault(f"{named} and --pairs {pairs} are two files of pairs; a recipe may have several as data.train.")
    return named


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


def _check_name(path: Path) -> None:
    """Refuse a path that cannot be written into a recipe."""
    try:
        str(path.resolve()).encode()
    except UnicodeEncodeError:
        raise Fault(f"The name {str(path)!a} is no UTF-8, so a recipe cannot hold it; give it another.") from None


def recipe_table(name: str) -> tuple[dict[str, Any], str]:
    """The recipe at a path, or the one of that name that comes with regard."""
    from regard.base.recipe import parse, read_table
    from regard.cli.recipes import recipe_text

    path = Path(name)
    if path.is_file() or path.suffix == ".toml":
        return read_table(path), path.stem
    return parse(recipe_text(name), name), name


def _recipe_alone(name: str) -> tuple[dict[str, Any], str]:
    """A recipe that can be trained by itself."""
    table, stem = recipe_table(name)
    if "compare" in table:
        raise Fault(f"{name} is a comparison of several recipes; run it with `regard compare {name}`.")
    return table, stem


def _recipe_of_run(folder: Path | None) -> dict[str, Any]:
    """The recipe of the run that is to go on."""
    from regard.runs.checkpoint import RunFolder, read_recipe

    if folder is None:
        raise Fault("Say with --out which run is to go on, or give what to train: a recipe or text files.")
    if not RunFolder(folder).exists():
        raise Fault(f"{folder} holds no recipe to go on with; give one, or text files, as when the run was begun.")
    return read_recipe(folder)


def _from_files(
    files: "TextFiles", settings: list[str], out: Path | None, resume: bool, start: Path | None, old_share: float
) -> tuple[dict[str, Any], str, list[str]]:
    """A recipe made for the files, the name of its run, and what was chosen; a run that goes on has one already."""
    import torch

    from regard.base.recipe import apply_settings, check, differences
    from regard.data.corpora.options import Corpus, PairData
    from regard.families import check_settings
    from regard.runs.checkpoint import RunFolder, read_recipe
    from regard.runs.from_text.defaults import recipe_for
    from regard.runs.from_text.fine_tuning import recipe_from

    files.check()
    name = "-".join(files.pair_of_languages())
    folder = out or Path("runs") / name
    if resume and RunFolder(folder).exists():
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
        return table, name, []
    family = read_recipe(start).get("family") if start else None
    known = {"data": files.corpora()} | ({"family": family} if family else {})
    check_settings(apply_settings(known, settings))  # before all the text is read
    if start:
        table, choices = recipe_from(start, files, old_share, torch.cuda.is_available())
    else:
        table, choices = recipe_for(files, torch.cuda.is_available())
    return table, name, choices


def train(
    table: dict[str, Any],
    settings: list[str],
    folder: Path,
    *,
    resume: bool,
    overwrite: bool,
    allowance: "Allowance | None" = None,
    choices: Sequence[str] = (),
) -> None:
    """Check the recipe, say what was chosen for it, train it, and say what came of it.

    An allowance of time is what a new run of a translator is planned for; every other run is only stopped by it.
    """
    from regard.base.recipe import apply_settings
    from regard.runs import open as runs
    from regard.runs.checkpoint import RunFolder
    from regard.runs.from_text.planning import Planner
    from regard.runs.parents import resolve_in

    planned = runs.planned_settings(RunFolder(folder)) if resume else []
    recipe = resolve_in(folder, apply_settings(table, [*planned, *settings]), resume)
    planner = None
    if allowance is not None and not resume and recipe.task == "translation":
        given = frozenset(setting.partition("=")[0].strip() for setting in settings)
        planner = Planner(allowance, given, is_free=bool(choices) and recipe.start_from is None, remark=remark)
    for choice in choices[:1] if planner else choices:  # a planner has sentences of its own for the rest
        remark(choice)
    if resume and runs.is_finished(recipe, RunFolder(folder)):
        remark(f"{folder} is finished; there is nothing to resume.")
        return
    if train_recipe(recipe, folder, resume=resume, overwrite=overwrite, allowance=allowance, planner=planner):
        raise typer.Exit(130)
    _say_result(folder)


def train_recipe(
    recipe: "Recipe",
    folder: Path,
    *,
    resume: bool,
    overwrite: bool = False,
    allowance: "Allowance | None" = None,
    planner: "Planner | None" = None,
) -> bool:
    """Open the run, train it to its end or to a stop, and give whether someone interrupted it.

    When the allowance is used up the run stops, planned or not.
    """
    from regard.hardware.threads import same_threads
    from regard.runs import open as runs
    from regard.runs.checkpoint import RunFolder
    from regard.runs.train import train as train_run
    from regard.training.listeners import TensorBoard, deadline, interruptions, progress_listener
    from regard.training.pace import Pace

    runs.check_possible(recipe, None if overwrite else folder)
    if overwrite and folder.exists():
        with runs.locked_run(RunFolder(folder)):  # nobody's run is removed under their hands
            RunFolder(folder).remove()
    with runs.locked_run(RunFolder(folder)):
        with quick_products(), console_progress() as progress:
            run = runs.open_run(recipe, folder, resume, progress, remark, planner)
        for line in [*run.prepared.report, *runs.describe(run)]:
            remark(line)
        reserve = planner.reserve if planner else 0.0
        stop_in_time = [deadline(allowance.minutes, allowance.left - reserve)] if allowance else []
        before = facts.threads if (facts := run.folder.facts()) else None
        threads = same_threads(before, runs.device_of(run), remark)
        with threads, quick_products(), interruptions() as interrupted, progress_listener() as shown:
            tensorboard, pace = TensorBoard(run.folder.training / "tensorboard"), Pace(run.folder.training)
            train_run(run, [shown, tensorboard, pace, interrupted, *stop_in_time])
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


# How to ask a model for something, by what it reads.
_EXAMPLES = {
    "text": "echo 'text' | regard {verb} {place}",
    "tokens": "echo 'words of a sentence' | regard {verb} {place}",
    "prompt": "regard {verb} {place} --prompt 'text'",
    "nodes": "regard {verb} {place} 0",
    "picture": "regard {verb} {place} picture.png",
    "words": "regard {verb} {place} word",
}


def _say_result(folder: Path) -> None:
    from regard.families import check_recipe
    from regard.runs.checkpoint import read_recipe
    from regard.runs.scores import read_scores, score_in_words
    from regard.tasks import TASKS

    for score in read_scores(folder):
        print(score_in_words(score))
    recipe = check_recipe(read_recipe(folder))
    kind, place = TASKS[recipe.task], shlex.quote(str(folder))
    example = _EXAMPLES[kind.reads].format(verb=kind.verb, place=place)
    into = " -o vectors.npz" if kind.verb == "embed" else ""
    remark(f"The model is in {folder}; try: {example}{into}")
