"""What was looked at, drawn in each of its forms: in a file, in a terminal, as numbers, as a page."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from regard.viewing.facts import record as facts
from regard.viewing.facts.page import facts_page
from regard.viewing.facts.picture import draw_hops
from regard.viewing.facts.terminal import facts_lines
from regard.viewing.frames import record as frames
from regard.viewing.frames.page import frames_page
from regard.viewing.frames.picture import draw_frames
from regard.viewing.frames.terminal import frames_lines
from regard.viewing.graph import record as graph
from regard.viewing.graph.page import graph_page
from regard.viewing.graph.picture import draw_neighbourhood
from regard.viewing.graph.terminal import neighbourhood_lines
from regard.viewing.overlay import record as overlay
from regard.viewing.overlay.page import overlay_page
from regard.viewing.overlay.picture import draw_overlay
from regard.viewing.overlay.terminal import overlay_lines
from regard.viewing.sealed import SealedPage
from regard.viewing.seen import Joining
from regard.viewing.slots import record as slots
from regard.viewing.slots.animation import animate_memory_use
from regard.viewing.slots.page import memory_page
from regard.viewing.slots.picture import draw_memory_use
from regard.viewing.slots.terminal import memory_lines
from regard.viewing.strip import record as strip
from regard.viewing.strip.page import strip_page
from regard.viewing.strip.picture import draw_strip
from regard.viewing.strip.terminal import strip_lines
from regard.viewing.strokes import record as strokes
from regard.viewing.strokes.page import stroke_page
from regard.viewing.strokes.picture import draw_stroke_looks
from regard.viewing.strokes.terminal import stroke_lines
from regard.viewing.windows import record as windows
from regard.viewing.windows.animation import animate_glimpses
from regard.viewing.windows.page import glimpse_page
from regard.viewing.windows.picture import draw_glimpses
from regard.viewing.windows.terminal import glimpse_lines


@dataclass(frozen=True)
class GraphDrawing:
    record: graph.Neighbourhood
    layer: int | None
    head: int | None

    def draw(self, path: Path) -> set[str]:
        return draw_neighbourhood(self.record, path, self.layer, self.head)

    def lines(self, width: int, colour: bool) -> list[str]:
        return neighbourhood_lines(self.record, width, colour, self.layer, self.head)

    def numbers(self) -> dict[str, Any]:
        return graph.to_json(self.record)

    def page(self) -> SealedPage:
        return graph_page(self.record, self.layer, self.head)


@dataclass(frozen=True)
class _OfHeads:
    """A record of which one block is shown, and of that one head or all of them joined."""

    record: Any
    layer: int | None
    head: int | None
    heads: Joining

    picture: ClassVar[Callable[..., set[str]]]
    terminal: ClassVar[Callable[..., list[str]]]
    to_json: ClassVar[Callable[..., dict[str, Any]]]
    html: ClassVar[Callable[..., SealedPage]]

    def draw(self, path: Path) -> set[str]:
        return self.picture(self.record, path, self.layer, self.head, self.heads)

    def lines(self, width: int, colour: bool) -> list[str]:
        return self.terminal(self.record, width, self.layer, self.head, self.heads)

    def numbers(self) -> dict[str, Any]:
        return self.to_json(self.record)

    def page(self) -> SealedPage:
        return self.html(self.record, self.layer, self.head, self.heads)


class OverlayDrawing(_OfHeads):
    picture, terminal = staticmethod(draw_overlay), staticmethod(overlay_lines)
    to_json, html = staticmethod(overlay.to_json), staticmethod(overlay_page)


class StripDrawing(_OfHeads):
    picture, terminal = staticmethod(draw_strip), staticmethod(strip_lines)
    to_json, html = staticmethod(strip.to_json), staticmethod(strip_page)


class FramesDrawing(_OfHeads):
    picture, terminal = staticmethod(draw_frames), staticmethod(frames_lines)
    to_json, html = staticmethod(frames.to_json), staticmethod(frames_page)


class StrokesDrawing(_OfHeads):
    picture, terminal = staticmethod(draw_stroke_looks), staticmethod(stroke_lines)
    to_json, html = staticmethod(strokes.to_json), staticmethod(stroke_page)


@dataclass(frozen=True)
class WindowsDrawing:
    record: windows.GlimpsePath

    def draw(self, path: Path) -> set[str]:
        return draw_glimpses(self.record, path)

    def animate(self, path: Path) -> None:
        animate_glimpses(self.record, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return glimpse_lines(self.record, width, colour)

    def numbers(self) -> dict[str, Any]:
        return windows.to_json(self.record)

    def page(self) -> SealedPage:
        return glimpse_page(self.record)


@dataclass(frozen=True)
class HopsDrawing:
    record: facts.Hops

    def draw(self, path: Path) -> set[str]:
        return draw_hops(self.record, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return facts_lines(self.record, width, colour)

    def numbers(self) -> dict[str, Any]:
        return facts.to_json(self.record)

    def page(self) -> SealedPage:
        return facts_page(self.record)


@dataclass(frozen=True)
class SlotsDrawing:
    record: slots.MemoryUse

    def draw(self, path: Path) -> set[str]:
        return draw_memory_use(self.record, path)

    def animate(self, path: Path) -> None:
        animate_memory_use(self.record, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return memory_lines(self.record, width, colour)

    def numbers(self) -> dict[str, Any]:
        return slots.to_json(self.record)

    def page(self) -> SealedPage:
        return memory_page(self.record)
