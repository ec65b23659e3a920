"""`regard heads`: what kind of looks each head of a model gives."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.cli.console import console_progress, print_json, remark, say_table

if TYPE_CHECKING:
    from regard.attention.reports import HeadReport

MOST = 500  # sentence pairs when nobody says


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    split: Annotated[Literal["valid", "test"] | None, typer.Option(help="A split of the model's own data.")] = None,
    source: Annotated[Path | None, typer.Option(help="Source sentences to watch instead.")] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", "--target", help="Their references, which the model is made to write.")
    ] = None,
    alignments: Annotated[
        Path | None, typer.Option(help="Links of each pair, as in 0-0 1-2 (3p4: possible), to count errors against.")
    ] = None,
    by: Annotated[
        Literal["sharpness", "diagonal", "alignment"] | None, typer.Option(help="What ranks the heads.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Pairs to watch, from the first on.")] = MOST,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Rank the heads of a model by how sharp, how straight or how well aligned their looks are."""
    if (source is None) != (reference is None):
        raise Fault("--source and --reference belong together; give both, or a --split.")
    if source is not None and split is not None:
        raise Fault("Give --split or --source and --reference, not both.")
    if by == "alignment" and alignments is None:
        raise Fault("--by alignment needs --alignments, a file of links to count errors against.")
    from regard.attention.alignments import read_alignments
    from regard.attention.reports import ranked
    from regard.attention.watch import numbered_blocks
    from regard.data.corpora.text import read_lines
    from regard.seeing.head_reports import inspect
    from regard.verbs.translate import evaluation
    from regard.verbs.translate.model import load_translation_model

    loaded = load_translation_model(model)
    if source is not None and reference is not None:
        data = evaluation.from_files(source, [reference])
    else:
        data = evaluation.from_split(loaded, model, split or "valid")
    pairs = [(each, wanted or "") for each, wanted in zip(data.sources, data.references[0], strict=True)]
    given = None if alignments is None else read_alignments(read_lines(alignments))
    if given is not None and len(given) != len(pairs):
        raise Fault(f"There are {len(pairs)} pairs but {len(given)} lines in {alignments}.")
    with console_progress() as progress:
        reports = inspect(loaded.task, pairs[:most], given and given[:most], progress)
    order = by or ("alignment" if given else "sharpness")
    best_first = ranked(reports, order)
    blocks = numbered_blocks(loaded.task.model)
    if as_json:
        heads = [_as_dict(each, *blocks[each.where]) for each in best_first]
        print_json({"pairs": len(pairs[:most]), "by": order, "heads": heads})
        return
    columns = ["side", "block", "head", "entropy", "share of most", "diagonal", *(["alignment error"] if given else [])]
    say_table(columns, [_row(each, *blocks[each.where], bool(given)) for each in best_first])
    remark(f"{len(pairs[:most])} of {len(pairs)} pairs; the first head has most {order}.")


def _row(head: "HeadReport", side: str, block: int, aligned: bool) -> list[str]:
    return [
        side,
        str(block),
        str(head.head + 1),
        _number(head.entropy, "{:.2f}"),
        _number(100 * head.entropy_share, "{:.0f}%"),
        _number(100 * head.diagonal, "{:.0f}%"),
        *([_number(100 * head.alignment.rate, "{:.1f}%")] if aligned else []),
    ]


def _number(value: float, form: str) -> str:
    return "–" if value != value else form.format(value)  # NaN alone differs from itself: nothing was measured


def _as_dict(head: "HeadReport", side: str, block: int) -> dict[str, object]:
    """NaN, where nothing was measured, becomes null."""
    return {
        "where": head.where,
        "side": side,
        "block": block,
        "head": head.head + 1,
        "looks": head.looks,
        "entropy": head.entropy,
        "entropy_share": head.entropy_share,
        "diagonal": head.diagonal,
        "alignment_error": head.alignment.rate,
        "precision": head.alignment.precision,
        "recall": head.alignment.recall,
    }
