"""Views in a notebook: the offline page of `regard look` in a frame."""

from collections.abc import Sequence

import numpy as np

from regard.attention.watch import SIDES, Gaze, Names, name_look
from regard.base.notebook import frame, paragraph, stacked
from regard.viewing.page import PageScene, Start, fits, scene_page
from regard.viewing.seen import Block, Seen


def in_notebook(looks: Seen | Sequence[Gaze]) -> str:
    """Return the page of one side's attention, or of gazes."""
    return _seen_in_notebook(looks) if isinstance(looks, Seen) else _gazes_in_notebook(looks)


def _seen_in_notebook(seen: Seen) -> str:
    return _framed(PageScene(" ".join(seen.columns), seen.output or " ".join(seen.rows), [seen]))


def _gazes_in_notebook(gazes: Sequence[Gaze]) -> str:
    """Return the page of gazes: the first row of a batch, and the first text if blocks read several in turn."""
    with_weights = [gaze for gaze in gazes if gaze.edges is None]
    sides: dict[str, list[Gaze]] = {name: [] for name in SIDES if any(_side(gaze) == name for gaze in with_weights)}
    for gaze in with_weights:
        side_gazes = sides.setdefault(_side(gaze), [])
        if not side_gazes or _places(gaze) == _places(side_gazes[0]):
            side_gazes.append(gaze)
    if not sides:
        return stacked(map(paragraph, map(repr, gazes))) if gazes else paragraph("There was no attention.", light=True)
    views = [_first_row(name, side_gazes) for name, side_gazes in sides.items()]
    rows = max(len(gaze.weights) for gaze in with_weights)
    first = views[0]
    scene = PageScene(" ".join(first.columns), " ".join(first.rows), (), views, start=Start(first.side, mode="tokens"))
    return _framed(scene) + (paragraph(f"This is the first of {rows} rows.", light=True) if rows > 1 else "")


def _side(gaze: Gaze) -> str:
    return name_look(gaze.looks_from, gaze.looks_at)


def _framed(scene: PageScene) -> str:
    views = [*scene.words, *scene.tokens]
    if not fits(views):
        return stacked(map(paragraph, map(repr, views)))
    return frame(scene_page(scene).html, f"Attention: {scene.source}")


def _places(gaze: Gaze) -> tuple[list[str], list[str]]:
    """Return the names of the places on both sides, in the first row."""
    queries, keys = gaze.weights.shape[2:]
    return _names(gaze.queries, queries), _names(gaze.keys, keys)


def _names(names: Names, count: int) -> list[str]:
    """Return the names of the places, or numbers if they have none."""
    return list(names[0]) if names else [str(number + 1) for number in range(count)]


def _first_row(side: str, gazes: Sequence[Gaze]) -> Seen:
    rows, columns = _places(gazes[0])
    weights = [gaze.weights[0, :, : len(rows), : len(columns)].double().cpu().numpy() for gaze in gazes]
    blocks = [Block(gaze.where, np.asarray(gaze_weights)) for gaze, gaze_weights in zip(gazes, weights, strict=True)]
    return Seen(side, "", rows, columns, blocks)
