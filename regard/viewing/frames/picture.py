"""A sound and what its frames looked at as a picture: waveform, weights and perhaps bands, along the same time."""

from pathlib import Path
from typing import TYPE_CHECKING

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
)
from regard.viewing.frames.record import FrameLooks
from regard.viewing.seen import Joining

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 1200  # of the waveform
_MOST_NAMED = 40  # rows that have room for their names
_NARROWEST, _WIDEST = 5.0, 14.0  # inches
_BANDS_HIGH = 1.6  # inches


def draw_frames(
    looks: FrameLooks, path: Path, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> set[str]:
    """Draw one block and head, or all heads joined; gives the characters that no font here can draw."""
    check_suffix(path)
    which, weights = looks.one(layer, head, heads)
    texts = [looks.title, *looks.rows]
    with canvas(texts) as new_figure:
        wide = float(np.clip(2.2 * looks.duration, _NARROWEST, _WIDEST))
        high = float(np.clip(0.26 * len(looks.rows), 0.8, 6.0))
        heard = [] if looks.bands is None else [_BANDS_HIGH]
        figure = new_figure(figsize=(wide, high + sum(heard) + 1.9), layout="constrained")
        wave, matrix, *spectrum = figure.subplots(2 + len(heard), 1, sharex=True, height_ratios=[1.0, high, *heard])
        _draw_wave(wave, looks)
        _draw_weights(matrix, looks, weights)
        if looks.bands is not None:
            _draw_bands(spectrum[0], looks.bands, looks.duration)
        (spectrum or [matrix])[0].set_xlabel("seconds", fontsize=9, color=SOFT)
        title = show_title(looks.title, which)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK, parse_math=False)
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
    """How loud each band is, the lowest at the bottom: the darker, the louder."""
    times, edges = np.linspace(0, duration, len(bands) + 1), np.arange(bands.shape[1] + 1)
    axes.pcolormesh(times, edges, bands.T, cmap="Greys", rasterized=True)
    axes.set_yticks([])
    axes.set_ylabel(f"{bands.shape[1]} mel bands", fontsize=9, color=SOFT)
    _dress(axes)


def _dress(axes: "Axes") -> None:
    axes.tick_params(length=2, width=0.6, color=FAINT, labelsize=8.5, labelcolor=INK)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)
