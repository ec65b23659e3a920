"""Examples as steps: what a machine is given at each, and what it is to answer.

Items come as bits, markers on channels of their own; where an answer is asked for, nothing is given, or a cue alone.
All examples that are made at once have as many steps.
"""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from regard.data.algorithms.options import AlgorithmData

MARKERS = {"copy": 1, "repeat-copy": 2, "recall": 2, "sort": 2}  # channels beside those of the bits
ENDS = {"repeat-copy": 1}  # channels of an answer beside its bits


@dataclass(frozen=True)
class Examples:
    """Rows of examples: inputs (row, step, channel), answers (row, step, channel), and the steps that are asked for.

    `asked` is (row, step), `items` how many items each row has.
    """

    inputs: np.ndarray
    answers: np.ndarray
    asked: np.ndarray
    items: np.ndarray

    @property
    def steps(self) -> int:
        return self.inputs.shape[1]

    def add_cue(self) -> "Examples":
        """Return the examples with one more channel, which is on where an answer is asked for."""
        cue = self.asked[..., None].astype(self.inputs.dtype)
        return replace(self, inputs=np.concatenate([self.inputs, cue], axis=-1))

    def pad(self, steps: int) -> "Examples":
        """Return the examples with steps at the end that have neither input nor answer."""
        more = steps - self.steps
        inputs, answers = (np.pad(each, ((0, 0), (0, more), (0, 0))) for each in (self.inputs, self.answers))
        return Examples(inputs, answers, np.pad(self.asked, ((0, 0), (0, more))), self.items)


def join_examples(parts: list[Examples]) -> Examples:
    """Examples of several sizes as rows of one, the shorter ones padded."""
    steps = max(part.steps for part in parts)
    padded = [part.pad(steps) for part in parts]
    fields = ("inputs", "answers", "asked", "items")
    return Examples(*(np.concatenate([getattr(part, field) for part in padded]) for field in fields))


def channels(data: AlgorithmData) -> tuple[int, int]:
    """Return how many numbers a step is given, and how many are answered."""
    return data.bits + MARKERS[data.algorithm] + data.cue, data.bits + ENDS.get(data.algorithm, 0)


def draw_examples(data: AlgorithmData, rows: int, items: int, repeats: int, chance: np.random.Generator) -> Examples:
    """Examples of so many items; `repeats` is of those that are copied several times."""
    examples = _draw_plain(data, rows, items, repeats, chance)
    return examples.add_cue() if data.cue else examples


def _draw_plain(data: AlgorithmData, rows: int, items: int, repeats: int, chance: np.random.Generator) -> Examples:
    if data.algorithm == "recall":
        listed = _draw_bits(chance, rows, items, data.item_length, data.bits)
        asked_for = chance.integers(items - 1, size=rows)
        return recall_example(listed, listed[np.arange(rows), asked_for], listed[np.arange(rows), asked_for + 1])
    given = _draw_bits(chance, rows, items, data.bits)
    if data.algorithm == "sort":
        return sort_example(given, chance.uniform(-1, 1, size=(rows, items)).astype(np.float32), data.kept)
    if data.algorithm == "repeat-copy":
        return repeat_example(given, repeats, data.most_repeats)
    return copy_example(given)


def _draw_bits(chance: np.random.Generator, *shape: int) -> np.ndarray:
    return chance.integers(2, size=shape, dtype=np.int8).astype(np.float32)


def copy_example(given: np.ndarray) -> Examples:
    """The items (row, item, bit), a marker, and the same items as the answer."""
    rows, items, bits = given.shape
    examples = _blank(rows, 2 * items + 1, bits + 1, bits, items)
    examples.inputs[:, :items, :bits] = given
    examples.inputs[:, items, bits] = 1
    return _answer(examples, given)


def repeat_example(given: np.ndarray, repeats: int, most: int) -> Examples:
    """The items, a marker with the number of repeats, and as the answer the items so often, then a marker of the end.

    The number is as Graves et al. 2014, section 4.2, have it: with mean 0 and deviation 1 over those that are learnt.
    """
    rows, items, bits = given.shape
    learnt = np.arange(1, most + 1)
    examples = _blank(rows, items + 1 + repeats * items + 1, bits + 2, bits + 1, items)
    examples.inputs[:, :items, :bits] = given
    examples.inputs[:, items, bits] = 1
    examples.inputs[:, items, bits + 1] = (repeats - learnt.mean()) / (learnt.std() or 1.0)
    answer = np.zeros((rows, repeats * items + 1, bits + 1), np.float32)
    answer[:, :-1, :bits] = np.tile(given, (1, repeats, 1))
    answer[:, -1, bits] = 1
    return _answer(examples, answer)


def recall_example(listed: np.ndarray, asked_for: np.ndarray, answer: np.ndarray) -> Examples:
    """Items (row, item, part, bit), each after a marker; then, between other markers, the one that is asked for."""
    rows, items, parts, bits = listed.shape
    examples = _blank(rows, items * (parts + 1) + 2 * parts + 2, bits + 2, bits, items)
    inputs = examples.inputs
    for item in range(items):
        first = item * (parts + 1)
        inputs[:, first, bits] = 1
        inputs[:, first + 1 : first + 1 + parts, :bits] = listed[:, item]
    first = items * (parts + 1)
    inputs[:, [first, first + parts + 1], bits + 1] = 1
    inputs[:, first + 1 : first + 1 + parts, :bits] = asked_for
    return _answer(examples, answer)


def sort_example(given: np.ndarray, priorities: np.ndarray, kept: float) -> Examples:
    """Items (row, item, bit) with their priorities (row, item), a marker, and the items of the highest, in order."""
    rows, items, bits = given.shape
    count = ceil(round(kept * items, 6))
    examples = _blank(rows, items + 1 + count, bits + 2, bits, items)
    examples.inputs[:, :items, :bits] = given
    examples.inputs[:, :items, bits + 1] = priorities
    examples.inputs[:, items, bits] = 1
    order = np.argsort(-priorities, axis=1, kind="stable")[:, :count]
    return _answer(examples, np.take_along_axis(given, order[:, :, None], axis=1))


def _blank(rows: int, steps: int, inputs: int, answers: int, items: int) -> Examples:
    return Examples(
        np.zeros((rows, steps, inputs), np.float32),
        np.zeros((rows, steps, answers), np.float32),
        np.zeros((rows, steps), bool),
        np.full(rows, items),
    )


def _answer(examples: Examples, answer: np.ndarray) -> Examples:
    """Ask for an answer (row, step, channel) in the last steps."""
    examples.answers[:, -answer.shape[1] :] = answer
    examples.asked[:, -answer.shape[1] :] = True
    return examples
