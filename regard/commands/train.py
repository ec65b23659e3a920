"""`regard train`: from a recipe, or from text files."""

import time
from pathlib import Path
from typing import Annotated

import typer

from regard.base.faults import Fault
from regard.console import options, remark
from regard.console.inputs import example_command
from regard.data.catalogue.unpack import bare

Recipe = Annotated[
    str | None,
    typer.Argument(help="A recipe (a TOML file or a name from `regard recipes`), or pairs (.tsv, .txt, .parquet)."),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change the recipe: training.steps=200.")
]
Pairs = Annotated[
    list[Path] | None,
    typer.Option(help="Both in one file: TSV, CSV, JSON lines, .parquet or .arrow; several files are repeated."),
]
Data = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="With a RECIPE: your own file to learn from, in place of those it names."),
]
ValidData = Annotated[list[Path] | None, typer.Option(metavar="FILE", help="With --data: what to validate with.")]
TestData = Annotated[list[Path] | None, typer.Option(metavar="FILE", help="With --data: what to test with.")]
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

Processes = Annotated[
    int | None, typer.Option(min=1, max=4096, help="Train on so many processes of this machine, each with one thread.")
]
Restarts = Annotated[
    int, typer.Option(min=0, help="With --processes: begin again so often from the last checkpoint when one fails.")
]


def command(
    recipe: Recipe = None,
    source: Annotated[Path | None, typer.Option(help="Source sentences, one a line (plain, .gz, .xz, .zst).")] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None,
    pairs: Pairs = None,
    valid_source: Annotated[Path | None, typer.Option(help="Source sentences to validate with.")] = None,
    valid_target: Annotated[Path | None, typer.Option(help="Their translations.")] = None,
    valid_pairs: Annotated[list[Path] | None, typer.Option(help="Both in one file.")] = None,
    data: Data = None,
    valid_data: ValidData = None,
    test_data: TestData = None,
    columns: options.Columns = None,
    header: options.Header = None,
    languages: Annotated[str | None, typer.Option(help="The two languages, as in en-pt.")] = None,
    start: Start = None,
    old_share: OldShare = None,
    out: Out = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, by the recipe in it.")] = False,
    minutes: Minutes = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The seed of everything random.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
    processes: Processes = None,
    restarts: Restarts = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check recipe, batches and memory.")] = False,
) -> None:
    """Train a RECIPE, perhaps on --data, or from text files with good defaults: --source and --target, or --pairs."""
    began = time.monotonic()  # loading what trains takes seconds, which count
    from regard.runs.request import Tables, TrainingRequest
    from regard.runs.start import console_audience, start_training

    if recipe is not None and _holds_pairs(recipe):
        pairs, recipe = _only(pairs, data, Path(recipe)), None
    asked = TrainingRequest(
        recipe=recipe,
        settings=[*(settings or []), *([f"seed={seed}"] if seed is not None else [])],
        source=source,
        target=target,
        pairs=pairs or (),
        valid_source=valid_source,
        valid_target=valid_target,
        valid_pairs=valid_pairs or (),
        tables=Tables(data or (), valid_data or (), test_data or (), columns, header),
        languages=languages,
        start=start,
        old_share=old_share,
        out=out,
        resume=resume,
        minutes=minutes,
        began=began,
        overwrite=overwrite,
        processes=processes,
        restarts=restarts,
        dry_run=dry_run,
    )
    started = start_training(asked, console_audience())
    if started.interrupted:
        raise typer.Exit(130)
    if started.leads and not started.was_finished:
        say_result(started.folder)


def _holds_pairs(name: str) -> bool:
    """Return True if the argument in place of a recipe is a file of pairs, by its name."""
    return Path(bare(name)).suffix in (".tsv", ".txt", ".parquet", ".arrow")


def _only(pairs: list[Path] | None, data: list[Path] | None, named: Path) -> list[Path]:
    if pairs:
        raise Fault(
            f"{named} and --pairs {pairs[0]} are two files of pairs; name both with --pairs to learn from both."
        )
    if data:
        raise Fault(f"{named} is a file of data, not a recipe; --data goes with a recipe, as in `regard train trec`.")
    return [named]


def say_result(folder: Path) -> None:
    """Print the result of a training, and how to use the model."""
    from regard.families import check_recipe
    from regard.runs.kept_scores import read_scores, score_in_words
    from regard.training.checkpoint import read_recipe

    for score in read_scores(folder):
        print(score_in_words(score))
    recipe = check_recipe(read_recipe(folder))
    remark(f"The model is in {folder}; try: {example_command(recipe, folder)}")
