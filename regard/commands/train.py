"""`regard train`: train a model from a recipe or from text files."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.base.faults import Fault
from regard.console import options, remark
from regard.console.inputs import example_command
from regard.data.catalogue.unpack import bare

if TYPE_CHECKING:
    from regard.runs.request import TrainingRequest

Recipe = Annotated[
    str | None,
    typer.Argument(
        help="A recipe (a TOML file or a name from `regard recipes`), or a file of pairs (.tsv, .txt, .tmx, .parquet)."
    ),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change the recipe: training.steps=200.")
]
Pairs = Annotated[
    list[Path] | None,
    typer.Option(
        help="Source and target in one file: TSV, CSV, JSON lines, TMX, XLIFF, .parquet or .arrow; repeatable."
    ),
]
Data = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="With a RECIPE: your own training file, instead of those it names; repeatable."),
]
ValidData = Annotated[
    list[Path] | None, typer.Option(metavar="FILE", help="With --data: a validation file; repeatable.")
]
TestData = Annotated[list[Path] | None, typer.Option(metavar="FILE", help="With --data: a test file; repeatable.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for the run and its model.", show_default="runs/NAME")]
Start = Annotated[
    Path | None,
    typer.Option("--from", metavar="MODEL", help="Fine-tune this model: start from its weights and tokenisers."),
]
Minutes = Annotated[
    float | None,
    typer.Option(min=0, help="Plan the run to finish in this many minutes; with --resume, stop after them."),
]
OldShare = Annotated[
    float | None, typer.Option(min=0, max=0.95, help="With --from: share of MODEL's own training text to mix in.")
]

Texts = Annotated[
    list[Path] | None,
    typer.Option(
        "--mono", metavar="FILE", help="Text of one language to learn from too, copied without a model; repeatable."
    ),
]
Back = Annotated[
    Path | None,
    typer.Option(metavar="MODEL", help="With --mono in the target language: this model writes the sources."),
]
Forward = Annotated[
    Path | None,
    typer.Option(metavar="MODEL", help="With --mono in the source language: this model writes the targets."),
]
Share = Annotated[
    float | None,
    typer.Option("--mono-share", min=0, max=1, help="Share of the training pairs that come from --mono, such as 0.5."),
]

Processes = Annotated[
    int | None, typer.Option(min=1, max=4096, help="Train with N processes on this machine, one thread each.")
]
Restarts = Annotated[
    int,
    typer.Option(min=0, help="With --processes: restart from the last checkpoint up to N times when a process fails."),
]


def command(
    recipe: Recipe = None,
    source: Annotated[Path | None, typer.Option(help="Source sentences, one per line (plain, .gz, .xz, .zst).")] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None,
    pairs: Pairs = None,
    valid_source: Annotated[Path | None, typer.Option(help="Source sentences for validation.")] = None,
    valid_target: Annotated[Path | None, typer.Option(help="Their translations.")] = None,
    valid_pairs: Annotated[list[Path] | None, typer.Option(help="Validation pairs in one file; repeatable.")] = None,
    data: Data = None,
    valid_data: ValidData = None,
    test_data: TestData = None,
    columns: options.Columns = None,
    header: options.Header = None,
    languages: Annotated[str | None, typer.Option(help="Source and target language, such as en-pt.")] = None,
    mono: Texts = None,
    back: Back = None,
    forward: Forward = None,
    mono_share: Share = None,
    start: Start = None,
    old_share: OldShare = None,
    out: Out = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out with its own recipe.")] = False,
    minutes: Minutes = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
    processes: Processes = None,
    restarts: Restarts = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check recipe, batches and memory.")] = False,
) -> None:
    """Train a RECIPE, optionally on your own --data, or train a translator on --source and --target or --pairs."""
    began = time.monotonic()  # the imports below take seconds, which count towards --minutes
    from regard.runs.mono.asked import AskedTexts
    from regard.runs.request import Tables, TrainingRequest

    recipe, pairs = _recipe_or_pairs(recipe, pairs, data)
    request = TrainingRequest(
        recipe,
        [*(settings or []), *([] if seed is None else [f"seed={seed}"])],
        source=source,
        target=target,
        pairs=pairs or (),
        valid_source=valid_source,
        valid_target=valid_target,
        valid_pairs=valid_pairs or (),
        tables=Tables(data or (), valid_data or (), test_data or (), columns, header),
        languages=languages,
        mono=AskedTexts(mono or (), back, forward, mono_share),
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
    _train(request)


def _train(request: "TrainingRequest") -> None:
    """Train as requested and print the result of a run that has just finished; exit with 130 if it was interrupted."""
    from regard.runs.start import console_audience, start_training

    run = start_training(request, console_audience())
    if run.interrupted:
        raise typer.Exit(130)
    if run.leads and not run.was_finished:
        say_result(run.folder)


_OF_PAIRS = (".tsv", ".txt", ".parquet", ".arrow", ".tmx", ".xlf", ".xliff")  # names that no recipe has


def _recipe_or_pairs(
    name: str | None, pairs: list[Path] | None, data: list[Path] | None
) -> tuple[str | None, list[Path] | None]:
    """Return the recipe that the argument names and the files of pairs, of which the argument may be one."""
    if name is None or Path(bare(name)).suffix.lower() not in _OF_PAIRS:
        return name, pairs
    if pairs:
        raise Fault(f"{name} and --pairs {pairs[0]} are two files of pairs; name both with --pairs to learn from both.")
    if data:
        raise Fault(f"{name} is a file of data, not a recipe; --data goes with a recipe, as in `regard train trec`.")
    return None, [Path(name)]


def say_result(folder: Path) -> None:
    """Print the scores of a training run and how to use the model."""
    from regard.families import check_recipe
    from regard.runs.kept_scores import read_scores, score_in_words
    from regard.training.checkpoint import read_recipe

    for score in read_scores(folder):
        print(score_in_words(score))
    recipe = check_recipe(read_recipe(folder))
    remark(f"The model is in {folder}; try: {example_command(recipe, folder)}")
