"""Attention over a video in a terminal: its frames side by side, and a line of shades for each word."""

from collections.abc import Iterable

from regard.viewing.canvas import show_title, show_word
from regard.viewing.raster import ink_rows
from regard.viewing.seen import Joining
from regard.viewing.strip.record import Strip
from regard.viewing.written import cell_len, fit_text, legend_of_shades, shade_of

_FEWEST_CELLS = 8  # in which a frame shows anything


def strip_lines(
    strip: Strip, width: int, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> list[str]:
    """The frames in shades, where there is room, and their numbers; then for each word a shade under each frame."""
    which, weights = strip.one(layer, head, heads)
    title = show_title(strip.title, which)
    names = [show_word(word) for word in strip.words]
    margin = min(max(map(cell_len, names)), max(width // 4, 4))
    cells = max(1, (width - margin - 1) // len(strip.frames) - 1)  # of a frame, one more between two
    lines = [fit_text(title, width)]
    if cells >= _FEWEST_CELLS:
        for rows in zip(*(ink_rows(frame, cells) for frame in strip.frames), strict=True):
            lines.append(_beside(margin, ("".join(row).ljust(cells) for row in rows)))
    numbers = (str(number)[-cells:].ljust(cells) for number in range(1, len(strip.frames) + 1))
    lines.append(fit_text(_beside(margin, numbers), width))
    for name, own in zip(names, weights, strict=True):
        name = fit_text(name, margin)
        ink = " ".join(shade_of(float(weight)) * cells for weight in own)
        lines.append(fit_text(f"{' ' * (margin - cell_len(name))}{name} {ink}", width))
    return [*lines, fit_text(f"{'':{margin}} {legend_of_shades()}", width)]


def _beside(margin: int, frames: Iterable[str]) -> str:
    return f"{'':{margin}} {' '.join(frames)}".rstrip()
