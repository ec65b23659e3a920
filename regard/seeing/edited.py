"""Views of a model under edits: it writes again, and every form of the view names the edits and both outputs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from regard.attention.editing import editing
from regard.attention.watch import numbered_blocks
from regard.base.edits import Edit, Edits
from regard.base.faults import Fault
from regard.loading import Loaded
from regard.seeing.gazes import Sight
from regard.seeing.looking import DrawnTranslation
from regard.viewing.canvas import show_word
from regard.viewing.view import Edited, View


def edits_asked(model: Loaded, zero_heads: Sequence[str], record: Path | None) -> Edits | None:
    """Return the record of a file, with these heads switched off besides; None if nothing is asked.

    Heads are named by side, block and head, counted from 1. Without a side, they are those of the only one, or of a
    translator's attention to the source.
    """
    if not zero_heads and record is None:
        return None
    read = Edits(edits=()) if record is None else Edits.load(record)
    if read.model not in (None, model.fingerprint):
        raise Fault(f"{record} belongs to another model: the checksum of its weights is different.")
    return Edits(model=model.fingerprint, edits=(*read.edits, *(_zero_head(model, name) for name in zero_heads)))


def _zero_head(model: Loaded, name: str) -> Edit:
    numbers = name.split(".")[-2:]
    if len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
        raise Fault(f"--zero-head {name} must name a block and a head, counted from 1, such as 3.2 or cross.3.2.")
    sides = {side for side, _ in numbered_blocks(model).values()}
    is_short = name.count(".") == 1 and len(sides) > 1 and "cross" in sides
    return Edit(at=f"cross.{name}" if is_short else name, part="head", do="zero")


def see_both(model: Loaded, edits: Sequence[Edit] | None, look: Callable[[], Sight]) -> tuple[Sight, Sight | None]:
    """Return what is seen under edits, and without them; without edits, only the first."""
    if not edits:
        return look(), None
    plain = look()
    with editing(model, edits):
        return look(), plain


def view_edited(model: Loaded, edits: Edits | None, view: Callable[[], View]) -> View:
    """Return a view under edits, with the output of the model without them; without edits, the view itself."""
    if edits is None or not edits.edits:
        return view()
    plain = view()
    with editing(model, edits):
        changed = view()
    outputs = [str(each.about.get("output", "")) for each in (plain, changed)]
    before, after = map(show_word, outputs) if any(outputs) else outputs  # a model that only reads has none
    heading = "\n".join([plain.heading, *edits.describe(), f"edited → {after}" if after else changed.heading])
    about = {**changed.about, "unedited": before, "edits": edits.model_dump(mode="json", exclude_none=True)}
    drawing = (
        replace(changed.drawing, edits=edits) if isinstance(changed.drawing, DrawnTranslation) else changed.drawing
    )
    edited = Edited(edits.edits, before)
    return replace(changed, heading=heading, about=about, drawing=drawing, edited=edited)
