"""One word in several contexts: for every layer, the plane in which its vectors differ most."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_word, word_widths
from regard.viewing.planes import Plane, principal_plane
from regard.viewing.sealed import SealedPage
from regard.viewing.written import fit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NEAR = 5  # words shown on either side of the word
STYLES = ("page.css", "contexts.css")
SCRIPT = "contexts-page.js"
_DIGITS = 4
_SIDE, _BETWEEN = 3.1, 0.25  # inches of a panel, and between two
_ROW = 3  # panels in a row
_LINE, _LETTERS = 0.23, 9.5  # inches of a line of text, and the points of its letters
_BLUE, _SOFT = "#1f5fa8", "#6b7480"
_HIGH, _WIDEST = 15, 60  # lines of a plane, and its cells
_BRIGHT, _PLAIN = "\x1b[1;36m", "\x1b[0m"


@dataclass(frozen=True)
class Occurrence:
    """An occurrence of the word: the words of the text, its place among them, and the number of the text."""

    words: Sequence[str]
    place: int
    text: int

    @property
    def snippet(self) -> tuple[str, str, str]:
        """A few words before it, the word itself, and a few words after it."""
        first, last = max(0, self.place - _NEAR), self.place + 1 + _NEAR
        before, after = self.words[first : self.place], self.words[self.place + 1 : last]
        return (
            " ".join(["…", *before] if first else before),
            self.words[self.place],
            " ".join([*after, "…"] if last < len(self.words) else after),
        )


@dataclass(frozen=True)
class ContextLayer:
    """The vectors of all occurrences in one layer: their places in a plane, and the cosine of any two."""

    number: int
    plane: Plane
    cosines: np.ndarray  # (occurrence, occurrence)

    @classmethod
    def of(cls, number: int, vectors: np.ndarray) -> "ContextLayer":
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        directions = vectors / np.where(lengths > 0, lengths, 1.0)
        return cls(number, principal_plane(vectors), directions @ directions.T)

    @property
    def is_one_point(self) -> bool:
        """True if all vectors are equal, as plain embeddings of one word are."""
        return self.plane.shares == (0.0, 0.0)

    @property
    def nearest(self) -> list[int] | None:
        """For each occurrence, the one with the most similar vector; None if all are the same."""
        if self.is_one_point:
            return None
        others = self.cosines - 3 * np.eye(len(self.cosines))  # excludes each occurrence itself
        return others.argmax(axis=1).tolist()

    @property
    def title(self) -> str:
        if self.is_one_point:
            return f"layer {self.number}: one vector for all"
        return f"layer {self.number} ({100 * sum(self.plane.shares):.0f}% of the variance)"


@dataclass(frozen=True)
class WordContexts:
    """A word, its occurrences, and the layers from the lowest up."""

    word: str
    occurrences: list[Occurrence]
    layers: list[ContextLayer]

    @property
    def title(self) -> str:
        return f"'{self.word}' in {len(self.occurrences)} contexts"

    def line(self, number: int) -> str:
        """Return an occurrence as a line of text, with the word marked."""
        before, word, after = self.occurrences[number].snippet
        return f"{before} »{word}« {after}".strip()


def contexts_to_json(contexts: WordContexts) -> dict[str, Any]:
    """Return the contexts as plain values, with unrounded numbers."""
    return {
        "word": contexts.word,
        "contexts": [
            dict(
                zip(("before", "word", "after"), occurrence.snippet, strict=True),
                text=occurrence.text,
                place=occurrence.place,
            )
            for occurrence in contexts.occurrences
        ],
        "layers": [
            {
                "layer": layer.number,
                "points": layer.plane.points.tolist(),
                "shares": list(layer.plane.shares),
                "nearest": layer.nearest,
                "cosines": layer.cosines.tolist(),
            }
            for layer in contexts.layers
        ],
    }


def contexts_page(contexts: WordContexts) -> SealedPage:
    """Return the page of a word."""
    return SealedPage(SCRIPT, STYLES, contexts_data(contexts))


def contexts_data(contexts: WordContexts) -> dict[str, Any]:
    """Return the data of the view: points in a plane from -1 to 1."""
    return {
        "title": show_word(contexts.title),
        "contexts": [
            [show_word(part) if part else "" for part in occurrence.snippet] for occurrence in contexts.occurrences
        ],
        "layers": [
            {
                "title": layer.title,
                "points": (layer.plane.points / (np.abs(layer.plane.points).max() or 1.0)).round(_DIGITS).tolist(),
                "cosines": layer.cosines.round(_DIGITS).tolist(),
                "nearest": layer.nearest,
            }
            for layer in contexts.layers
        ],
    }


def draw_contexts(contexts: WordContexts, path: Path) -> set[str]:
    """Draw the planes side by side with the contexts below; return the characters that no font here can draw."""
    check_suffix(path)
    texts = [contexts.word, *(part for occurrence in contexts.occurrences for part in occurrence.snippet)]
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
    """Draw numbers at the places of the vectors, with equal scales, so that distances are true."""
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
    """Write the contexts below the planes, with the word aligned."""
    snippets = [tuple(map(show_word, map(_or_space, occurrence.snippet))) for occurrence in contexts.occurrences]
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


def contexts_lines(contexts: WordContexts, width: int, colour: bool) -> list[str]:
    """Return the lines of all layers, at most `width` cells wide."""
    lines = [fit_text(show_word(contexts.title), width)]
    for number in range(len(contexts.occurrences)):
        lines.append(fit_text(f"{number + 1:>3}  {show_word(contexts.line(number))}", width))
    for layer in contexts.layers:
        lines += ["", layer.title]
        if layer.nearest is None:
            continue
        lines += _plane_lines(layer, min(width - 2, _WIDEST), colour)
        pairs = (f"{number + 1}→{other + 1}" for number, other in enumerate(layer.nearest))
        lines.append(fit_text(f"most similar by cosine: {', '.join(pairs)}", width))
    return lines


def _plane_lines(layer: ContextLayer, width: int, colour: bool) -> list[str]:
    """Return the numbers of the contexts at the places of their vectors; a cell is half as wide as it is high."""
    points = layer.plane.points
    scale = min((width - 3) / 2 / 2, (_HIGH - 1) / 2) / float(np.abs(points).max())
    rows = [[" "] * width for _ in range(_HIGH)]
    for number in reversed(range(len(points))):  # of two at one place, the first is visible
        across, up = points[number] * scale
        column, row = round(width / 2 + 2 * across) - 1, round((_HIGH - 1) / 2 - up)
        name = str(number + 1)
        rows[row][column : column + len(name)] = name
    framed = ["┌" + "─" * width + "┐", *("│" + "".join(row) + "│" for row in rows), "└" + "─" * width + "┘"]
    if not colour:
        return framed
    return ["".join(f"{_BRIGHT}{cell}{_PLAIN}" if cell.isdigit() else cell for cell in line) for line in framed]


@dataclass(frozen=True)
class DrawnContexts:
    """The contexts of a word as a drawing."""

    contexts: WordContexts

    def draw(self, path: Path) -> set[str]:
        return draw_contexts(self.contexts, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return contexts_lines(self.contexts, width, colour)

    def numbers(self) -> dict[str, Any]:
        return contexts_to_json(self.contexts)

    def page(self) -> SealedPage:
        return contexts_page(self.contexts)
