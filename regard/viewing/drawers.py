"""The table of drawers: the kinds of the two sides, and weights, edges or windows, decide how attention is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.plugins import Table
from regard.viewing import facts, frames, graph, overlay, slots, strip, strokes, windows
from regard.viewing.lines import draw_lines
from regard.viewing.looks import LooksBetween, Manner, seen_between
from regard.viewing.matrix import Matrix, draw_matrix, draw_sheet, matrix_lines
from regard.viewing.matrix import to_json as matrices_to_json
from regard.viewing.page import PageScene, Start, scene_page, tinted_data
from regard.viewing.sealed import SealedPage
from regard.viewing.seen import Seen
from regard.viewing.sides import Cells, Facts, Frames, Nodes, Slots, Steps, Strokes, Video, Words
from regard.viewing.view import Drawing, DrawingRequest, PageDrawing


@dataclass(frozen=True)
class Drawer:
    """A way to draw: a description, the request options it accepts, and the function that makes the drawing."""

    draws: str
    takes: tuple[str, ...]
    make: Callable[[LooksBetween, DrawingRequest], Drawing] | str  # a plugin gives it as module:name

    def draw(self, looks: LooksBetween, request: DrawingRequest) -> Drawing:
        """Return the drawing of some attention."""
        make = find_place(self.make) if isinstance(self.make, str) else self.make
        drawing: Drawing = make(looks, request)
        return drawing


def drawing_of(looks: LooksBetween, request: DrawingRequest) -> Drawing:
    """Return the drawing for the kinds of both sides; refuse options that it does not accept."""
    sides = (type(looks.looks_from), type(looks.looks_at))
    drawer = DRAWERS.get((looks.manner, *sides))
    if drawer is None:
        between = " to ".join(side.__name__.lower() for side in sides)
        raise Fault(f"There is no drawing yet for {looks.manner} from {between}.")
    if surplus := next((name for name in request.given if name not in drawer.takes), None):
        description = next(other.draws for other in DRAWERS.values() if surplus in other.takes)
        raise Fault(f"--{surplus} goes with {description}; the attention of this model is drawn as {drawer.draws}.")
    return drawer.draw(looks, request)


@dataclass(frozen=True)
class _Matrices:
    looks: LooksBetween
    wanted: DrawingRequest

    view: ClassVar[str] = "tinted"

    @property
    def seen(self) -> Seen:
        return seen_between(self.looks, by_word=not self.wanted.tokens)

    @property
    def matrices(self) -> list[Matrix]:
        wanted = self.wanted
        return self.seen.every() if wanted.sheet else [self.seen.one(wanted.layer, wanted.head, wanted.heads or "mean")]

    def draw(self, path: Path) -> set[str]:
        if self.wanted.sheet:
            return draw_sheet(self.matrices, path, self.seen.heads)
        (matrix,) = self.matrices
        return draw_lines(matrix, path) if self.wanted.lines else draw_matrix(matrix, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return [line for matrix in self.matrices for line in matrix_lines(matrix, width, colour)]

    def numbers(self) -> dict[str, Any]:
        return matrices_to_json(self.matrices)

    def data(self) -> dict[str, Any]:
        return tinted_data(self.seen, self.looks.title)

    def page(self) -> SealedPage:
        wanted = self.wanted
        words, tokens = (seen_between(self.looks, by_word) for by_word in (True, False))
        words.one(wanted.layer, wanted.head)  # refuses a first view that does not exist
        mode: Literal["words", "tokens"] = "tokens" if wanted.tokens else "words"
        start = Start(self.looks.name, wanted.layer, wanted.head or wanted.heads or "mean", mode)
        return scene_page(PageScene(self.looks.text, self.looks.output, [words], [tokens], start=start))


_MATRIX = Drawer("a matrix", ("layer", "head", "heads", "sheet", "lines", "tokens"), _Matrices)
_GRAPH = Drawer("a graph", ("layer", "head", "rings"), graph.from_looks)
_OVERLAY = Drawer("weights over a picture", ("layer", "head", "heads", "tokens"), overlay.from_looks)
_OVERLAY_BY_STEP = Drawer("weights over a picture", ("layer", "head", "heads"), overlay.from_looks_of_cells)
_OVERLAY_BY_CELL = Drawer("weights over a picture", ("layer", "head", "heads"), overlay.from_looks_among_cells)
_STRIP = Drawer("a strip of frames", ("layer", "head", "heads", "tokens"), strip.from_looks)
_WINDOWS = Drawer("windows on a picture", (), windows.from_looks)
_FRAMES = Drawer("weights under a waveform", ("layer", "head", "heads", "tokens"), frames.from_looks)
_HOPS = Drawer("hops through a story", (), facts.from_looks)
_STROKES = Drawer("the strokes of a drawing", ("layer", "head", "heads"), strokes.from_looks)
_SLOTS = Drawer("the slots of a memory", ("head",), slots.from_looks)

_DRAWERS: dict[tuple[Manner, type, type], Drawer] = {
    ("weights", Words, Words): _MATRIX,
    ("weights", Steps, Words): _MATRIX,
    ("weights", Words, Cells): _OVERLAY,
    ("weights", Steps, Cells): _OVERLAY,
    ("weights", Words, Video): _STRIP,
    ("weights", Cells, Steps): _OVERLAY_BY_STEP,
    ("weights", Cells, Words): _OVERLAY_BY_STEP,
    ("weights", Cells, Cells): _OVERLAY_BY_CELL,
    ("edges", Nodes, Nodes): _GRAPH,
    ("windows", Steps, Cells): _WINDOWS,
    ("weights", Frames, Steps): _FRAMES,
    ("weights", Frames, Words): _FRAMES,
    ("weights", Frames, Frames): _FRAMES,
    ("weights", Steps, Facts): _HOPS,
    ("weights", Steps, Slots): _SLOTS,
    ("weights", Strokes, Strokes): _STROKES,
}
DRAWERS: Table[tuple[Manner, type, type], Drawer] = Table("views", "view", Drawer, _DRAWERS)


def page_view(looks: LooksBetween) -> tuple[str, dict[str, Any]]:
    """Return the name of the server page's view for some attention, and its data."""
    drawing = drawing_of(looks, DrawingRequest())
    if not isinstance(drawing, PageDrawing):
        raise Fault("What this model looks at has no view on this page yet; `regard look` draws it.")
    return drawing.view, drawing.data()
