"""A path of glimpses as a short animation: the picture, and one window after the other."""

from pathlib import Path

import numpy as np

from regard.base.files import write_file
from regard.viewing.drawings.record import DrawnCanvas, WritingWindow
from regard.viewing.drawings.sheet import sheet_gif
from regard.viewing.raster import grey
from regard.viewing.windows.record import GlimpsePath

_LINE = 0.4  # pixels of the picture that a window's border is wide


def animate_glimpses(path: GlimpsePath, file: Path) -> None:
    """Write a GIF of the picture with the smallest window of each step."""
    picture = grey(path.picture)
    squares = [path.squares(step)[0] for step in range(len(path.steps))]
    windows = [WritingWindow(left + side / 2, top + side / 2, side, _LINE) for left, top, side in squares]
    frames = DrawnCanvas(np.repeat(picture[None], len(windows), axis=0), windows).frames()
    write_file(file, sheet_gif([frames]))
