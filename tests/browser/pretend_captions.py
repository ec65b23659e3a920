"""The fake server's captions: the same four words, each attending to one of four cells."""

from typing import Any

import numpy as np

from regard.viewing.overlay import Overlay, overlay_data
from regard.viewing.seen import Block
from regard.viewing.strip import Strip, strip_data

WORDS = ["a", "red", "circle", "above"]
DESCRIBER = {
    "name": "describer",
    "task": "captioning",
    "reads": "picture",
    "family": "captioner",
    "can": ["caption", "look"],
}

WATCHER = DESCRIBER | {"name": "watcher", "reads": "video"}


def caption_pictures(question: dict[str, Any]) -> dict[str, Any]:
    attention = [
        {"word": word, "weights": row.reshape(2, 2).tolist()} for word, row in zip(WORDS, np.eye(4), strict=True)
    ]
    caption = {"text": " ".join(WORDS), "score": -1.25, "attention": attention}
    return {"model": question["model"], "seconds": 0.003, "captions": [caption for _ in question["pictures"]]}


def look_at_places() -> dict[str, Any]:
    picture = np.zeros((4, 4, 3))
    picture[:2, :2, 0] = 1.0
    overlay = Overlay("The picture", picture, (2, 2), [*WORDS, "</s>"], [Block("look", np.eye(5, 4)[None])])
    return {"view": "overlay", "looks": overlay_data(overlay)}


def look_at_frames() -> dict[str, Any]:
    strip = Strip("The video", np.zeros((4, 2, 2, 3)), [*WORDS, "</s>"], [Block("look", np.eye(5, 4)[None])])
    return {"view": "strip", "looks": strip_data(strip)}
