"""Options of `regard look` that edit a model: heads to switch off, and records of edits."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.base.faults import Fault
from regard.console import refuse_existing, refuse_folder

if TYPE_CHECKING:
    from regard.base.edits import Edits
    from regard.loading import Loaded

ZeroHead = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[SIDE.]BLOCK.HEAD",
        help="Switch a head off and let the model write again, such as cross.3.2, counted from 1; can be repeated.",
    ),
]
EditFile = Annotated[Path | None, typer.Option(metavar="FILE", help="A record of edits under which the model writes.")]
SaveEdit = Annotated[Path | None, typer.Option(metavar="FILE", help="Save the edits as a record for --edit.")]

EDITS = ("zero_head", "edit", "save_edit")  # names of these options


def edits_of(context: typer.Context, model: "Loaded") -> "Edits | None":
    """Return the edits that the options ask for."""
    from regard.seeing.edited import edits_asked

    return edits_asked(model, context.params["zero_head"] or [], context.params["edit"])


def check_record(context: typer.Context) -> None:
    """Refuse to save a record of no edits, or over a file that is there."""
    params = context.params
    if params["save_edit"] is None:
        return
    if not params["zero_head"] and params["edit"] is None:
        raise Fault("--save-edit saves edits, but none is given; add --zero-head or --edit.")
    refuse_folder(params["save_edit"])
    refuse_existing(params["save_edit"], params["overwrite"])
