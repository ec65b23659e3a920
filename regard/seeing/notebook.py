"""Views in a notebook: the offline page of `regard look` in a frame."""

from collections.abc import Sequence

import numpy as np

from regard.attention.watch import SIDES, Gaze, Names, name_look
from regard.base.notebook import frame, paragraph, stacked
from regard.viewing.page import PageScene, Start, fits, scene_page
from regard.viewing.seen import Block, Seen


def in_notebook(looks: Seen | Sequence[Gaze]) -> str:
    """Return the page of what one side of a model looked at, or of gazes."""
    return _seen_in_notebook(looks) if isinstance(looks, Seen) else _gazes_in_notebook(looks)


def _seen_in_notebook(seen: Seen) -> str:
    return _framed(PageScene(" ".join(seen.columns), seen.output or " ".join(seen.rows), [seen]))


def _gazes_in_notebook(gazes: Sequence[Gaze]) -> str:
    """The page of gazes: of a batch its first row, and of blocks that looked at several texts in turn the first."""
    drawn = [gaze for gaze in gazes if gaze.edges is None]
    sides: dict[str, list[Gaze]] = {name: [] for name in SIDES if any(_side(gaze) == name for gaze in drawn)}
    for gaze in drawn:
        own = sides.setdefault(_side(gaze), [])
        if not own or _places(gaze) == _places(own[0]):
            own.append(gaze)
    if not sides:
        return stacked(map(paragraph, map(repr, gazes))) if gazes else paragraph("Nothing was looked at.", light=True)
    every = [_first_row(name, own) for name, own in sides.items()]
    rows = max(len(gaze.weights) for gaze in drawn)
    first = every[0]
    scene = PageScene(" ".join(first.columns), " ".join(first.rows), (), every, start=Start(first.side, mode="tokens"))
    return _framed(scene) + (paragraph(f"This is the first of {rows} rows.", light=True) if rows > 1 else "")


def _side(gaze: Gaze) -> str:
    return name_look(gaze.looks_from, gaze.looks_at)


def _framed(scene: PageScene) -> str:
    every = [*scene.words, *scene.tokens]
    if not fits(every):
        return stacked(map(paragraph, map(repr, every)))
    return frame(scene_page(scene).html, f"What looks at what: {scene.source}")


def _places(gaze: Gaze) -> tuple[list[str], list[str]]:
    """The names of the places on both sides, in the first row."""
    queries, keys = gaze.weights.shape[2:]
    return _names(gaze.queries, queries), _names(gaze.keys, keys)


def _names(names: Names, count: int) -> list[str]:
    """Numbers where nobody has named the places."""
    return list(names[0]) if names else [str(number + 1) for number in range(count)]


def _first_row(side: str, gazes: Sequence[Gaze]) -> Seen:
    rows, columns = _places(gazes[0])
    weights = [gaze.weights[0, :, : len(rows), : len(columns)].double().cpu().numpy() for gaze in gazes]
    blocks = [Block(gaze.where, np.asarray(own)) for gaze, own in zip(gazes, weights, strict=True)]
    return Seen(side, "", rows, columns, blocks)
