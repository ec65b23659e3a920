"""Pictures of position encodings: sinusoids, rotary angles and the reach of ALiBi.

The numbers are tables by name, and the name says what a table holds:

- `sinusoidal`, `learned`: a vector for each place (place, coordinate);
- `dot product`: the similarity of the vectors of two places (place, place);
- `alibi`: the bias added to a score (query, key), or that of each head (head, query, key); the picture shows its
  exponential, the factor of the weight in the softmax, so that narrow and wide heads can be compared;
- `rotary`: the rotation of each pair of coordinates in radians (place, pair), modulo whole turns.

A name only needs to contain one of these words. Another table is drawn as (place, place) if it is square, otherwise as
(place, coordinate).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure
from regard.viewing.sealed import SealedPage
from regard.viewing.tables import NumberTable, TableLesson, tables_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TURN = 2 * math.pi
_ACROSS = 3  # panels in a line
_MOST_HEADS = 3  # shown of one table, evenly spaced


@dataclass(frozen=True)
class _Kind:
    """Settings for drawing one kind of table."""

    down: str
    across: str
    colours: str
    limits: Callable[[np.ndarray], tuple[float, float]]
    change: Callable[[np.ndarray], np.ndarray] = lambda table: table
    scale: str = ""


@dataclass(frozen=True)
class _Panel:
    title: str
    kind: _Kind
    table: np.ndarray
    limits: tuple[float, float]


def _around_zero(table: np.ndarray) -> tuple[float, float]:
    most = float(np.abs(table).max()) or 1.0
    return -most, most


def _from_zero_to(most: float) -> Callable[[np.ndarray], tuple[float, float]]:
    return lambda table: (0.0, most)


def _as_they_are(table: np.ndarray) -> tuple[float, float]:
    return float(table.min()), float(table.max())


_VECTORS = _Kind("place", "coordinate", "RdBu_r", _around_zero)
_PLACES = _Kind("place", "place", "Blues", _as_they_are)
_ALIBI = _Kind("place of the query", "place of the key", "Blues", _from_zero_to(1), np.exp, "factor of the weight")
_ROTARY = _Kind("place", "pair of coordinates", "twilight", _from_zero_to(_TURN), lambda table: table % _TURN, "angle")
# The first matching word decides: the dot product of sinusoidal vectors is a dot product.
_KINDS = {"dot": _PLACES, "alibi": _ALIBI, "rotary": _ROTARY, "sinusoidal": _VECTORS, "learned": _VECTORS}


def draw_positions(encodings: Mapping[str, np.ndarray], path: Path) -> set[str]:
    """Draw tables of positions side by side, each with its name; return the characters that no font here can draw."""
    check_suffix(path)
    panels = list(_panels(encodings))
    if not panels:
        raise ValueError("there are no positions to draw")
    texts = [panel.title for panel in panels]
    with canvas(texts) as new_figure:
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        across = min(_ACROSS, len(panels)) if len(panels) != 4 else 2
        down = math.ceil(len(panels) / across)
        spacing = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
        figure = new_figure(figsize=(4.1 * across, 3.6 * down), layout=spacing)
        grid = figure.subplots(down, across, squeeze=False)
        for place, axes in enumerate(grid.flat):
            if place < len(panels):
                _draw_panel(axes, panels[place])
            else:
                axes.set_visible(False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def positions_page(encodings: Mapping[str, np.ndarray]) -> SealedPage:
    """Return a page of the same tables."""
    tables = []
    for panel in _panels(encodings):
        values = panel.kind.change(panel.table)
        rows, columns = ([str(place) for place in range(size)] for size in values.shape)
        axes = f"From top to bottom: {panel.kind.down}; from left to right: {panel.kind.across}."
        tables.append(NumberTable(panel.title, rows, columns, values, axes))
    return tables_page(TableLesson("Position encodings", tables))


def _panels(encodings: Mapping[str, np.ndarray]) -> Iterator[_Panel]:
    """Yield a panel for each table, or for some of its heads if it has an axis for them, all on one scale."""
    for name, table in encodings.items():
        if table.ndim not in (2, 3) or not table.size:
            raise ValueError(f"'{name}' has the shape {table.shape}, but a picture needs (place, place or coordinate)")
        kind = _kind(name, table)
        limits = kind.limits(table)
        if table.ndim == 2:
            yield _Panel(name, kind, table, limits)
            continue
        for head in np.unique(np.linspace(0, len(table) - 1, _MOST_HEADS).round().astype(int)):
            yield _Panel(f"{name}, head {head + 1} of {len(table)}", kind, table[head], limits)


def _kind(name: str, table: np.ndarray) -> _Kind:
    known = next((kind for word, kind in _KINDS.items() if word in name.lower()), None)
    return known or (_PLACES if table.shape[-1] == table.shape[-2] else _VECTORS)


def _draw_panel(axes: "Axes", panel: _Panel) -> None:
    from matplotlib.ticker import MaxNLocator

    kind, (low, high) = panel.kind, panel.limits
    table = kind.change(panel.table)
    picture = axes.imshow(table, cmap=kind.colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest")
    axes.set_title(panel.title, fontsize=11, color=INK, parse_math=False)
    axes.set_xlabel(kind.across, fontsize=9, color=INK)
    axes.set_ylabel(kind.down, fontsize=9, color=INK)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    bar = axes.figure.colorbar(picture, ax=axes, fraction=0.05, pad=0.03)
    bar.set_label(kind.scale, fontsize=8.5, color=INK)
    if kind.colours == "twilight":
        bar.set_ticks([0, _TURN / 2, _TURN], labels=["0", "π", "2π"])
    for part in (axes, bar.ax):
        part.tick_params(length=2.5, width=0.6, color=FAINT, labelsize=8, labelcolor=INK)
        for spine in part.spines.values():
            spine.set(color=FAINT, linewidth=0.8)
