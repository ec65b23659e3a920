"""`regard card`: a model card in Markdown, written only from what the model folder records."""

import re
from pathlib import Path
from typing import Annotated

import typer

from regard.base.faults import Fault
from regard.base.files import write_file
from regard.console import refuse_existing, refuse_folder, remark_written


def command(
    run: Annotated[Path, typer.Argument(help="A model folder.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="File to write, such as README.md for a hub.", show_default="print it"),
    ] = None,
    licence: Annotated[
        str | None, typer.Option(metavar="ID", help="SPDX identifier of the weights' licence, such as CC-BY-4.0.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
) -> None:
    """Write a model card for RUN: its data, scores, limits, licence and files, with the metadata that hubs read."""
    from regard.runs.card.facts import gather, is_own_file
    from regard.runs.card.page import make_card

    if licence is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]*", licence):
        raise Fault(f"--licence takes the identifier of a licence, such as CC-BY-4.0, not {licence!r}.")
    if out is not None:
        refuse_folder(out)
        if is_own_file(run, out):
            raise Fault(f"{out} is a file of the model itself; write the card elsewhere.")
        if out.suffix.lower() not in ("", ".md", ".markdown", ".txt"):
            raise Fault(f"{out}: a model card is Markdown; give a name that ends in .md.")
        refuse_existing(out, overwrite)
    card = make_card(gather(run), licence).text
    if out is None:
        print(card, end="")
    else:
        write_file(out, card.encode("utf-8"))
        remark_written(out)
