"""`regard data filter`: keep the good pairs of a corpus."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.console import console_progress, options, print_json, refuse_existing, refuse_folder, remark, say_table

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
    pairs: Annotated[Path, typer.Argument(help="Pairs in one file: TSV, CSV, JSON lines, .parquet or .arrow.")],
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

    Each criterion drops pairs below --at-least; --keep then drops the worst by the mean rank over all scores.
    """
    from regard.base.files import refuse_missing_folder
    from regard.runs.filtering.asked import criteria_of, named_corpus
    from regard.runs.filtering.choosing import Rule
    from regard.runs.filtering.filtering import filter_pairs

    refuse_folder(out)
    refuse_missing_folder(out)
    if out.exists() and pairs.exists() and out.samefile(pairs):
        raise Fault(f"{out} is the input too; write the pairs to another file.")
    if out.suffix in (".gz", ".xz", ".zst"):
        raise Fault(f"{out} would be plain text under the name of a compressed file; omit its {out.suffix}.")
    refuse_existing(out, overwrite)
    corpus = named_corpus(pairs, columns, header)
    asked = {"languages": languages, "model": models, "language-model": language_model, "vectors": vectors}
    rule = Rule.read([name for name, value in asked.items() if value], at_least or [], keep, scores)
    criteria = criteria_of(languages, models or (), language_model or (), side, vectors or ())
    with console_progress() as progress:
        result = filter_pairs(corpus, criteria, rule, out, progress, scores, examples)
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
        remark(f"Further columns of {out}: {', '.join(criterion.name for criterion in criteria)}.")
