"""Jobs over sequences: inputs of the network, correct outputs, and texts for people.

Losses and answers are per sequence, so that they add up however a batch is split.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from regard.base.faults import Fault
from regard.data.pictures.prepare import PictureLabels
from regard.data.sequences.drawing import frame_copies
from regard.data.sequences.options import SequenceData
from regard.data.sequences.prepare import pixel_steps
from regard.models.sequences.shape import Sequences, SequenceShape
from regard.protocols import Answer

CLOSE = 0.04  # a sum that is off by less counts as right (Hochreiter and Schmidhuber 1997, experiment 4)
MARK = "*"  # after a number to add
BLANK = "–"


@runtime_checkable
class Job(Protocol):
    """One job; `wrong` names what its error is a share of.

    `answered` is the number of last steps that have an answer of their own.
    """

    shape: SequenceShape
    wrong: str
    answered: int

    @property
    def classes(self) -> Sequence[str]:
        """Names of what an output chooses from; none if it is a number."""

    def numbers(self, read: Tensor, dtype: torch.dtype) -> Sequences:
        """Return the inputs of the network."""

    def losses(self, outputs: Tensor, targets: Tensor) -> Float[Tensor, " batch"]:
        """Return the loss of each sequence, summed over its outputs."""

    def right(self, outputs: Tensor, targets: Tensor) -> Bool[Tensor, "batch answer"]:
        """Return True for each right answer."""

    def parse(self, text: str) -> np.ndarray:
        """Parse a sequence as people write it."""

    def answer(self, outputs: Tensor) -> Answer:
        """Return the answer that the outputs for one sequence give."""

    def steps(self, read: np.ndarray) -> list[str]:
        """Describe the input of each step."""


class Adding:
    """Add the two marked numbers."""

    wrong = f"percent of the sums, those off by {CLOSE} or more"
    classes: Sequence[str] = ()
    answered = 1

    def __init__(self, options: SequenceData) -> None:
        self.shape = SequenceShape(options.length, depth=2, outputs=1, at_each_step=False)

    def numbers(self, read: Tensor, dtype: torch.dtype) -> Sequences:
        return read.to(dtype)

    def losses(self, outputs: Tensor, targets: Tensor) -> Float[Tensor, " batch"]:
        """Return (y − ŷ)²."""
        return (outputs[:, 0] - targets).square()

    def right(self, outputs: Tensor, targets: Tensor) -> Bool[Tensor, "batch answer"]:
        return (outputs - targets[:, None]).abs() < CLOSE

    def parse(self, text: str) -> np.ndarray:
        """Parse numbers, two of them with a star.

        Shorter sequences are padded with unmarked zeros after the first star. This changes no sum and leaves a marked
        number near either end, as in the training data.
        """
        words = text.split()
        numbers = [_number(word.removesuffix(MARK), 0.0, 1.0) for word in words]
        marks = [float(word.endswith(MARK)) for word in words]
        if sum(marks) != 2:
            raise Fault(f"Mark two numbers to add, as in '0.3 0.5{MARK} 0.2{MARK}', not {sum(marks):.0f}.")
        if len(words) > self.shape.length:
            raise Fault(f"There are {len(words)} numbers; the model was trained on {self.shape.length}.")
        read = np.zeros((self.shape.length, 2), np.float32)
        pairs, begin = np.stack([numbers, marks], axis=1), marks.index(1.0) + 1
        read[:begin], read[self.shape.length - len(words) + begin :] = pairs[:begin], pairs[begin:]
        return read

    def answer(self, outputs: Tensor) -> Answer:
        return Answer(f"{float(outputs[0]):.3f}", 1.0, {})

    def steps(self, read: np.ndarray) -> list[str]:
        return [f"{number:.2f}{MARK if mark else ''}" for number, mark in read]


class Copying:
    """Repeat the symbols that were shown long ago."""

    wrong = "percent of the symbols to be remembered"

    def __init__(self, options: SequenceData) -> None:
        self.options, length = options, options.length + 2 * options.remembered
        self.shape = SequenceShape(length, depth=options.symbols + 2, outputs=options.symbols + 1, at_each_step=True)
        self.classes, self.answered = [BLANK, *map(str, range(1, options.symbols + 1))], options.remembered

    def numbers(self, read: Tensor, dtype: torch.dtype) -> Sequences:
        """Return a one-hot vector over the symbols, the blank and the prompt."""
        return F.embedding(read, torch.eye(self.shape.depth, dtype=dtype, device=read.device))

    def losses(self, outputs: Tensor, targets: Tensor) -> Float[Tensor, " batch"]:
        """Return −log p of the target at every step, including blanks, as published."""
        return F.cross_entropy(outputs.mT, targets, reduction="none").sum(1)

    def right(self, outputs: Tensor, targets: Tensor) -> Bool[Tensor, "batch answer"]:
        last = self.options.remembered
        return outputs[:, -last:].argmax(-1) == targets[:, -last:]

    def parse(self, text: str) -> np.ndarray:
        """Parse the symbols to remember, as numbers."""
        count, words = self.options.remembered, text.split()
        if len(words) != count:
            raise Fault(f"The model remembers {count} symbols, not {len(words)}.")
        shown = np.array([_number(word, 1, self.options.symbols) for word in words])
        if (shown % 1).any():
            raise Fault(f"Symbols are whole numbers from 1 to {self.options.symbols}.")
        return frame_copies(self.options, shown[None].astype(np.int64))[0][0]

    def answer(self, outputs: Tensor) -> Answer:
        """Return the most probable symbol at each of the last steps, and their joint probability."""
        best = outputs[-self.options.remembered :].log_softmax(-1).max(-1)
        symbols = " ".join(self.classes[symbol] for symbol in best.indices.tolist())
        probability = float(best.values.sum().exp())
        return Answer(symbols, probability, {symbols: probability})

    def steps(self, read: np.ndarray) -> list[str]:
        names = [*self.classes, "?"]
        return [names[symbol] for symbol in read]


class Pixels:
    """Classify a picture whose pixels are read one after another."""

    wrong = "percent of the pictures"
    answered = 1

    def __init__(self, options: SequenceData, labels: PictureLabels) -> None:
        self.options, self.labels, self.classes = options, labels, labels.classes
        length = labels.height * labels.width // options.at_once
        self.shape = SequenceShape(length, options.at_once, len(labels.classes), at_each_step=False)

    def numbers(self, read: Tensor, dtype: torch.dtype) -> Sequences:
        """Return pixels as numbers: 0 is black, 1 is white."""
        return read.to(dtype) / 255

    def losses(self, outputs: Tensor, targets: Tensor) -> Float[Tensor, " batch"]:
        """Return −log p of the class."""
        return F.cross_entropy(outputs, targets, reduction="none")

    def right(self, outputs: Tensor, targets: Tensor) -> Bool[Tensor, "batch answer"]:
        return (outputs.argmax(-1) == targets)[:, None]

    def parse(self, text: str) -> np.ndarray:
        """Parse all pixels row by row, from 0 for black to 255 for white."""
        height, width, words = self.labels.height, self.labels.width, text.split()
        if len(words) != height * width:
            raise Fault(f"A picture has {height} × {width} = {height * width} pixels, not {len(words)}.")
        pixels = np.array([_number(word, 0, 255) for word in words])
        return pixel_steps(self.options, pixels.astype(np.uint8).reshape(1, height, width))[0]

    def answer(self, outputs: Tensor) -> Answer:
        probabilities = dict(zip(self.labels.classes, outputs.softmax(-1).tolist(), strict=True))
        best = max(probabilities, key=probabilities.__getitem__)
        return Answer(best, probabilities[best], probabilities)

    def steps(self, read: np.ndarray) -> list[str]:
        return [" ".join(map(str, pixels)) for pixels in read]


def job_of(options: SequenceData, labels: PictureLabels | None) -> Adding | Copying | Pixels:
    """Return the job that a recipe names; `labels` are those of pictures, if it reads pictures."""
    if labels is not None:
        return Pixels(options, labels)
    return Adding(options) if options.job == "adding" else Copying(options)


def _number(word: str, least: int | float, most: int | float) -> float:
    try:
        number = float(word)
    except ValueError:
        raise Fault(f"'{word[:40]}' is not a number.") from None
    if not least <= number <= most:
        raise Fault(f"{word[:40]} is not between {least:g} and {most:g}.")
    return number
