"""Kinds of sides of an attention: words, cells of a picture, frames, nodes of a graph, steps, slots, facts and strokes.

A gaze names its two sides, a task says what they are (`task.sides`), and their kinds decide how it is drawn
(`drawers.py`). A new kind needs a class here and its pairs there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Words:
    """A text: its tokens, its words, and for each token the place of its word."""

    tokens: Sequence[str]
    words: Sequence[str]
    places: Sequence[int]
    # The same places by the tokens read there, if these differ from the tokens written there.
    as_read: "Words | None" = None

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.places) or any(not 0 <= place < len(self.words) for place in self.places):
            raise ValueError(f"{len(self.places)} places do not lead from {len(self.tokens)} tokens to words")


@dataclass(frozen=True)
class Cells:
    """A picture, grey (height, width) or in colours (height, width, 3) from 0 to 1, under a grid of cells.

    Attention covers grid[0] rows of grid[1] cells, row by row; without a grid, it looks through windows.
    """

    picture: np.ndarray
    grid: tuple[int, int] | None = None
    # For a picture painted cell by cell: each cell attends to earlier cells, never to itself.
    looked_back_at: bool = False

    def __post_init__(self) -> None:
        if self.picture.ndim not in (2, 3) or self.picture.shape[2:] not in ((), (3,)) or not self.picture.size:
            raise ValueError(f"a picture is (height, width) or (height, width, 3), not {self.picture.shape}")


@dataclass(frozen=True)
class Video:
    """The frames of a video in order, (frame, height, width, 3) from 0 to 1."""

    frames: np.ndarray

    def __post_init__(self) -> None:
        if self.frames.ndim != 4 or self.frames.shape[3] != 3 or not self.frames.size:
            raise ValueError(f"a video is (frame, height, width, 3), not {self.frames.shape}")


@dataclass(frozen=True)
class Nodes:
    """The nodes of a graph: their names, which of them were requested, and optionally their classes.

    `answers` are the classes that the model gives, `labels` the true ones, "" if unknown.
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

    `given` and `answered` are the inputs and answers at each step as numbers (step, channel), if there are any.
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
    """The slots of a memory, and the names of its heads, such as "read" and "write"."""

    count: int
    heads: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """The facts of a story in order, the question about them, and earlier facts that were forgotten."""

    lines: Sequence[str]
    question: str
    forgotten: Sequence[str] = ()


@dataclass(frozen=True)
class Frames:
    """A sound: samples from −1 to 1 at `rate` per second, with `count` frames, `seconds` apart.

    `bands` (time, band), if given, is the loudness in frequency bands, from low to high.
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
    """A drawing: its points (point, 2), to the right and down, whether a stroke ends at each, and the places of steps.

    `places` has the number of a point for each place of the attention; a token between two strokes has no point itself.
    """

    points: np.ndarray
    ends: np.ndarray
    places: Sequence[int]

    def __post_init__(self) -> None:
        if len(self.points) != len(self.ends) or any(not 0 <= place < len(self.points) for place in self.places):
            raise ValueError(f"{len(self.places)} places do not lead to {len(self.points)} points")


Side = Words | Cells | Video | Nodes | Steps | Slots | Facts | Frames | Strokes
