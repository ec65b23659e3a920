"""`regard data filter`: keep the good pairs of a corpus."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.console import console_progress, options, print_json, remark, say_table

Models = Annotated[
    list[Path] | None,
    typer.Option("--model", metavar="MODEL", help="Score pairs by a translator; a second one for the way back."),
]
LanguageModels = Annotated[
    list[Path] | None,
    typer.Option(metavar="MODEL", help="Score one side by a language model; a second one of general text."),
]
Vectors = Annotated[
    list[Path] | None,
    typer.Option(metavar="MODEL", help="Score pairs by the likeness of sentence vectors; a second one for targets."),
]
AtLeast = Annotated[
    list[str] | None,
    typer.Option(metavar="[NAME=]X", help="Drop pairs with a lower score, such as model=-2.5; repeatable."),
]


def command(
    pairs: Annotated[
        Path, typer.Argument(help="Pairs in one file: TSV, CSV, JSON lines, TMX, XLIFF, .parquet or .arrow.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT.tsv", help="File for the pairs that are kept.")],
    languages: Annotated[
        str | None, typer.Option(help="Drop pairs that are not in these languages, such as en-pt.")
    ] = None,
    models: Models = None,
    language_model: LanguageModels = None,
    side: Annotated[Literal["source", "target"], typer.Option(help="Side that --language-model reads.")] = "target",
    vectors: Vectors = None,
    keep: Annotated[float | None, typer.Option(metavar="SHARE", help="Keep this share of all pairs, the best.")] = None,
    at_least: AtLeast = None,
    scores: Annotated[bool, typer.Option("--scores", help="Write scores as further columns.")] = False,
    columns: options.Columns = None,
    header: options.Header = None,
    examples: Annotated[int, typer.Option(min=0, max=100, help="Pairs to show on each side of the border.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Keep the good pairs of a corpus: by language, translators, language models or sentence vectors.

    Each criterion drops pairs below --at-least; --keep then drops the worst by the mean rank over all
    scores but that of --languages.
    """
    from regard.runs.filtering.asked import FilterRequest

    request = FilterRequest(
        pairs=pairs,
        out=out,
        languages=languages,
        models=models or (),
        language_models=language_model or (),
        side=side,
        vectors=vectors or (),
        keep=keep,
        at_least=at_least or (),
        scores=scores,
        columns=columns,
        header=header,
        examples=examples,
        overwrite=overwrite,
    )
    with console_progress() as progress:
        result = request.run(progress)
    if as_json:
        print_json(result.as_dict())
        return
    rows = [("read", f"{result.read:,}")]
    rows += [(f"dropped: {reason}", f"{count:,}") for reason, count in result.dropped.items() if count]
    say_table(["pairs", "number"], [*rows, ("kept", f"{result.kept:,}")])
    for title, shown in {"worst kept": result.worst_kept, "best dropped": result.best_dropped}.items():
        for example in shown:
            values = ", ".join(f"{name} {value:.3g}" for name, value in example.scores.items())
            print(f"{title} ({values}): {example.source} | {example.target}")
    if scores:
        remark(f"Further columns of {out}: {', '.join(request.names)}.")
