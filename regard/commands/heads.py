"""`regard heads`: what kind of looks each head of a model gives."""

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

MOST = 500  # sentence pairs when nobody says


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    split: Annotated[Literal["valid", "test"] | None, typer.Option(help="A split of the model's own data.")] = None,
    source: Annotated[Path | None, typer.Option(help="Source sentences to watch instead.")] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", "--target", help="Their references, which the model is made to write.")
    ] = None,
    alignments: Annotated[
        Path | None,
        typer.Option(help="Links of each pair, as in 0-0 1-2 (3p4 is possible), to count errors against."),
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
    from regard.families import with_article
    from regard.families.abilities import needs
    from regard.model import load
    from regard.verbs.translate.model import TranslationModel

    loaded = load(model)
    needs(loaded.recipe, "heads")
    if isinstance(loaded, TranslationModel):
        found = _over_pairs(loaded, model, _Pairs(split, source, reference, alignments, most))
    else:
        own = {"--source": source, "--alignments": alignments, "--most": None if most == MOST else most}
        if given := next((name for name, value in own.items() if value is not None), None):
            raise Fault(
                f"{given} is for translators; the heads of {with_article(loaded.recipe.family)} are watched on a "
                "--split."
            )
        found = _over_split(loaded, model, split or "valid")
    _show(loaded, found, by or ("alignment" if alignments else "sharpness"), as_json)


@dataclass(frozen=True)
class _Pairs:
    """Which pairs of sentences are watched, and what is known of them."""

    split: Literal["valid", "test"] | None
    source: Path | None
    reference: Path | None
    alignments: Path | None
    most: int


@dataclass(frozen=True)
class _Found:
    """The reports, and what they were made on: as facts, and in words."""

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
    pairs = [(each, wanted or "") for each, wanted in zip(data.sources, data.references[0], strict=True)]
    given = None if chosen.alignments is None else evaluation.read_alignment_file(chosen.alignments, len(pairs))
    watched = pairs[: chosen.most]
    with console_progress() as progress:
        reports = inspect(model.task, watched, given and given[: chosen.most], progress)
    return _Found(reports, {"pairs": len(watched)}, f"{len(watched)} of {len(pairs)} pairs", bool(given))


def _over_split(model: "Model", folder: Path, split: str) -> _Found:
    from regard.runs.evaluate import own_data
    from regard.seeing.head_reports import inspect_batches

    with console_progress() as progress, own_data(model, folder, progress, remark):
        reports = inspect_batches(model.task, model.task.batches(split, 0, 0, 0), progress)
    return _Found(reports, {"split": split}, f"the split {split}")


def _show(model: "Model", found: _Found, order: Literal["sharpness", "diagonal", "alignment"], as_json: bool) -> None:
    from regard.attention.reports import rank_heads
    from regard.attention.watch import numbered_blocks

    if order == "diagonal" and all(math.isnan(each.diagonal) for each in found.reports):
        raise Fault("What these heads look at has no order, so none of them is near a diagonal; rank by sharpness.")
    best_first = rank_heads(found.reports, order)
    blocks = numbered_blocks(model.task.model)
    if as_json:
        heads = [_as_dict(each, *blocks[each.where]) for each in best_first]
        print_json({**found.facts, "by": order, "heads": heads})
        return
    aligned = ["alignment error"] if found.aligned else []
    columns = ["side", "block", "head", "entropy", "share of most", "diagonal", *aligned]
    say_table(columns, [_row(each, *blocks[each.where], found.aligned) for each in best_first])
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
