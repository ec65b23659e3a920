"""The forward pass of one sentence as a tree of layers: in a terminal, as a picture, as numbers and as a page."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import INK, SOFT, canvas, check_suffix, missing_glyphs, save_figure, show_token, show_word
from regard.viewing.head_steps import SHOWN, fixed_text, number_colours, number_text, plain_numbers
from regard.viewing.page import refuse_many_weights
from regard.viewing.sealed import SealedPage
from regard.viewing.texts import read_texts
from regard.viewing.written import percent, table_lines, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCRIPT = "forward-page.js"
STYLES = ("page.css", "lessons.css")
DEPTH = 3  # levels of the tree that a terminal and a picture show
_FEW = 4  # numbers of a layer in the terminal
_LINE = 0.24  # inches of a layer in the picture
_CELL = 0.5  # inches of a number there


@dataclass(frozen=True)
class Layer:
    """One step of the pass: its kind (a text `layers.KIND`), its number if there are several, and its output.

    `values` (row, column) has a row for each token in `rows`; `columns` names the keys of scores and weights, and
    coordinates have no names. A layer that only groups others has no values.
    """

    name: str  # path of the module in its network
    kind: str
    number: int
    rows: Sequence[str]
    columns: Sequence[str]
    values: np.ndarray
    inside: Sequence["Layer"] = ()

    @property
    def norm(self) -> float:
        """The mean length of the rows."""
        return float(np.linalg.norm(np.where(np.isfinite(self.values), self.values, 0), axis=1).mean())

    @property
    def shown(self) -> int:
        """Number of columns that are shown."""
        return len(self.columns) or min(self.values.shape[1], SHOWN)


@dataclass(frozen=True)
class Guess:
    """The most probable tokens at one place, with their logits and probabilities."""

    place: str
    tokens: Sequence[tuple[str, float, float]]


@dataclass(frozen=True)
class ForwardPass:
    """One sentence on its way from tokens to logits."""

    text: str
    output: str  # of a translator
    layers: Sequence[Layer]
    guesses: Sequence[Guess]
    query: int | None  # the place that is followed, counted from 0; the last if None

    @property
    def heading(self) -> str:
        return f"{self.text} → {self.output}" if self.output else self.text

    def row(self, layer: Layer) -> int:
        """Return the row of a layer that is followed: the query's, or the last where there are fewer rows."""
        last = len(layer.rows) - 1
        return last if self.query is None else min(self.query, last)


def layer_title(layer: Layer) -> str:
    """Return the English title of a layer."""
    text = read_texts()["en"].get(f"layers.{layer.kind}", layer.name)
    return str(text).replace("{number}", str(layer.number))


def opened(layers: Sequence[Layer], depth: int, level: int = 0) -> Iterator[tuple[int, Layer]]:
    """Yield the layers and those inside them with their levels, down to `depth` levels."""
    for layer in layers:
        yield level, layer
        if level + 1 < depth:
            yield from opened(layer.inside, depth, level + 1)


def forward_lines(forward: ForwardPass, depth: int = DEPTH) -> list[str]:
    """Return the tree with shapes, norms and the first numbers of the followed row, then the top tokens."""
    rows = []
    for level, layer in opened(forward.layers, depth):
        shape = " × ".join(map(str, layer.values.shape))
        values = layer.values[forward.row(layer)][:_FEW]
        cells = " ".join(f"{fixed_text(value, 2):>7}" for value in values)
        more = " …" if layer.values.shape[1] > _FEW else ""
        rows.append(
            [
                "  " * level + layer_title(layer),
                shape,
                f"{layer.norm:.2f}",
                show_token(_row_name(forward, layer)),
                cells + more,
            ]
        )
    lines = [forward.heading, "", *table_lines(["layer", "shape", "norm", "token", "first numbers"], rows), ""]
    guesses = [
        [
            show_token(guess.place),
            "  ".join(f"{show_token(token)} {percent(chance)}" for token, _, chance in guess.tokens),
        ]
        for guess in forward.guesses
    ]
    return [*lines, *table_lines(["at", "most probable tokens"], guesses)]


def _row_name(forward: ForwardPass, layer: Layer) -> str:
    return layer.rows[forward.row(layer)]


def forward_to_json(forward: ForwardPass) -> dict[str, Any]:
    """Return the whole pass as plain values, with all columns; −∞ is null."""
    return {
        "text": forward.text,
        "output": forward.output,
        "layers": [_layer_to_json(layer) for layer in forward.layers],
        "guesses": [_guess_to_json(guess) for guess in forward.guesses],
    }


def _layer_to_json(layer: Layer) -> dict[str, Any]:
    return {
        "name": layer.name,
        "title": layer_title(layer),
        "shape": list(layer.values.shape),
        "norm": layer.norm,
        "rows": list(layer.rows),
        "columns": list(layer.columns),
        "values": plain_numbers(layer.values),
        "inside": [_layer_to_json(inner) for inner in layer.inside],
    }


def _guess_to_json(guess: Guess) -> dict[str, Any]:
    tokens = [{"token": token, "logit": logit, "probability": chance} for token, logit, chance in guess.tokens]
    return {"at": guess.place, "tokens": tokens}


def forward_page(forward: ForwardPass) -> SealedPage:
    """Return the page on which every layer opens and closes; refuse one that is too large for browsers."""
    shown = (layer.values[:, : layer.shown] for _, layer in opened(forward.layers, depth=99))
    refuse_many_weights(shown, "this pass", "give a shorter text, or write a .json file")
    return SealedPage(SCRIPT, STYLES, forward_data(forward))


def forward_data(forward: ForwardPass, places: Collection[str] | None = None) -> dict[str, Any]:
    """Return the data of the page, or, for a page that asks as it opens layers, those of the layers at some places.

    A place counts from 0 on each level: "3.0" is the first layer inside the fourth. Layers elsewhere have no values,
    and nothing inside.
    """
    return {
        "text": show_word(forward.heading),
        "layers": [_layer_data(forward, layer, str(at), places) for at, layer in enumerate(forward.layers)],
        "guesses": [
            {
                "place": visible(guess.place),
                "tokens": [
                    [visible(token), round(logit, 3), float(f"{chance:.3g}")] for token, logit, chance in guess.tokens
                ],
            }
            for guess in forward.guesses
        ],
    }


def _layer_data(forward: ForwardPass, layer: Layer, place: str, places: Collection[str] | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "place": place,
        "name": layer.name,
        "kind": layer.kind,
        "number": layer.number,
        "norm": round(layer.norm, 3),
        "shape": list(layer.values.shape),
        "query": forward.row(layer),
    }
    if places is not None and place not in places:
        return data | {"rows": [], "columns": [], "values": None, "inside": []}
    columns = layer.columns or [str(number + 1) for number in range(layer.shown)]
    return data | {
        "rows": [visible(name) for name in layer.rows],
        "columns": [visible(name) for name in columns],
        "values": plain_numbers(np.round(layer.values[:, : layer.shown], 3)),
        "inside": [_layer_data(forward, inner, f"{place}.{at}", places) for at, inner in enumerate(layer.inside)],
    }


def count_numbers(layers: Sequence[Layer], places: Collection[str] | None = None, above: str = "") -> int:
    """Return how many numbers `forward_data` would hold of these layers."""
    count = 0
    for at, layer in enumerate(layers):
        place = f"{above}{at}"
        if places is None or place in places:
            count += len(layer.rows) * layer.shown + count_numbers(layer.inside, places, f"{place}.")
    return count


def draw_forward(forward: ForwardPass, path: Path, depth: int = DEPTH) -> set[str]:
    """Draw the tree, a line for each layer with the first numbers of the followed row, and its guess."""
    check_suffix(path)
    guess = forward.guesses[-1 if forward.query is None else forward.query]
    texts = [forward.heading, guess.place, *(token for token, _, _ in guess.tokens)]
    texts += [name for layer in forward.layers for name in layer.rows]
    lines = list(opened(forward.layers, depth))
    with canvas(texts) as new_figure:
        tall = _LINE * (len(lines) + len(guess.tokens) + 4)
        figure = new_figure(figsize=(10.5, tall))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 10.5), ylim=(tall, 0))
        axes.axis("off")
        _write(axes, 0, 0, forward.heading, size=12)
        for along, text in ((4.6, "shape"), (5.6, "norm"), (6.3, "first numbers at the token followed")):
            _write(axes, along, _LINE, text, colour=SOFT)
        for place, (level, layer) in enumerate(lines, 2):
            _draw_layer(axes, forward, layer, level, place * _LINE)
        _draw_guess(axes, guess, (len(lines) + 3) * _LINE)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_layer(axes: "Axes", forward: ForwardPass, layer: Layer, level: int, down: float) -> None:
    """Draw one line of the tree: title, shape, norm, token, and tinted numbers."""
    from matplotlib.patches import Rectangle

    _write(axes, 0.25 * level, down, layer_title(layer), weight="bold" if not level else "normal")
    _write(axes, 4.6, down, " × ".join(map(str, layer.values.shape)), colour=SOFT)
    _write(axes, 5.6, down, f"{layer.norm:.2f}", colour=SOFT)
    values = layer.values[forward.row(layer)][: min(SHOWN, layer.values.shape[1])]
    finite = np.where(np.isfinite(values), values, 0)
    tints = number_colours()(0.5 + 0.5 * finite / max(np.abs(finite).max(), 1e-9))
    for place, (value, tint) in enumerate(zip(values, tints, strict=True)):
        left = 6.3 + place * _CELL
        axes.add_patch(Rectangle((left, down - _LINE / 2), _CELL, _LINE * 0.92, color=tint, linewidth=0))
        _write(axes, left + _CELL / 2, down, number_text(float(value)), size=7, side="center")


def _draw_guess(axes: "Axes", guess: Guess, down: float) -> None:
    """Draw the most probable tokens at the place that is followed as bars."""
    _write(axes, 0, down, f"most probable at {show_token(guess.place)}", weight="bold")
    for place, (token, logit, chance) in enumerate(guess.tokens, 1):
        _write(axes, 0.25, down + place * _LINE, show_token(token))
        _write(axes, 4.6, down + place * _LINE, f"logit {number_text(logit)}", colour=SOFT)
        axes.barh(down + place * _LINE, chance * 3.4, left=6.3, height=_LINE * 0.7, color="#86b1de")
        _write(axes, 6.35 + chance * 3.4, down + place * _LINE, percent(chance), size=8)


def _write(
    axes: "Axes", along: float, down: float, text: str, *, size: float = 8.5, colour: str = INK, weight: str = "normal",
    side: str = "left",
) -> None:  # fmt: skip
    axes.text(along, down, text, fontsize=size, color=colour, fontweight=weight, ha=side, va="center", parse_math=False)
