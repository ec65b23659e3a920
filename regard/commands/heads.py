"""`regard heads`: rank the attention heads of a model."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.commands.head_roles import show_roles, split_roles, translator_roles
from regard.commands.show.view import Overwrite, check_out
from regard.console import console_progress, print_json, remark, say_table

if TYPE_CHECKING:
    from regard.attention.reports import HeadReport
    from regard.model import Model
    from regard.verbs.translate.model import TranslationModel
    from regard.viewing.roles import HeadRoles

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
    roles: Annotated[
        bool,
        typer.Option("--roles", help="Find the head that has each role, such as previous token or verb to subject."),
    ] = False,
    switch_off: Annotated[
        bool, typer.Option("--switch-off", help="With --roles: score translations without the head of each role.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="With --roles: a .png, .svg, .json or .html file.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Rank the attention heads of a model: by how sharp they are, how close to the diagonal, or how well they align.

    With --roles, show instead which head looks at the previous token, from a verb to its subject, and so on, compared
    with always looking the same number of places away. Models of the demo's corpora know the true links.
    """
    chosen = _Pairs(split, source, reference, alignments, most)
    chosen.check(by)
    _check_roles(roles, {"--switch-off": switch_off, "--out": out}, {"--by": by, "--alignments": alignments})
    check_out(out, overwrite, has_page=True)
    from regard.families.abilities import needs
    from regard.model import load
    from regard.verbs.translate.model import TranslationModel

    loaded = load(model)
    needs(loaded.recipe, "heads")
    if isinstance(loaded, TranslationModel):
        found = _pair_roles(loaded, model, chosen, switch_off) if roles else _over_pairs(loaded, model, chosen)
    else:
        _refuse_translator_options(loaded.recipe.family, chosen, switch_off)
        found = (split_roles if roles else _over_split)(loaded, model, split or "valid")
    if isinstance(found, _Found):
        _show(loaded, found, by or ("alignment" if alignments else "sharpness"), as_json)
    else:
        show_roles(found, model, out, as_json)


def _check_roles(roles: bool, need: dict[str, object], exclude: dict[str, object]) -> None:
    """Refuse options of --roles without it, and options that do not go with it."""
    for option, value in (exclude if roles else need).items():
        if value:
            raise Fault(f"{option} {'does not go with' if roles else 'needs'} --roles.")


@dataclass(frozen=True)
class _Pairs:
    """The sentence pairs to use, and their true links if known."""

    split: Literal["valid", "test"] | None
    source: Path | None
    reference: Path | None
    alignments: Path | None
    most: int

    def check(self, by: str | None) -> None:
        """Refuse options that do not go together."""
        if (self.source is None) != (self.reference is None):
            raise Fault("--source and --reference go together; give both, or a --split.")
        if self.source is not None and self.split is not None:
            raise Fault("Give --split or --source and --reference, not both.")
        if by == "alignment" and self.alignments is None:
            raise Fault("--by alignment needs --alignments, a file of true word links.")


def _refuse_translator_options(family: str, chosen: _Pairs, switch_off: bool) -> None:
    from regard.families import with_article

    most = None if chosen.most == MOST else chosen.most
    given = {"--source": chosen.source, "--alignments": chosen.alignments, "--most": most, "--switch-off": switch_off}
    if option := next((name for name, value in given.items() if value), None):
        raise Fault(f"{option} is for translators; the heads of {with_article(family)} are measured on a --split.")


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

    pairs = _read_pairs(model, folder, chosen)
    links = None if chosen.alignments is None else evaluation.read_alignment_file(chosen.alignments, len(pairs))
    used = pairs[: chosen.most]
    with console_progress() as progress:
        reports = inspect(model.task, used, links and links[: chosen.most], progress)
    return _Found(reports, {"pairs": len(used)}, f"{len(used)} of {len(pairs)} pairs", bool(links))


def _read_pairs(model: "TranslationModel", folder: Path, chosen: _Pairs) -> list[tuple[str, str]]:
    from regard.verbs.translate import evaluation

    if chosen.source is not None and chosen.reference is not None:
        data = evaluation.from_files(chosen.source, [chosen.reference])
    else:
        data = evaluation.from_split(model, folder, chosen.split or "valid")
    return [(source, reference or "") for source, reference in zip(data.sources, data.references[0], strict=True)]


def _pair_roles(model: "TranslationModel", folder: Path, chosen: _Pairs, switch_off: bool) -> "HeadRoles":
    """Return the roles over a split or files; a split of a demo corpus has its true links."""
    from regard.seeing.pair_roles import linked_corpora

    linked, data = None, model.recipe.data
    if chosen.source is None and not data.merge_references:
        linked = linked_corpora(data.test if chosen.split == "test" else data.valid)
    pairs = [] if linked else _read_pairs(model, folder, chosen)[: chosen.most]
    return translator_roles(model, pairs, linked and linked[: chosen.most], switch_off)


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
