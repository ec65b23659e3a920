"""Sides of an attention: words, cells of a picture, frames of a video, nodes of a graph, steps, slots of a memory,
facts of a story, points of a drawing.

A gaze names its two sides, a task says what they are (`task.sides`), and the kinds of the two choose how it is drawn
(`drawers.py`). A new kind is one more class here and its pairs there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Words:
    """A text: its tokens, the words they are joined to, and for each token the place of its word."""

    tokens: Sequence[str]
    words: Sequence[str]
    places: Sequence[int]
    # The same places by what is read there; set where that is another token than the one that is written there.
    as_read: "Words | None" = None

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.places) or any(not 0 <= place < len(self.words) for place in self.places):
            raise ValueError(f"{len(self.places)} places do not lead from {len(self.tokens)} tokens to words")


@dataclass(frozen=True)
class Cells:
    """A picture, grey (height, width) or in colours (height, width, 3) from 0 to 1, under a grid of cells.

    What looks at cells looks at grid[0] rows of grid[1] cells, row after row; without a grid, through windows.
    """

    picture: np.ndarray
    grid: tuple[int, int] | None = None
    # Of a picture that is painted cell by cell: each cell looks back at the one before it first, never at itself.
    looked_back_at: bool = False

    def __post_init__(self) -> None:
        if self.picture.ndim not in (2, 3) or self.picture.shape[2:] not in ((), (3,)) or not self.picture.size:
            raise ValueError(f"a picture is (height, width) or (height, width, 3), not {self.picture.shape}")


@dataclass(frozen=True)
class Video:
    """The frames of a video in their order, (frame, height, width, 3) from 0 to 1."""

    frames: np.ndarray

    def __post_init__(self) -> None:
        if self.frames.ndim != 4 or self.frames.shape[3] != 3 or not self.frames.size:
            raise ValueError(f"a video is (frame, height, width, 3), not {self.frames.shape}")


@dataclass(frozen=True)
class Nodes:
    """The nodes of a graph: their names, which of them were asked about, and perhaps their classes.

    `answers` are the classes that the model gives, `labels` the true ones, "" where nobody knows.
    """

    names: Sequence[str]
    centres: Sequence[int]
    answers: Sequence[str] = ()
    labels: Sequence[str] = ()

    def __post_init__(self) -> None:
        for classes in (self.answers, self.labels):
            if classes and len(classes) != len(self.names):
                raise ValueError(f"{len(classes)} classes do not fit {len(self.names)} nodes")


@dataclass(frozen=True)
class Steps:
    """Named steps that a model takes one after another, such as glimpses.

    `given` and `answered` are what it is given and what it answers at each, as numbers (step, channel), where there are
    such.
    """

    names: Sequence[str]
    given: np.ndarray | None = None
    answered: np.ndarray | None = None

    def __post_init__(self) -> None:
        for numbers in (self.given, self.answered):
            if numbers is not None and len(numbers) != len(self.names):
                raise ValueError(f"{len(numbers)} rows of numbers do not fit {len(self.names)} steps")


@dataclass(frozen=True)
class Slots:
    """The slots of a memory, and the names of the heads that look at them, such as "read" and "write"."""

    count: int
    heads: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """The facts of a story in the order told, and the question about them; those before them that were forgotten."""

    lines: Sequence[str]
    question: str
    forgotten: Sequence[str] = ()


@dataclass(frozen=True)
class Frames:
    """A sound: samples from −1 to 1, `rate` of them a second, under `count` frames, each `seconds` after the other.

    `bands` (time, band), where they are given, are how loud it is in each of some bands of frequencies, low ones first.
    """

    samples: np.ndarray
    rate: int
    count: int
    seconds: float
    bands: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.samples.ndim != 1 or not self.samples.size or self.count < 1:
            raise ValueError(f"a sound is (sample), not {self.samples.shape}, with {self.count} frames")


@dataclass(frozen=True)
class Strokes:
    """A drawing: its points (point, 2), to the right and down, whether a stroke ends at each, and where steps stand.

    `places` has the number of a point for each place of the attention: a token between two strokes has none of its own.
    """

    points: np.ndarray
    ends: np.ndarray
    places: Sequence[int]

    def __post_init__(self) -> None:
        if len(self.points) != len(self.ends) or any(not 0 <= place < len(self.points) for place in self.places):
            raise ValueError(f"{len(self.places)} places do not lead to {len(self.points)} points")


Side = Words | Cells | Video | Nodes | Steps | Slots | Facts | Frames | Strokes
