"""`regard heads`: rank the attention heads of a model."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.console import console_progress, print_json, remark, say_table

if TYPE_CHECKING:
    from regard.attention.reports import HeadReport
    from regard.model import Model
    from regard.verbs.translate.model import TranslationModel

MOST = 500  # sentence pairs by default


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    split: Annotated[
        Literal["valid", "test"] | None, typer.Option(help="A split of the model's own data; valid by default.")
    ] = None,
    source: Annotated[Path | None, typer.Option(help="Source sentences to use instead.")] = None,
    reference: Annotated[
        Path | None,
        typer.Option("--reference", "--target", help="Their references; the model is forced to write them."),
    ] = None,
    alignments: Annotated[
        Path | None,
        typer.Option(help="True word links of each pair, such as 0-0 1-2 (3p4: possible), for alignment error rates."),
    ] = None,
    by: Annotated[Literal["sharpness", "diagonal", "alignment"] | None, typer.Option(help="What to rank by.")] = None,
    most: Annotated[int, typer.Option(min=1, help="Number of pairs to use, from the first.")] = MOST,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Rank the attention heads of a model: by how sharp they are, how close to the diagonal, or how well they align."""
    if (source is None) != (reference is None):
        raise Fault("--source and --reference go together; give both, or a --split.")
    if source is not None and split is not None:
        raise Fault("Give --split or --source and --reference, not both.")
    if by == "alignment" and alignments is None:
        raise Fault("--by alignment needs --alignments, a file of true word links.")
    from regard.families import with_article
    from regard.families.abilities import needs
    from regard.model import load
    from regard.verbs.translate.model import TranslationModel

    loaded = load(model)
    needs(loaded.recipe, "heads")
    if isinstance(loaded, TranslationModel):
        reports = _over_pairs(loaded, model, _Pairs(split, source, reference, alignments, most))
    else:
        translator_options = {"--source": source, "--alignments": alignments, "--most": None if most == MOST else most}
        if option := next((name for name, value in translator_options.items() if value is not None), None):
            raise Fault(
                f"{option} is for translators; the heads of {with_article(loaded.recipe.family)} are measured on a "
                "--split."
            )
        reports = _over_split(loaded, model, split or "valid")
    _show(loaded, reports, by or ("alignment" if alignments else "sharpness"), as_json)


@dataclass(frozen=True)
class _Pairs:
    """The sentence pairs to use, and their true links if known."""

    split: Literal["valid", "test"] | None
    source: Path | None
    reference: Path | None
    alignments: Path | None
    most: int


@dataclass(frozen=True)
class _Found:
    """The reports, and the data they were measured on: as facts, and in words."""

    reports: "list[HeadReport]"
    facts: dict[str, object]
    words: str
    aligned: bool = False


def _over_pairs(model: "TranslationModel", folder: Path, chosen: _Pairs) -> _Found:
    from regard.seeing.pair_reports import inspect
    from regard.verbs.translate import evaluation

    if chosen.source is not None and chosen.reference is not None:
        data = evaluation.from_files(chosen.source, [chosen.reference])
    else:
        data = evaluation.from_split(model, folder, chosen.split or "valid")
    pairs = [(source, reference or "") for source, reference in zip(data.sources, data.references[0], strict=True)]
    links = None if chosen.alignments is None else evaluation.read_alignment_file(chosen.alignments, len(pairs))
    used = pairs[: chosen.most]
    with console_progress() as progress:
        reports = inspect(model.task, used, links and links[: chosen.most], progress)
    return _Found(reports, {"pairs": len(used)}, f"{len(used)} of {len(pairs)} pairs", bool(links))


def _over_split(model: "Model", folder: Path, split: str) -> _Found:
    from regard.runs.evaluate import own_data
    from regard.seeing.head_reports import inspect_batches

    with console_progress() as progress, own_data(model, folder, progress, remark):
        reports = inspect_batches(model.task, model.task.batches(split, 0, 0, 0), progress)
    return _Found(reports, {"split": split}, f"the split {split}")


def _show(model: "Model", found: _Found, order: Literal["sharpness", "diagonal", "alignment"], as_json: bool) -> None:
    from regard.attention.reports import rank_heads
    from regard.attention.watch import numbered_blocks

    if order == "diagonal" and all(math.isnan(report.diagonal) for report in found.reports):
        raise Fault("What these heads look at has no order, so there is no diagonal; rank by sharpness.")
    best_first = rank_heads(found.reports, order)
    blocks = numbered_blocks(model.task.model)
    if as_json:
        heads = [_as_dict(report, *blocks[report.where]) for report in best_first]
        print_json({**found.facts, "by": order, "heads": heads})
        return
    aligned = ["alignment error"] if found.aligned else []
    columns = ["side", "block", "head", "entropy", "share of most", "diagonal", *aligned]
    say_table(columns, [_row(report, *blocks[report.where], found.aligned) for report in best_first])
    remark(f"Measured on {found.words}; sorted by {order}, the best head first.")


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
    return "–" if value != value else form.format(value)  # NaN differs from itself: nothing was measured


def _as_dict(head: "HeadReport", side: str, block: int) -> dict[str, object]:
    """Return the report as JSON values; NaN, where nothing was measured, becomes null."""
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
