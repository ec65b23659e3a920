"""What the frames of a sound looked at: its waveform, and weights of each frame over some rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from regard.viewing.seen import Block, Joining, joined_weights


@dataclass(frozen=True)
class FrameLooks:
    """A sound, its frames `seconds` apart, and what each looked at: blocks have weights (head, frame, row).

    `bands` (time, band) are how loud it is in bands of frequencies, where that is to be seen.
    """

    title: str
    samples: np.ndarray
    rate: int
    seconds: float
    rows: list[str]
    blocks: list[Block]
    bands: np.ndarray | None = None

    def __post_init__(self) -> None:
        shapes = {block.weights.shape[1:] for block in self.blocks}
        if len(shapes) != 1 or next(iter(shapes))[1] != len(self.rows):
            raise ValueError(f"weights of shapes {shapes} do not fit {len(self.rows)} rows")

    @property
    def count(self) -> int:
        """How many frames there are."""
        return int(self.blocks[0].weights.shape[1])

    @property
    def duration(self) -> float:
        """In seconds, of the frames, which may end a little behind the sound."""
        return self.count * self.seconds

    def one(self, layer: int | None = None, head: int | None = None, heads: Joining = "mean") -> tuple[str, np.ndarray]:
        """What is shown in words, and its weights (row, frame): of one head, or of all heads joined."""
        which, weights = joined_weights(self.blocks, layer, head, heads)
        return which, weights.T

    def envelope(self, bins: int) -> np.ndarray:
        """The lowest and the highest sample (2, bin) in each of so many equal parts of the time of all frames."""
        edges = np.linspace(0, self.duration * self.rate, bins + 1).astype(int)
        found = np.zeros((2, bins))
        for place, (first, end) in enumerate(pairwise(edges)):
            part = self.samples[first : max(end, first + 1)]
            if len(part):
                found[:, place] = part.min(), part.max()
        return found


def to_json(looks: FrameLooks) -> dict[str, Any]:
    """The same as plain values, every number as it is."""
    return {
        "title": looks.title,
        "samples": looks.samples.tolist(),
        "rate": looks.rate,
        "seconds": looks.seconds,
        "rows": list(looks.rows),
        "blocks": [block.to_json() for block in looks.blocks],
        "bands": None if looks.bands is None else looks.bands.tolist(),
    }


def from_json(value: Mapping[str, Any]) -> FrameLooks:
    """What `to_json` was given."""
    blocks = [Block.from_json(block) for block in value["blocks"]]
    samples, bands = np.array(value["samples"]), value.get("bands")
    return FrameLooks(
        value["title"],
        samples,
        value["rate"],
        value["seconds"],
        value["rows"],
        blocks,
        None if bands is None else np.array(bands),
    )
