"""A path of glimpses in a terminal: the picture with the steps' numbers on it, and what each saw."""

import numpy as np

from regard.viewing.canvas import show_word
from regard.viewing.raster import ink_rows
from regard.viewing.windows.record import GlimpsePath
from regard.viewing.written import cell_len, fit_text

_BRIGHT, _PLAIN = "\x1b[1;33m", "\x1b[0m"


def glimpse_lines(path: GlimpsePath, width: int, colour: bool) -> list[str]:
    """The picture in shades, the steps numbered where they looked, a line for each, and what they saw side by side."""
    rows = ink_rows(path.picture, width)
    scale = np.array([len(rows[0]) / path.picture.shape[1], len(rows) / path.picture.shape[0]])
    for step in reversed(range(len(path.steps))):  # where two stand at one place, the earlier is seen
        across, down = np.clip((path.centres[step] * scale).astype(int), 0, [len(rows[0]) - 1, len(rows) - 1])
        number = f"{step + 1:<2}"
        rows[down][across] = f"{_BRIGHT}{number}{_PLAIN}" if colour else number
    lines = [fit_text(show_word(path.title), width), *("".join(row) for row in rows)]
    for step, name in enumerate(path.steps):
        across, down = path.centres[step].round(1).tolist()
        sides = ", ".join(f"{side:g}" for side in sorted(path.extents[step].round(1).tolist()))
        lines.append(
            fit_text(f"{show_word(name)}: at {across:g} across, {down:g} down; sides of {sides} pixels", width)
        )
    return [*lines, "", *_patch_lines(path, width)]


def _patch_lines(path: GlimpsePath, width: int) -> list[str]:
    """What was seen, as many steps beside each other as fit."""
    cells = min(2 * path.sharpness, width)
    fit = max(1, (width + 2) // (cells + 2))
    lines = []
    for first in range(0, len(path.steps), fit):
        steps = range(first, min(first + fit, len(path.steps)))
        names = [fit_text(show_word(path.steps[step]), cells) for step in steps]
        lines.append("  ".join(name + " " * (cells - cell_len(name)) for name in names).rstrip())
        for patches in zip(*(path.patches(step) for step in steps), strict=True):
            pictures = [["".join(row) for row in ink_rows(patch, cells)] for patch in patches]
            lines += ["  ".join(row) for row in zip(*pictures, strict=True)]
            lines.append("")
    return lines[:-1]
