"""Views of a model, which can be printed, shown in a notebook, and saved."""

import base64
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Protocol, runtime_checkable

from regard.base.edits import Edit
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import finite, write_file
from regard.base.notebook import frame, stacked
from regard.viewing.canvas import missing_glyphs, noted
from regard.viewing.saving import save_by
from regard.viewing.sealed import SealedPage
from regard.viewing.seen import Joining

_MOST_NAMED = 8  # edits above a picture


class Drawing(Protocol):
    """Something that can be drawn in every form."""

    def draw(self, path: Path) -> set[str]:
        """Draw a .png or .svg; return the characters that no font here can draw."""

    def lines(self, width: int, colour: bool) -> list[str]:
        """Return lines for a terminal."""

    def numbers(self) -> dict[str, Any]:
        """Return the view as plain values, for JSON."""

    def page(self) -> SealedPage:
        """Return a self-contained .html page, or refuse if the view has none."""


@runtime_checkable
class Animated(Drawing, Protocol):
    """A drawing of steps, which can be animated."""

    def animate(self, path: Path) -> None:
        """Draw a .gif."""


@runtime_checkable
class PageDrawing(Drawing, Protocol):
    """A drawing that the server's page can show too."""

    view: ClassVar[str]  # the name of its view there

    def data(self) -> dict[str, Any]:
        """Return the data of the view."""


@dataclass(frozen=True)
class DrawingRequest:
    """Options of a drawing; a drawer refuses those it does not support."""

    layer: int | None = None
    head: int | None = None
    heads: Joining | None = None  # how to join the heads
    rings: int | None = None  # number of rings around a node
    sheet: bool = False
    lines: bool = False
    tokens: bool = False

    @property
    def given(self) -> list[str]:
        """Names of the options that are set."""
        return [option.name for option in fields(self) if getattr(self, option.name)]


@dataclass(frozen=True)
class HeadsDrawing:
    """A drawing of one block of a record, with one head or all heads joined."""

    record: Any
    layer: int | None = None
    head: int | None = None
    heads: Joining = "mean"

    view: ClassVar[str]
    script: ClassVar[str]
    styles: ClassVar[tuple[str, ...]]
    picture: ClassVar[Callable[..., set[str]]]
    terminal: ClassVar[Callable[..., list[str]]]
    to_json: ClassVar[Callable[..., dict[str, Any]]]
    to_data: ClassVar[Callable[..., dict[str, Any]]]

    def draw(self, path: Path) -> set[str]:
        return self.picture(self.record, path, self.layer, self.head, self.heads)

    def lines(self, width: int, colour: bool) -> list[str]:
        return self.terminal(self.record, width, self.layer, self.head, self.heads)

    def numbers(self) -> dict[str, Any]:
        return self.to_json(self.record)

    def data(self) -> dict[str, Any]:
        return self.to_data(self.record, self.layer, self.head, self.heads)

    def page(self) -> SealedPage:
        return SealedPage(self.script, self.styles, self.data())


@dataclass(frozen=True)
class Edited:
    """The edits under which a drawing was made, and the output without them."""

    edits: Sequence[Edit]
    unedited: str

    @property
    def notes(self) -> list[str]:
        """Lines to write above a picture."""
        lines = [f"Edited: {edit.describe()}" for edit in self.edits[:_MOST_NAMED]]
        if (further := len(self.edits) - _MOST_NAMED) > 0:
            lines.append(f"And {quantity(further, 'further edit')}.")
        return [*lines, f"Without edits: {self.unedited}"] if self.unedited else lines


@dataclass(frozen=True)
class View:
    """A view of a model's attention to one text, or of what it may write, as `regard look` draws it.

    It can be printed in a terminal; a notebook shows it as the page of `regard look -o x.html`.
    """

    heading: str  # the input and the output
    drawing: Drawing
    about: Mapping[str, Any] = field(default_factory=dict)  # fields before its numbers
    edited: Edited | None = None

    def numbers(self) -> dict[str, Any]:
        """Return everything as plain values, as `regard look -o x.json` writes them."""
        return {**self.about, **self.drawing.numbers()}

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Save it in the format of the suffix: .png, .svg, .html, .json or, for steps, .gif.

        A file that exists is refused unless `overwrite` is set.
        """
        return save_by(self.write, Path(path), overwrite)

    def write(self, path: Path) -> set[str]:
        """Write a file in the format of its suffix; return the characters that no font here can draw."""
        kind = path.suffix.lower()
        if kind == ".json":
            text = json.dumps(finite(self.numbers()), ensure_ascii=False, indent=1, allow_nan=False)
            write_file(path, f"{text}\n".encode(errors="backslashreplace"))
        elif kind == ".html":
            self._page().write(path)
        elif kind in (".png", ".svg"):
            return self._draw(path)
        elif kind == ".gif":
            if not isinstance(self.drawing, Animated):
                raise Fault(
                    f"{path} would be an animation, which only views of steps have; write a .png or .html instead."
                )
            with noted(self._notes):
                self.drawing.animate(path)
        else:
            raise Fault(f"{path} does not end in .png, .svg, .html or .json; the suffix chooses the format.")
        return set()

    def __repr__(self) -> str:
        lines = self.drawing.lines(shutil.get_terminal_size().columns, colour=False)
        return "\n".join([self.heading, *lines])

    def _repr_html_(self) -> str:
        try:
            return frame(self._page().html, self.heading)
        except Fault:  # a view without a page, or too large for one, has a picture
            return stacked([_picture(self._draw)])

    @property
    def _notes(self) -> list[str]:
        return self.edited.notes if self.edited else []

    def _draw(self, path: Path) -> set[str]:
        with noted(self._notes):
            missing = self.drawing.draw(path)
        return missing | missing_glyphs(self._notes) if self._notes else missing

    def _page(self) -> SealedPage:
        page = self.drawing.page()
        if self.edited is None:
            return page
        records = [edit.model_dump(mode="json", exclude_none=True, exclude={"values"}) for edit in self.edited.edits]
        edited = {"edits": records, "unedited": self.edited.unedited}
        return replace(page, data={**page.data, "edits_made": edited})


def _picture(draw: Callable[[Path], set[str]]) -> str:
    with TemporaryDirectory(prefix="regard-") as folder:
        path = Path(folder) / "picture.png"
        draw(path)
        content = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="" style="max-width:100%" src="data:image/png;base64,{content}">'
