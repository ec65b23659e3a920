"""What points of a drawing looked at, in a terminal: a line for each point with the points it looked at most."""

import numpy as np

from regard.viewing.canvas import show_title
from regard.viewing.seen import Joining
from regard.viewing.strokes.record import StrokeLooks
from regard.viewing.written import fit_text

_MOST = 3  # points that a line names


def stroke_lines(
    looks: StrokeLooks, width: int, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> list[str]:
    """Every point, the stroke that it belongs to, and the points that it looked at most."""
    which, weights = looks.one(layer, head, heads)
    title = show_title(looks.title, which)
    stroke_of = np.concatenate([[number] * len(stroke) for number, stroke in enumerate(looks.strokes(), start=1)])
    lines = [fit_text(title, width)]
    for place, own in enumerate(weights):
        most = [int(each) for each in np.argsort(-own[: looks.reach(place) + 1], kind="stable")[:_MOST]]
        named = ", ".join(f"{each + 1} {own[each]:.2f}" for each in most) if own.any() else "nothing"
        lines.append(fit_text(f"point {place + 1:>3}, stroke {stroke_of[place]}: looks at {named}", width))
    return lines
