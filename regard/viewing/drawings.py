"""Generated drawings: requests, their steps, and sheets of several drawings."""

import io
import math
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from regard.base.pauses import between_steps

if TYPE_CHECKING:
    from PIL.Image import Image

_CANVAS_SIDE = 168  # approximate pixels of a canvas's longer side when shown
_RED = np.array([226, 54, 44], np.uint8)
_SIDE = 200  # pixels of a picture
_MARGIN = 14
_FINER = 3  # supersampling factor, for smooth lines
_FRAMES = 40  # maximum for an animation
_GIVEN, _DRAWN = "#5b6470", "#1a5fb4"  # colours of given strokes, and of the model's
_GAP = 6  # pixels between two drawings, and around all of them
_PAPER = (214, 217, 222)
_LONGEST = 4.0  # seconds of an animation before its last picture
_PACE, _REST = 110, 2500  # milliseconds: maximum for a frame, and for the last one


class Drawn(Protocol):
    """A drawing made step by step; its pictures are (height, width, 3) bytes, all of the same size."""

    def picture(self) -> np.ndarray:
        """Return the finished picture."""

    def frames(self) -> list[np.ndarray]:
        """Return the picture after each step, with the place where that step drew."""

    def as_dict(self) -> dict[str, Any]:
        """Return the drawing as plain values, for JSON."""


@dataclass(frozen=True)
class SketchRequest:
    """Strokes to draw: from nothing, continuing a drawing, or from the summary of one or two drawings.

    `temperature` is the sampling temperature: below 1, probable steps are chosen more often.
    """

    way: Literal["nothing", "complete", "between", "reconstruct"] = "nothing"
    strokes: Sequence[Sequence[np.ndarray]] = ()  # for each given drawing, its strokes of points (point, 2)
    temperature: float = 1.0


@dataclass(frozen=True)
class WritingWindow:
    """The square through which a step drew: its centre across and down, its side and its blur σ, all in pixels.

    Pixels are counted from the upper left corner; the centre of the first pixel is at 0.5.
    """

    across: float
    down: float
    side: float
    blur: float

    def as_dict(self) -> dict[str, float]:
        return {name: round(value, 4) for name, value in vars(self).items()}


@dataclass(frozen=True)
class DrawnCanvas:
    """A picture after each step, grey (step, height, width) or in colours (step, height, width, 3), from 0 to 1.

    `windows` are those through which it drew, if any.
    """

    canvases: np.ndarray
    windows: list[WritingWindow] | None = None

    def picture(self) -> np.ndarray:
        return self._enlarge(self.canvases[-1])

    def frames(self) -> list[np.ndarray]:
        frames = [self._enlarge(canvas) for canvas in self.canvases]
        for frame, window in zip(frames, self.windows or [], strict=False):
            self._outline(frame, window)
        return frames

    def as_dict(self) -> dict[str, Any]:
        windows = None if self.windows is None else [window.as_dict() for window in self.windows]
        picture = np.clip(self.canvases[-1].astype(float), 0, 1)  # a rounded float32 would be written with more digits
        return {"picture": picture.round(4).tolist(), "steps": len(self.canvases), "windows": windows}

    def __repr__(self) -> str:
        steps, height, width = self.canvases.shape[:3]
        return f"DrawnCanvas({height} × {width}, {steps} steps)"

    def _repr_html_(self) -> str:
        content = b64encode(sheet_png([[self.picture()]])).decode()
        return f'<img alt="{self!r}" src="data:image/png;base64,{content}">'

    @property
    def _scale(self) -> int:
        return max(1, round(_CANVAS_SIDE / max(self.canvases.shape[1:3])))

    def _enlarge(self, canvas: np.ndarray) -> np.ndarray:
        bytes_ = np.rint(np.clip(canvas, 0, 1) * 255).astype(np.uint8)
        large = bytes_.repeat(self._scale, axis=0).repeat(self._scale, axis=1)
        return large if large.ndim == 3 else np.repeat(large[:, :, None], 3, axis=2)

    def _outline(self, frame: np.ndarray, window: WritingWindow) -> None:
        """Draw the border of a window, thicker for more blur (figure 7 of Gregor et al. 2015)."""
        height, width = frame.shape[:2]
        half, across, down = (self._scale * value for value in (window.side / 2, window.across, window.down))
        border = max(1, min(round(self._scale * window.blur / 2), max(1, round(half / 2))))
        outside = np.maximum(
            np.abs(np.arange(width) + 0.5 - across)[None, :], np.abs(np.arange(height) + 0.5 - down)[:, None]
        )
        frame[(outside <= max(half, border)) & (outside > max(half, border) - border)] = _RED


@dataclass(frozen=True)
class DrawnStrokes:
    """Strokes as points (point, 2), to the right and down; the first `begun` points were given to the model."""

    strokes: Sequence[np.ndarray]
    begun: int = 0

    def picture(self) -> np.ndarray:
        return self._picture(self._points)

    def frames(self) -> list[np.ndarray]:
        counts = np.linspace(min(self.begun + 1, self._points), self._points, min(_FRAMES, self._points)).round()
        return [self._picture(count) for count in counts.astype(int)]

    def as_dict(self) -> dict[str, Any]:
        return {"strokes": [np.round(stroke, 2).tolist() for stroke in self.strokes], "begun": self.begun}

    def as_svg(self, across: int = 0, down: int = 0) -> str:
        """Return its strokes as SVG polylines, moved right and down by these multiples of `_SIDE` pixels."""
        lines = []
        for stroke, is_given in self._pieces(self._points):
            coordinates = " ".join(f"{x + across * _SIDE:.1f},{y + down * _SIDE:.1f}" for x, y in self._placed(stroke))
            lines.append(f'<polyline points="{coordinates}" stroke="{_GIVEN if is_given else _DRAWN}"/>')
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"DrawnStrokes({len(self.strokes)} strokes, {self._points} points)"

    def _repr_html_(self) -> str:
        return f'<img alt="{self!r}" src="data:image/svg+xml;base64,{b64encode(svg_sheet([self])).decode()}">'

    @property
    def _points(self) -> int:
        return sum(map(len, self.strokes))

    def _pieces(self, count: int) -> list[tuple[np.ndarray, bool]]:
        """Return the strokes of the first `count` points, cut where the given part ends, and whether each was given."""
        pieces, first = [], 0
        for stroke in self.strokes:
            given = stroke[: max(0, min(self.begun, count) - first)]
            drawn = stroke[max(0, self.begun - first - 1) : max(0, count - first)]
            pieces += [(given, True)] * bool(len(given))
            if self.begun - first < len(stroke):
                pieces += [(drawn, False)] * bool(len(drawn))
            first += len(stroke)
        return pieces

    def _placed(self, points: np.ndarray) -> np.ndarray:
        """Return points in pixels, with the whole drawing centred and as large as possible."""
        points_ = np.concatenate(list(self.strokes))
        low, high = points_.min(axis=0), points_.max(axis=0)
        scale = (_SIDE - 2 * _MARGIN) / max(float((high - low).max()), 1.0)
        return (points - (low + high) / 2) * scale + _SIDE / 2

    def _picture(self, count: int) -> np.ndarray:
        from PIL import Image, ImageDraw

        large = Image.new("RGB", (_SIDE * _FINER, _SIDE * _FINER), "white")
        pen = ImageDraw.Draw(large)
        for stroke, is_given in self._pieces(count):
            points = [tuple(point) for point in self._placed(stroke) * _FINER]
            colour, width = _GIVEN if is_given else _DRAWN, 2 * _FINER
            if len(points) > 1:
                pen.line(points, fill=colour, width=width, joint="curve")
            for x, y in (points[0], points[-1]):  # round ends, and single points
                pen.ellipse([x - width / 2, y - width / 2, x + width / 2, y + width / 2], fill=colour)
        return np.asarray(large.resize((_SIDE, _SIDE), Image.Resampling.LANCZOS))


def svg_sheet(drawings: Sequence[DrawnStrokes]) -> bytes:
    """Return an .svg with these drawings in about as many rows as columns."""
    across = int(np.ceil(np.sqrt(len(drawings))))
    rows = -(-len(drawings) // across)
    size = f'width="{across * _SIDE}" height="{rows * _SIDE}" viewBox="0 0 {across * _SIDE} {rows * _SIDE}"'
    style = 'fill="none" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"'
    lines = [drawing.as_svg(number % across, number // across) for number, drawing in enumerate(drawings)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<rect width="100%" height="100%" fill="white"/>\n'
        f"<g {style}>\n" + "\n".join(lines) + "\n</g>\n</svg>\n"
    ).encode()


def in_rows(pictures: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
    """Arrange pictures in rows, so that the sheet is about square."""
    across = math.ceil(math.sqrt(len(pictures)))
    return [list(pictures[first : first + across]) for first in range(0, len(pictures), across)]


def spread(frames: Sequence[np.ndarray], count: int) -> list[np.ndarray]:
    """Return `count` frames from the first to the last at even distances; all of them if there are fewer."""
    places = np.linspace(0, len(frames) - 1, min(count, len(frames))).round().astype(int)
    return [frames[place] for place in places]


def sheet_png(rows: Sequence[Sequence[np.ndarray]]) -> bytes:
    """Return a .png with these rows of pictures (height, width, 3), all of one size."""
    file = io.BytesIO()
    _sheet(rows).save(file, "PNG", optimize=True)
    return file.getvalue()


def sheet_gif(drawings: Sequence[Sequence[np.ndarray]]) -> bytes:
    """Return a .gif that animates all drawings at once; one with fewer frames waits for the others."""
    from PIL import Image

    steps = max(map(len, drawings))
    sheets = [_sheet(in_rows([frames[min(step, len(frames) - 1)] for frames in drawings])) for step in range(steps)]
    first, *others = [sheet.quantize(128, Image.Quantize.FASTOCTREE) for sheet in sheets]
    pace = max(20, min(_PACE, round(1000 * _LONGEST / steps)) // 10 * 10)  # a GIF counts hundredths of a second
    file = io.BytesIO()
    durations = [pace] * len(others) + [_REST]
    first.save(file, "GIF", save_all=True, append_images=others, duration=durations, loop=0, optimize=True)
    return file.getvalue()


def _sheet(rows: Sequence[Sequence[np.ndarray]]) -> "Image":
    from PIL import Image

    between_steps()
    height, width = rows[0][0].shape[:2]
    across = max(map(len, rows))
    sheet = Image.new("RGB", (across * (width + _GAP) + _GAP, len(rows) * (height + _GAP) + _GAP), _PAPER)
    for row, pictures in enumerate(rows):
        for column, picture in enumerate(pictures):
            sheet.paste(Image.fromarray(picture), (_GAP + column * (width + _GAP), _GAP + row * (height + _GAP)))
    return sheet
