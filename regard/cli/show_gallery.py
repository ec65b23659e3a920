"""`regard show gallery`: the best and the worst captions of a model, for one's own eyes."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.console import console_progress, refuse_existing, remark, remark_written


def gallery(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="An .html file, which holds the pictures too.")],
    split: Annotated[Literal["test", "valid"], typer.Option(help="Which pictures of the recipe's data.")] = "test",
    count: Annotated[int, typer.Option(min=1, max=200, help="How many of the best, and of the worst.")] = 12,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """The captions with the highest and the lowest CIDEr, with their pictures and where each word looked.

    The page holds the pictures; whether it may be passed on is for their owners to say.
    """
    from regard.base.faults import Fault
    from regard.families.abilities import needs
    from regard.model import load
    from regard.runs.gallery import caption_gallery
    from regard.viewing.gallery import gallery_page

    if out.suffix.lower() != ".html":
        raise Fault(f"{out} does not end in .html, which is what a gallery is.")
    refuse_existing(out, overwrite)
    loaded = load(model)
    needs(loaded.recipe, "caption")
    with console_progress() as progress:
        found = caption_gallery(loaded, model, split, count, progress, remark)
    gallery_page(found).write(out)
    remark_written(out)
