"""Attention weights of the frames of a sound, below its waveform."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import (
    FAINT,
    INK,
    PALETTE,
    SOFT,
    canvas,
    check_suffix,
    missing_glyphs,
    save_figure,
    show_title,
    show_word,
    wrapped_title,
)
from regard.viewing.looks import LooksBetween, places_along, word_means
from regard.viewing.page import block_data
from regard.viewing.seen import Block, Joining, block_named, joined_weights
from regard.viewing.sides import Frames
from regard.viewing.view import Drawing, DrawingRequest, HeadsDrawing
from regard.viewing.written import cell_len, fit_text, legend_of_shades, shade_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("page.css", "pictures.css")
SCRIPT = "frames-page.js"
_PAGE_BINS, _HEIGHT = 600, 100  # of the waveform: number of bins, and the whole number for its largest sample
_BINS = 1200  # of the waveform
_MOST_NAMED = 40  # number of rows up to which all names fit
_NARROWEST, _WIDEST = 5.0, 14.0  # inches
_BANDS_HIGH = 1.6  # inches
_BARS = " ▁▂▃▄▅▆▇█"
_MOST_ROWS = 40


@dataclass(frozen=True)
class FrameLooks:
    """A sound, its frames `seconds` apart, and their attention: blocks have weights (head, frame, row).

    `bands` (time, band) is the loudness in frequency bands, if it is to be drawn.
    """

    title: str
    samples: np.ndarray
    rate: int
    seconds: float
    rows: list[str]
    blocks: list[Block]
    bands: np.ndarray | None = None

    def __post_init__(self) -> None:
        shapes = {block.weights.shape[1:] for block in self.blocks}
        if len(shapes) != 1 or next(iter(shapes))[1] != len(self.rows):
            raise ValueError(f"weights of shapes {shapes} do not fit {len(self.rows)} rows")

    @property
    def count(self) -> int:
        """Number of frames."""
        return int(self.blocks[0].weights.shape[1])

    @property
    def duration(self) -> float:
        """Seconds of all frames, which may end a little after the sound."""
        return self.count * self.seconds

    def one(self, layer: int | None = None, head: int | None = None, heads: Joining = "mean") -> tuple[str, np.ndarray]:
        """Return a title and the weights (row, frame) of one head, or of all heads joined."""
        which, weights = joined_weights(self.blocks, layer, head, heads)
        return which, weights.T

    def envelope(self, bins: int) -> np.ndarray:
        """Return the lowest and highest sample (2, bin) in each of `bins` equal parts of the duration."""
        edges = np.linspace(0, self.duration * self.rate, bins + 1).astype(int)
        extremes = np.zeros((2, bins))
        for place, (first, end) in enumerate(pairwise(edges)):
            part = self.samples[first : max(end, first + 1)]
            if len(part):
                extremes[:, place] = part.min(), part.max()
        return extremes


def to_json(looks: FrameLooks) -> dict[str, Any]:
    """Return the looks as plain values, with unrounded numbers."""
    return {
        "title": looks.title,
        "samples": looks.samples.tolist(),
        "rate": looks.rate,
        "seconds": looks.seconds,
        "rows": list(looks.rows),
        "blocks": [block.to_json() for block in looks.blocks],
        "bands": None if looks.bands is None else looks.bands.tolist(),
    }


def from_json(value: Mapping[str, Any]) -> FrameLooks:
    """Return the looks that `to_json` was given."""
    blocks = [Block.from_json(block) for block in value["blocks"]]
    samples, bands = np.array(value["samples"]), value.get("bands")
    return FrameLooks(
        value["title"],
        samples,
        value["rate"],
        value["seconds"],
        value["rows"],
        blocks,
        None if bands is None else np.array(bands),
    )


def frames_data(
    looks: FrameLooks, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> dict[str, Any]:
    """Return the data of the view: weights as whole ten-thousandths, row by row."""
    turned = [Block(block.where, block.weights.swapaxes(1, 2)) for block in looks.blocks]  # a line for each row
    envelope = looks.envelope(_PAGE_BINS)
    wave = np.rint(envelope / max(float(np.abs(envelope).max()), 1e-6) * _HEIGHT).astype(int)
    return {
        "start": {"layer": block_named(looks.blocks, layer, head), "head": head or heads},
        "title": show_word(looks.title),
        "seconds": looks.seconds,
        "count": looks.count,
        "wave": {"low": wave[0].tolist(), "high": wave[1].tolist(), "height": _HEIGHT},
        "rows": [show_word(row) for row in looks.rows],
        "blocks": block_data(turned, "this sound"),
    }


def draw_frames(
    looks: FrameLooks, path: Path, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> set[str]:
    """Draw one block and head, or all heads joined; return the characters that no font here can draw."""
    check_suffix(path)
    which, weights = looks.one(layer, head, heads)
    texts = [looks.title, *looks.rows]
    with canvas(texts) as new_figure:
        wide = float(np.clip(2.2 * looks.duration, _NARROWEST, _WIDEST))
        high = float(np.clip(0.26 * len(looks.rows), 0.8, 6.0))
        band_heights = [] if looks.bands is None else [_BANDS_HIGH]
        title, points, tall = wrapped_title(show_title(looks.title, which), wide)
        figure = new_figure(figsize=(wide, high + sum(band_heights) + 1.7 + tall), layout="constrained")
        wave, matrix, *spectrum = figure.subplots(
            2 + len(band_heights), 1, sharex=True, height_ratios=[1.0, high, *band_heights]
        )
        _draw_wave(wave, looks)
        _draw_weights(matrix, looks, weights)
        if looks.bands is not None:
            _draw_bands(spectrum[0], looks.bands, looks.duration)
        (spectrum or [matrix])[0].set_xlabel("seconds", fontsize=9, color=SOFT)
        figure.suptitle(title, x=0.01, ha="left", fontsize=points, color=INK, parse_math=False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_wave(axes: "Axes", looks: FrameLooks) -> None:
    low, high = looks.envelope(_BINS)
    times = (np.arange(_BINS) + 0.5) * looks.duration / _BINS
    axes.fill_between(times, low, high, color=PALETTE[0], linewidth=0.4)
    largest = max(float(np.abs(looks.samples).max()), 1e-6) * 1.05
    axes.set(xlim=(0, looks.duration), ylim=(-largest, largest), yticks=[])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _draw_weights(axes: "Axes", looks: FrameLooks, weights: np.ndarray) -> None:
    edges = np.arange(looks.count + 1) * looks.seconds
    rows = np.arange(len(looks.rows) + 1)
    axes.pcolormesh(edges, rows, weights, cmap="Blues", vmin=0, vmax=max(float(weights.max()), 1e-6), rasterized=True)
    axes.invert_yaxis()
    named = range(0, len(looks.rows), -(-len(looks.rows) // _MOST_NAMED))
    axes.set_yticks([row + 0.5 for row in named], [show_word(looks.rows[row]) for row in named])
    for label in axes.get_yticklabels():
        label.set(fontsize=9, color=INK, parse_math=False)
    if len(looks.rows) <= _MOST_NAMED:
        axes.hlines(rows[1:-1], 0, looks.duration, color="#e4e8ee", linewidth=0.6)
    _dress(axes)


def _draw_bands(axes: "Axes", bands: np.ndarray, duration: float) -> None:
    """Draw the loudness of each band, the lowest at the bottom; darker is louder."""
    times, edges = np.linspace(0, duration, len(bands) + 1), np.arange(bands.shape[1] + 1)
    axes.pcolormesh(times, edges, bands.T, cmap="Greys", rasterized=True)
    axes.set_yticks([])
    axes.set_ylabel(f"{bands.shape[1]} mel bands", fontsize=9, color=SOFT)
    _dress(axes)


def _dress(axes: "Axes") -> None:
    axes.tick_params(length=2, width=0.6, color=FAINT, labelsize=8.5, labelcolor=INK)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)


def frames_lines(
    looks: FrameLooks, width: int, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> list[str]:
    """Return lines of at most `width` cells; with more frames than cells, a cell shows the largest of several."""
    which, weights = looks.one(layer, head, heads)
    names = [show_word(row) for row in looks.rows[:_MOST_ROWS]]
    margin = min(max(map(cell_len, names)), max(width // 3, 4))
    cells = min(max(width - margin - 1, 1), looks.count)
    low, high = looks.envelope(cells)
    loud = np.maximum(-low, high)
    bars = "".join(_BARS[int(value)] for value in np.ceil(loud / max(loud.max(), 1e-6) * (len(_BARS) - 1)))
    title = show_title(looks.title, which)
    lines = [fit_text(title, width), f"{'':{margin}} {bars}".rstrip()]
    groups = np.array_split(np.arange(looks.count), cells)
    for name, row_weights in zip(names, weights, strict=False):
        ink = "".join(shade_of(float(row_weights[group].max())) for group in groups)
        name = fit_text(name, margin)
        lines.append(f"{' ' * (margin - cell_len(name))}{name} {ink}".rstrip())
    if len(looks.rows) > _MOST_ROWS:
        lines.append(f"{'':{margin}} … {len(looks.rows) - _MOST_ROWS} more")
    seconds = f"{looks.duration:.2f} s"
    lines.append(f"{'':{margin}} 0{'':{max(1, cells - len(seconds) - 1)}}{seconds}")
    return [*lines, legend_of_shades(margin + 1, width)]


class FramesDrawing(HeadsDrawing):
    """A sound, and the attention of its frames below the waveform."""

    view = "frames"
    script, styles = SCRIPT, STYLES
    picture, terminal = staticmethod(draw_frames), staticmethod(frames_lines)
    to_json, to_data = staticmethod(to_json), staticmethod(frames_data)


def from_looks(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Return the drawing of the attention of a sound's frames."""
    assert isinstance(looks.looks_from, Frames)
    sound = looks.looks_from
    rows, of_column = places_along(looks.looks_at, looks.looks_from, by_word=not wanted.tokens)
    joined = (word_means(of_column) > 0).T.astype(float)  # summed over the symbols of a word
    blocks = [Block(block.where, block.weights @ joined) for block in looks.blocks]
    record = FrameLooks(looks.title, sound.samples, sound.rate, sound.seconds, rows, blocks, sound.bands)
    return FramesDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")
