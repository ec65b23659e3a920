"""Attention over a picture in a terminal: a small grid of cells for each word or step."""

from regard.viewing.canvas import show_title, show_word
from regard.viewing.overlay.record import Overlay
from regard.viewing.raster import ink_rows
from regard.viewing.seen import Joining
from regard.viewing.written import cell_len, fit_text


def overlay_lines(
    overlay: Overlay, width: int, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> list[str]:
    """The picture in shades, then a grid for each step, with the most ink where it looks most."""
    which, weights = overlay.one(layer, head, heads)
    title = show_title(overlay.title, which)
    lines = [fit_text(title, width), *("".join(row) for row in ink_rows(overlay.picture, min(width, 64)))]
    cells = min(max(2 * overlay.grid[1], 8), width)
    fit = max(1, (width + 2) // (cells + 2))
    for first in range(0, len(overlay.steps), fit):
        steps = range(first, min(first + fit, len(overlay.steps)))
        names = [fit_text(show_word(overlay.steps[step]), cells) for step in steps]
        grids = [ink_rows(weights[step] / (weights[step].max() or 1.0), cells) for step in steps]
        lines += ["", "  ".join(name + " " * (cells - cell_len(name)) for name in names).rstrip()]
        for rows in zip(*grids, strict=True):
            lines.append("  ".join(f"{''.join(row):{cells}}" for row in rows))
    return lines
