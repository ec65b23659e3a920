"""Explanations of a decision as a page shows them: the served one, or one of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.base.files import finite
from regard.seeing.why.decision import Question
from regard.seeing.why.explaining import Explained
from regard.seeing.why.maps import Map
from regard.viewing.canvas import show_word
from regard.viewing.drawers import page_view
from regard.viewing.looks import LooksBetween
from regard.viewing.seen import Block
from regard.viewing.sides import Cells, Frames, Steps, Video, Words
from regard.viewing.tables import tables_data


def page_fields(found: Explained) -> dict[str, Any]:
    """Return everything that the view of a page reads, as plain values."""
    asked = found.question
    looks = looks_of(asked, found.maps) if found.maps else None
    view, data = (None, None) if looks is None else page_view(looks)
    maps = [row | {"remarks": list(own.remarks)} for row, own in zip(found.rows(), found.maps, strict=True)]
    about = found.about()
    shown = {name: show_word(about[name]) if about[name] else "" for name in ("text", "output")}
    fields: dict[str, Any] = {
        **about,
        **shown,
        "words": _tokens(asked.side),
        "choices": _tokens(asked.choices),
        "explained": list(asked.explained),
        "maps": maps,
        "refused": found.refusals,
        "tables": [] if found.tables is None else tables_data(found.tables),
    }
    return {**finite(fields), "view": view, "looks": data}


def _tokens(side: Any) -> dict[str, Sequence[Any]] | None:
    if not isinstance(side, Words):
        return None
    return {"tokens": list(side.tokens), "words": list(side.words), "word_of_token": list(side.places)}


def looks_of(question: Question, maps: Sequence[Map], title: str = "") -> LooksBetween | None:
    """Return maps as weights over a picture, a video or a sound, as attention is drawn; None for other inputs."""
    side, methods = question.side, [found.method for found in maps]
    if isinstance(side, Cells | Video):
        blocks = [Block("", np.stack([_shade(found) for found in maps])[None])]
        return LooksBetween("why", title, "", Words(methods, methods, range(len(methods))), side, blocks)
    if isinstance(side, Frames):
        weights = np.stack([_shade(found) for found in maps], axis=1)[None]
        return LooksBetween("why", title, "", side, Steps(methods), [Block("", weights)])
    return None


def _shade(found: Map) -> np.ndarray:
    """Return the scores that spoke for the output, the largest as 1; those that spoke against it are not shaded."""
    scores = np.clip(np.array(found.scores), 0, None)
    return np.asarray(scores / (scores.max() or 1.0))
