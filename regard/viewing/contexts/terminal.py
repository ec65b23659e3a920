"""One word in several contexts in a terminal: the contexts, the plane of each layer, and which are nearest."""

import numpy as np

from regard.viewing.canvas import show_word
from regard.viewing.contexts.record import ContextLayer, WordContexts
from regard.viewing.written import fit_text

_HIGH, _WIDEST = 15, 60  # lines of a plane, and its cells
_BRIGHT, _PLAIN = "\x1b[1;36m", "\x1b[0m"


def contexts_lines(contexts: WordContexts, width: int, colour: bool) -> list[str]:
    """The lines of all views, at most `width` cells wide."""
    lines = [fit_text(show_word(contexts.title), width)]
    for number in range(len(contexts.occurrences)):
        lines.append(fit_text(f"{number + 1:>3}  {show_word(contexts.line(number))}", width))
    for layer in contexts.layers:
        lines += ["", layer.title]
        if layer.nearest is None:
            continue
        lines += _plane_lines(layer, min(width - 2, _WIDEST), colour)
        pairs = (f"{number + 1}→{other + 1}" for number, other in enumerate(layer.nearest))
        lines.append(fit_text(f"most alike by the cosine: {', '.join(pairs)}", width))
    return lines


def _plane_lines(layer: ContextLayer, width: int, colour: bool) -> list[str]:
    """The numbers of the contexts where their vectors lie; a cell is half as wide as it is high."""
    points = layer.plane.points
    scale = min((width - 3) / 2 / 2, (_HIGH - 1) / 2) / float(np.abs(points).max())
    rows = [[" "] * width for _ in range(_HIGH)]
    for number in reversed(range(len(points))):  # where two stand at one place, the first is seen
        across, up = points[number] * scale
        column, row = round(width / 2 + 2 * across) - 1, round((_HIGH - 1) / 2 - up)
        name = str(number + 1)
        rows[row][column : column + len(name)] = name
    framed = ["┌" + "─" * width + "┐", *("│" + "".join(row) + "│" for row in rows), "└" + "─" * width + "┘"]
    if not colour:
        return framed
    return ["".join(f"{_BRIGHT}{cell}{_PLAIN}" if cell.isdigit() else cell for cell in line) for line in framed]
