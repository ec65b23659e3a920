"""How attention is drawn: the kinds of its two sides, and whether it has weights or windows, choose the drawer."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from regard.base.faults import Fault
from regard.viewing.drawing import Drawing
from regard.viewing.facts import record as facts
from regard.viewing.facts.page import facts_data
from regard.viewing.frames import record as frames
from regard.viewing.frames.page import frames_data
from regard.viewing.graph import record as graph
from regard.viewing.graph.page import graph_data
from regard.viewing.lines import draw_lines
from regard.viewing.looks import LooksBetween, Manner, places_along, seen_between, word_means
from regard.viewing.matrix import Matrix, draw_matrix, draw_sheet, matrix_lines
from regard.viewing.matrix import to_json as matrices_to_json
from regard.viewing.overlay import record as overlay
from regard.viewing.overlay.page import overlay_data
from regard.viewing.page import PageScene, Start, scene_page, tinted_data
from regard.viewing.record_drawings import (
    FramesDrawing,
    GraphDrawing,
    HopsDrawing,
    OverlayDrawing,
    SlotsDrawing,
    StripDrawing,
    StrokesDrawing,
    WindowsDrawing,
)
from regard.viewing.sealed import SealedPage
from regard.viewing.seen import Block, Joining, Seen
from regard.viewing.sides import Cells, Facts, Frames, Nodes, Side, Slots, Steps, Strokes, Video, Words
from regard.viewing.slots import record as slots
from regard.viewing.slots.page import memory_data
from regard.viewing.strip import record as strip
from regard.viewing.strip.page import strip_data
from regard.viewing.strokes import record as strokes
from regard.viewing.strokes.page import stroke_data
from regard.viewing.windows import record as windows
from regard.viewing.windows.page import glimpse_data


@dataclass(frozen=True)
class DrawingRequest:
    """What to show of it, and how; a drawer refuses what it has no use for."""

    layer: int | None = None
    head: int | None = None
    heads: Joining | None = None  # how all heads are joined
    rings: int | None = None  # around a node
    sheet: bool = False
    lines: bool = False
    tokens: bool = False

    @property
    def given(self) -> list[str]:
        """The names of what was asked for."""
        return [each.name for each in fields(self) if getattr(self, each.name)]


@dataclass(frozen=True)
class Drawer:
    """One way to draw: what it draws, in words, which parts of a request it takes, and what makes the drawing."""

    draws: str
    takes: tuple[str, ...]
    make: Callable[[LooksBetween, DrawingRequest], Drawing]


def drawing_of(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Looks as the kinds of their sides ask for; what cannot be drawn so is refused in a sentence."""
    sides = (type(looks.looks_from), type(looks.looks_at))
    drawer = DRAWERS.get((looks.manner, *sides))
    if drawer is None:
        between = " to ".join(side.__name__.lower() for side in sides)
        raise Fault(f"There is no way yet to draw {looks.manner} from {between}.")
    if surplus := next((name for name in wanted.given if name not in drawer.takes), None):
        suited = next(other.draws for other in DRAWERS.values() if surplus in other.takes)
        raise Fault(f"--{surplus} goes with {suited}; what this model looks at is drawn as {drawer.draws}.")
    return drawer.make(looks, wanted)


@dataclass(frozen=True)
class _Matrices:
    looks: LooksBetween
    wanted: DrawingRequest

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

    def page(self) -> SealedPage:
        wanted = self.wanted
        words, tokens = (seen_between(self.looks, by_word) for by_word in (True, False))
        words.one(wanted.layer, wanted.head)  # what the page is to show first must be there
        mode: Literal["words", "tokens"] = "tokens" if wanted.tokens else "words"
        start = Start(self.looks.name, wanted.layer, wanted.head or wanted.heads or "mean", mode)
        return scene_page(PageScene(self.looks.text, self.looks.output, [words], [tokens], start=start))


def _graph(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    assert isinstance(looks.looks_at, Nodes)
    assert looks.edges is not None
    centre = looks.looks_at.centres[0]
    record = graph.neighbourhood_of(looks.looks_at, looks.edges, looks.blocks, centre, wanted.rings or 1)
    return GraphDrawing(record, wanted.layer, wanted.head)


def _overlay(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    assert isinstance(looks.looks_at, Cells)
    assert looks.looks_at.grid is not None
    names, of_row = places_along(looks.looks_from, looks.looks_at, by_word=not wanted.tokens)
    blocks = [Block(block.where, word_means(of_row) @ block.weights) for block in looks.blocks]
    record = overlay.Overlay(looks.title, looks.looks_at.picture, looks.looks_at.grid, names, blocks)
    return OverlayDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")


def _strip(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    assert isinstance(looks.looks_at, Video)
    names, of_row = places_along(looks.looks_from, looks.looks_at, by_word=not wanted.tokens)
    blocks = [Block(block.where, word_means(of_row) @ block.weights) for block in looks.blocks]
    record = strip.Strip(looks.title, looks.looks_at.frames, names, blocks)
    return StripDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")


def _overlay_by_step(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Cells that look at steps or at words: over the picture, what each of these has of every cell."""
    assert isinstance(looks.looks_from, Cells)
    assert looks.looks_from.grid is not None
    names, of_column = places_along(looks.looks_at, looks.looks_from, by_word=True)
    joined = (word_means(of_column) > 0).astype(float)  # summed over the tokens of a word
    blocks = [Block(block.where, joined @ block.weights.transpose(0, 2, 1)) for block in looks.blocks]
    record = overlay.Overlay(looks.title, looks.looks_from.picture, looks.looks_from.grid, names, blocks)
    return OverlayDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")


def _overlay_by_cell(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Cells that look at cells of the same picture: a panel for each that looks, by its row and column."""
    assert isinstance(looks.looks_at, Cells)
    assert looks.looks_at.grid is not None
    rows, columns = looks.looks_at.grid
    names = [f"{row + 1}, {column + 1}" for row in range(rows) for column in range(columns)]
    blocks = list(looks.blocks)
    if looks.looks_at.looked_back_at:  # before the first cell stands what is no cell, and nobody sees the last
        blocks = [Block(block.where, _without_first(block.weights)) for block in blocks]
    record = overlay.Overlay(looks.title, looks.looks_at.picture, (rows, columns), names, blocks, steps_are_cells=True)
    return OverlayDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")


def _without_first(weights: np.ndarray) -> np.ndarray:
    """Weights (head, row, column) whose columns stand one place late, put right."""
    return np.concatenate([weights[..., 1:], np.zeros_like(weights[..., :1])], axis=-1)


def _windows(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    assert isinstance(looks.looks_from, Steps)
    assert isinstance(looks.looks_at, Cells)
    assert looks.windows is not None
    return WindowsDrawing(
        windows.GlimpsePath(looks.title, looks.looks_at.picture, list(looks.looks_from.names), *looks.windows)
    )


def _hops(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    assert isinstance(looks.looks_from, Steps)
    assert isinstance(looks.looks_at, Facts)
    story, (block,) = looks.looks_at, looks.blocks
    weights = block.weights[0][:, : len(story.lines)]  # behind the facts there may be empty slots
    names = list(looks.looks_from.names)
    return HopsDrawing(
        facts.Hops(list(story.lines), story.question, looks.output, names, weights, list(story.forgotten))
    )


def _slots(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    assert isinstance(looks.looks_from, Steps)
    assert isinstance(looks.looks_at, Slots)
    (block,) = looks.blocks
    steps, heads = looks.looks_from, list(looks.looks_at.heads)
    use = slots.MemoryUse(looks.title, list(steps.names), heads, block.weights, steps.given, steps.answered)
    return SlotsDrawing(use.of_head(wanted.head))


def _frames(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    assert isinstance(looks.looks_from, Frames)
    sound = looks.looks_from
    rows, of_column = places_along(looks.looks_at, looks.looks_from, by_word=not wanted.tokens)
    joined = (word_means(of_column) > 0).T.astype(float)  # summed over the symbols of a word
    blocks = [Block(block.where, block.weights @ joined) for block in looks.blocks]
    record = frames.FrameLooks(looks.title, sound.samples, sound.rate, sound.seconds, rows, blocks, sound.bands)
    return FramesDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")


def _strokes(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    assert isinstance(looks.looks_at, Strokes)
    side = looks.looks_at
    means = word_means(side.places)
    blocks = [Block(block.where, means @ block.weights @ (means > 0).T.astype(float)) for block in looks.blocks]
    record = strokes.StrokeLooks(looks.title, side.points, side.ends, blocks)
    return StrokesDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")


_MATRIX = Drawer("a matrix", ("layer", "head", "heads", "sheet", "lines", "tokens"), _Matrices)
_GRAPH = Drawer("a graph", ("layer", "head", "rings"), _graph)
_OVERLAY = Drawer("weights over a picture", ("layer", "head", "heads", "tokens"), _overlay)
_OVERLAY_BY_STEP = Drawer("weights over a picture", ("layer", "head", "heads"), _overlay_by_step)
_OVERLAY_BY_CELL = Drawer("weights over a picture", ("layer", "head", "heads"), _overlay_by_cell)
_STRIP = Drawer("a strip of frames", ("layer", "head", "heads", "tokens"), _strip)
_WINDOWS = Drawer("windows on a picture", (), _windows)
_FRAMES = Drawer("weights under a waveform", ("layer", "head", "heads", "tokens"), _frames)
_HOPS = Drawer("hops through a story", (), _hops)
_STROKES = Drawer("the strokes of a drawing", ("layer", "head", "heads"), _strokes)
_SLOTS = Drawer("the slots of a memory", ("head",), _slots)

DRAWERS: dict[tuple[Manner, type[Side], type[Side]], Drawer] = {
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


def page_view(looks: LooksBetween) -> tuple[str, dict[str, Any]]:
    """The view on the page of a server that shows looks, by its name, and what it takes."""
    match drawing_of(looks, DrawingRequest()):
        case GraphDrawing(record):
            return "graph", graph_data(record)
        case OverlayDrawing(record):
            return "overlay", overlay_data(record)
        case StripDrawing(record):
            return "strip", strip_data(record)
        case WindowsDrawing(record):
            return "windows", glimpse_data(record)
        case FramesDrawing(record):
            return "frames", frames_data(record)
        case HopsDrawing(record):
            return "facts", facts_data(record)
        case StrokesDrawing(record):
            return "strokes", stroke_data(record)
        case SlotsDrawing(record):
            return "slots", memory_data(record)
        case _Matrices(seen=seen):
            return "tinted", tinted_data(seen, looks.title)
    raise Fault("What this model looks at has no view on this page yet; `regard look` draws it.")
