"""What may be asked of strokes, and what comes of drawing: its looks at last and after each step, and its numbers."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

_SIDE = 168  # pixels, about, of the longer side of a canvas as it is shown
_RED = np.array([226, 54, 44], np.uint8)


class Drawn(Protocol):
    """A drawing that came to be step by step; pictures have (height, width, 3) bytes, all of a drawing alike."""

    def picture(self) -> np.ndarray:
        """How it looks at last."""

    def frames(self) -> list[np.ndarray]:
        """How it looked after each step, with where that step drew."""

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""


@dataclass(frozen=True)
class SketchRequest:
    """What strokes are to be drawn: from nothing, on from those of a drawing, or from what sums one or two of them up.

    The temperature is how freely steps are chosen: at 1 as the model learnt them, below it probable ones more often.
    """

    way: Literal["nothing", "complete", "between", "reconstruct"] = "nothing"
    strokes: Sequence[Sequence[np.ndarray]] = ()  # of each drawing that is given, strokes of points (point, 2)
    temperature: float = 1.0


@dataclass(frozen=True)
class WritingWindow:
    """The square through which a step drew: its centre across and down, its side and its blur σ, all in pixels.

    Pixels are counted from the upper left corner, whose first pixel has its middle at 0.5.
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

    There are windows where it drew through any.
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
        picture = np.clip(self.canvases[-1].astype(float), 0, 1)  # a float32 is not written as it was rounded
        return {"picture": picture.round(4).tolist(), "steps": len(self.canvases), "windows": windows}

    def __repr__(self) -> str:
        steps, height, width = self.canvases.shape[:3]
        return f"DrawnCanvas({height} × {width}, {steps} steps)"

    def _repr_html_(self) -> str:
        from regard.viewing.drawings.sheet import sheet_png  # which a library for pictures comes with

        content = b64encode(sheet_png([[self.picture()]])).decode()
        return f'<img alt="{self!r}" src="data:image/png;base64,{content}">'

    @property
    def _scale(self) -> int:
        return max(1, round(_SIDE / max(self.canvases.shape[1:3])))

    def _enlarge(self, canvas: np.ndarray) -> np.ndarray:
        bytes_ = np.rint(np.clip(canvas, 0, 1) * 255).astype(np.uint8)
        large = bytes_.repeat(self._scale, axis=0).repeat(self._scale, axis=1)
        return large if large.ndim == 3 else np.repeat(large[:, :, None], 3, axis=2)

    def _outline(self, frame: np.ndarray, window: WritingWindow) -> None:
        """Draw the border of a window, the thicker the more it blurs (figure 7 of Gregor et al. 2015)."""
        height, width = frame.shape[:2]
        half, across, down = (self._scale * each for each in (window.side / 2, window.across, window.down))
        border = max(1, min(round(self._scale * window.blur / 2), max(1, round(half / 2))))
        outside = np.maximum(
            np.abs(np.arange(width) + 0.5 - across)[None, :], np.abs(np.arange(height) + 0.5 - down)[:, None]
        )
        frame[(outside <= max(half, border)) & (outside > max(half, border) - border)] = _RED
