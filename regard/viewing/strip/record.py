"""What words looked at in a video: weights over its frames."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.viewing.seen import Block, Joining, joined_weights


@dataclass(frozen=True)
class Strip:
    """The frames of a video (frame, height, width, 3) from 0 to 1, and what each word looked at.

    Blocks have weights (head, word, frame).
    """

    title: str
    frames: np.ndarray
    words: list[str]
    blocks: list[Block]

    def __post_init__(self) -> None:
        for block in self.blocks:
            if block.weights.shape[1:] != (len(self.words), len(self.frames)):
                shape, words, frames = block.weights.shape, len(self.words), len(self.frames)
                raise ValueError(f"weights of shape {shape} do not fit {words} words and {frames} frames")

    def one(self, layer: int | None = None, head: int | None = None, heads: Joining = "mean") -> tuple[str, np.ndarray]:
        """What is shown in words, and its weights (word, frame): of one head, or of all heads joined."""
        return joined_weights(self.blocks, layer, head, heads)


def to_json(strip: Strip) -> dict[str, Any]:
    """The same as plain values, every number as it is."""
    return {
        "title": strip.title,
        "frames": strip.frames.tolist(),
        "words": list(strip.words),
        "blocks": [block.to_json() for block in strip.blocks],
    }


def from_json(value: Mapping[str, Any]) -> Strip:
    """What `to_json` was given."""
    blocks = [Block.from_json(block) for block in value["blocks"]]
    return Strip(value["title"], np.array(value["frames"]), value["words"], blocks)
