"""What can be seen of a model, in the hand: it shows itself in a terminal and in a notebook, and saves itself."""

import base64
import json
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from regard.base.faults import Fault
from regard.base.files import finite, write_file
from regard.base.notebook import frame, stacked
from regard.viewing.drawing import Animated, Drawing


@dataclass(frozen=True)
class View:
    """What a model looked at, or may write, while it read one text: what `regard look` draws.

    It shows itself in a terminal and, as the page of `regard look -o x.html`, in a notebook.
    """

    heading: str  # what was read, and what came of it
    drawing: Drawing
    about: Mapping[str, Any] = field(default_factory=dict)  # what stands before its numbers

    def numbers(self) -> dict[str, Any]:
        """All of it as plain values, as `regard look -o x.json` writes them."""
        return {**self.about, **self.drawing.numbers()}

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Save it as the suffix of the file asks: .png, .svg, .html, .json or, of what happens step by
        step, .gif; a file that exists is refused."""
        path = Path(path)
        if path.exists() and not overwrite:
            raise Fault(f"{path} exists already; give overwrite=True to replace it.")
        if missing := self.write(path):
            warnings.warn(f"No font here can draw {' '.join(sorted(missing))}.", stacklevel=2)
        return path

    def write(self, path: Path) -> set[str]:
        """Write the kind of file that its suffix asks for; gives the characters that no font here can draw."""
        kind = path.suffix.lower()
        if kind == ".json":
            text = json.dumps(finite(self.numbers()), ensure_ascii=False, indent=1, allow_nan=False)
            write_file(path, f"{text}\n".encode(errors="backslashreplace"))
        elif kind == ".html":
            self.drawing.page().write(path)
        elif kind in (".png", ".svg"):
            return self.drawing.draw(path)
        elif kind == ".gif":
            if not isinstance(self.drawing, Animated):
                raise Fault(
                    f"{path} would be an animation, which is for what is looked at step by step; draw a .png or .html."
                )
            self.drawing.animate(path)
        else:
            raise Fault(f"{path} is neither .png, .svg, .html nor .json; the suffix says what to draw.")
        return set()

    def __repr__(self) -> str:
        lines = self.drawing.lines(shutil.get_terminal_size().columns, colour=False)
        return "\n".join([self.heading, *lines])

    def _repr_html_(self) -> str:
        try:
            return frame(self.drawing.page().html, self.heading)
        except Fault:  # what has no page, or would be too large for one, has a picture
            return stacked([_picture(self.drawing)])


def _picture(drawing: Drawing) -> str:
    with TemporaryDirectory(prefix="regard-") as folder:
        path = Path(folder) / "picture.png"
        drawing.draw(path)
        content = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="" style="max-width:100%" src="data:image/png;base64,{content}">'
