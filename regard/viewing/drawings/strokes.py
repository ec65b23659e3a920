"""A drawing of strokes: as a picture that grows stroke by stroke, as an SVG, and as numbers."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

_SIDE = 200  # pixels of a picture
_MARGIN = 14
_FINER = 3  # times as many pixels are drawn as shown, so that lines are smooth
_FRAMES = 40  # of an animation, at most
_GIVEN, _DRAWN = "#5b6470", "#1a5fb4"  # what people drew, and what the model did


@dataclass(frozen=True)
class DrawnStrokes:
    """Strokes as points (point, 2), to the right and down; the first `begun` points of all were given to the model."""

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
        """Its lines as polylines of an SVG, moved so many places of `_SIDE` pixels to the right and down."""
        lines = []
        for stroke, is_given in self._pieces(self._points):
            shown = " ".join(f"{x + across * _SIDE:.1f},{y + down * _SIDE:.1f}" for x, y in self._placed(stroke))
            lines.append(f'<polyline points="{shown}" stroke="{_GIVEN if is_given else _DRAWN}"/>')
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"DrawnStrokes({len(self.strokes)} strokes, {self._points} points)"

    def _repr_html_(self) -> str:
        return f'<img alt="{self!r}" src="data:image/svg+xml;base64,{b64encode(svg_sheet([self])).decode()}">'

    @property
    def _points(self) -> int:
        return sum(map(len, self.strokes))

    def _pieces(self, count: int) -> list[tuple[np.ndarray, bool]]:
        """The strokes up to so many points, cut where what was given ends, and whether each piece was given."""
        pieces, first = [], 0
        for stroke in self.strokes:
            given = stroke[: max(0, min(self.begun, count) - first)]
            own = stroke[max(0, self.begun - first - 1) : max(0, count - first)]
            pieces += [(given, True)] * bool(len(given))
            if self.begun - first < len(stroke):
                pieces += [(own, False)] * bool(len(own))
            first += len(stroke)
        return pieces

    def _placed(self, points: np.ndarray) -> np.ndarray:
        """Points in pixels: the whole drawing in the middle, as large as there is room for."""
        every = np.concatenate(list(self.strokes))
        low, high = every.min(axis=0), every.max(axis=0)
        scale = (_SIDE - 2 * _MARGIN) / max(float((high - low).max()), 1.0)
        return (points - (low + high) / 2) * scale + _SIDE / 2

    def _picture(self, count: int) -> np.ndarray:
        large = Image.new("RGB", (_SIDE * _FINER, _SIDE * _FINER), "white")
        pen = ImageDraw.Draw(large)
        for stroke, is_given in self._pieces(count):
            points = [tuple(point) for point in self._placed(stroke) * _FINER]
            colour, width = _GIVEN if is_given else _DRAWN, 2 * _FINER
            if len(points) > 1:
                pen.line(points, fill=colour, width=width, joint="curve")
            for x, y in (points[0], points[-1]):  # round ends, and points alone
                pen.ellipse([x - width / 2, y - width / 2, x + width / 2, y + width / 2], fill=colour)
        return np.asarray(large.resize((_SIDE, _SIDE), Image.Resampling.LANCZOS))


def svg_sheet(drawings: Sequence[DrawnStrokes]) -> bytes:
    """The content of an .svg with these drawings in rows, about as many as columns."""
    across = int(np.ceil(np.sqrt(len(drawings))))
    rows = -(-len(drawings) // across)
    size = f'width="{across * _SIDE}" height="{rows * _SIDE}" viewBox="0 0 {across * _SIDE} {rows * _SIDE}"'
    style = 'fill="none" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"'
    lines = [each.as_svg(number % across, number // across) for number, each in enumerate(drawings)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<rect width="100%" height="100%" fill="white"/>\n'
        f"<g {style}>\n" + "\n".join(lines) + "\n</g>\n</svg>\n"
    ).encode()
