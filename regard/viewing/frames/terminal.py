"""A sound and what its frames looked at in a terminal: how loud it is, and under it a line for each row."""

import numpy as np

from regard.viewing.canvas import show_title, show_word
from regard.viewing.frames.record import FrameLooks
from regard.viewing.seen import Joining
from regard.viewing.written import cell_len, fit_text, legend_of_shades, shade_of

_BARS = " ▁▂▃▄▅▆▇█"
_MOST_ROWS = 40


def frames_lines(
    looks: FrameLooks, width: int, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> list[str]:
    """The lines, at most `width` cells wide; where there are more frames than cells, the largest weight of several."""
    which, weights = looks.one(layer, head, heads)
    shown = [show_word(row) for row in looks.rows[:_MOST_ROWS]]
    margin = min(max(map(cell_len, shown)), max(width // 3, 4))
    cells = min(max(width - margin - 1, 1), looks.count)
    low, high = looks.envelope(cells)
    loud = np.maximum(-low, high)
    bars = "".join(_BARS[int(value)] for value in np.ceil(loud / max(loud.max(), 1e-6) * (len(_BARS) - 1)))
    title = show_title(looks.title, which)
    lines = [fit_text(title, width), f"{'':{margin}} {bars}".rstrip()]
    groups = np.array_split(np.arange(looks.count), cells)
    for name, own in zip(shown, weights, strict=False):
        ink = "".join(shade_of(float(own[group].max())) for group in groups)
        name = fit_text(name, margin)
        lines.append(f"{' ' * (margin - cell_len(name))}{name} {ink}".rstrip())
    if len(looks.rows) > _MOST_ROWS:
        lines.append(f"{'':{margin}} … {len(looks.rows) - _MOST_ROWS} more")
    seconds = f"{looks.duration:.2f} s"
    lines.append(f"{'':{margin}} 0{'':{max(1, cells - len(seconds) - 1)}}{seconds}")
    return [*lines, fit_text(f"{'':{margin}} {legend_of_shades()}", width)]
