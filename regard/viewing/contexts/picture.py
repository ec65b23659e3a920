"""One word in several contexts as a picture: a plane for each layer, with the numbers of the contexts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_word, word_widths
from regard.viewing.contexts.record import ContextLayer, WordContexts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIDE, _BETWEEN = 3.1, 0.25  # inches of a panel, and between two
_ROW = 3  # panels in a row
_LINE, _LETTERS = 0.23, 9.5  # inches of a line of text, and the points of its letters
_BLUE, _SOFT = "#1f5fa8", "#6b7480"


def draw_contexts(contexts: WordContexts, path: Path) -> set[str]:
    """Draw the planes beside each other, the contexts under them; gives the characters that no font here can draw."""
    check_suffix(path)
    texts = [contexts.word, *(part for each in contexts.occurrences for part in each.snippet)]
    with canvas(texts) as new_figure:
        across = min(_ROW, len(contexts.layers))
        down = -(-len(contexts.layers) // across)
        width = across * (_SIDE + _BETWEEN) - _BETWEEN
        height = down * (_SIDE + 2 * _BETWEEN) - 2 * _BETWEEN
        figure = new_figure(figsize=(width, height))
        for place, layer in enumerate(contexts.layers):
            left, top = (place % across) * (_SIDE + _BETWEEN), (place // across) * (_SIDE + 2 * _BETWEEN)
            axes = figure.add_axes((left / width, 1 - (top + _SIDE) / height, _SIDE / width, _SIDE / height))
            _draw_layer(axes, layer)
        figure.text(0, 1 + 0.5 / height, show_word(contexts.title), fontsize=12.5, color=INK, parse_math=False)
        _write_contexts(figure, contexts, height)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_layer(axes: "Axes", layer: ContextLayer) -> None:
    """Numbers where the vectors lie, one unit as long across as up, so that distances are what they seem."""
    points = layer.plane.points
    reach = float(np.abs(points).max()) or 1.0
    axes.set(xlim=(-1.18 * reach, 1.18 * reach), ylim=(-1.18 * reach, 1.18 * reach), xticks=[], yticks=[])
    axes.set_aspect("equal")
    axes.axhline(0, color="#eeeeee", linewidth=0.8, zorder=0)
    axes.axvline(0, color="#eeeeee", linewidth=0.8, zorder=0)
    spots = [(0.0, 0.0)] if layer.is_one_point else points.tolist()
    names = [f"1 to {len(points)}"] if layer.is_one_point else [str(number + 1) for number in range(len(points))]
    for spot, name in zip(spots, names, strict=True):
        box: dict[str, Any] = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": _BLUE, "linewidth": 0.9}
        axes.annotate(name, spot, ha="center", va="center", fontsize=8.5, color=_BLUE, bbox=box, annotation_clip=False)
    axes.set_title(layer.title, fontsize=9.5, color=INK, loc="left", pad=6)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)


def _write_contexts(figure: "Figure", contexts: WordContexts, height: float) -> None:
    """The contexts under the planes, the word under the word."""
    snippets = [tuple(map(show_word, map(_or_space, each.snippet))) for each in contexts.occurrences]
    befores, words = (word_widths([snippet[part] for snippet in snippets], _LETTERS) for part in (0, 1))
    margin, total = 0.35, figure.get_figwidth()
    middle = margin + max(befores)
    for number, (before, word, after) in enumerate(snippets):
        level = -(0.35 + _LINE * number) / height
        style: dict[str, Any] = {"fontsize": _LETTERS, "va": "top", "parse_math": False}
        figure.text(0, level, str(number + 1), color=_BLUE, **style)
        figure.text((middle - 0.06) / total, level, before, color=_SOFT, ha="right", **style)
        figure.text(middle / total, level, word, color=INK, fontweight="bold", **style)
        figure.text((middle + 1.12 * max(words) + 0.06) / total, level, after, color=_SOFT, **style)


def _or_space(text: str) -> str:
    return text or "\u2009"
