"""Examples as steps: the input of a machine at each step, and the expected answer.

Items are given as bits, markers on channels of their own. While an answer is expected, the input is empty or only a
cue. All examples made at once have the same number of steps.
"""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from regard.data.algorithms.options import AlgorithmData

MARKERS = {"copy": 1, "repeat-copy": 2, "recall": 2, "sort": 2}  # input channels in addition to the bits
ENDS = {"repeat-copy": 1}  # answer channels in addition to the bits


@dataclass(frozen=True)
class Examples:
    """Rows of examples: inputs (row, step, channel), answers (row, step, channel), and the steps that expect an answer.

    `asked` is (row, step); `items` is the number of items in each row.
    """

    inputs: np.ndarray
    answers: np.ndarray
    asked: np.ndarray
    items: np.ndarray

    @property
    def steps(self) -> int:
        return self.inputs.shape[1]

    def add_cue(self) -> "Examples":
        """Return the examples with one more channel, which is on while an answer is expected."""
        cue = self.asked[..., None].astype(self.inputs.dtype)
        return replace(self, inputs=np.concatenate([self.inputs, cue], axis=-1))

    def pad(self, steps: int) -> "Examples":
        """Return the examples with empty steps at the end, `steps` in all."""
        more = steps - self.steps
        inputs, answers = (np.pad(array, ((0, 0), (0, more), (0, 0))) for array in (self.inputs, self.answers))
        return Examples(inputs, answers, np.pad(self.asked, ((0, 0), (0, more))), self.items)


def join_examples(parts: list[Examples]) -> Examples:
    """Join examples of several sizes into the rows of one, padding the shorter ones."""
    steps = max(part.steps for part in parts)
    padded = [part.pad(steps) for part in parts]
    fields = ("inputs", "answers", "asked", "items")
    return Examples(*(np.concatenate([getattr(part, field) for part in padded]) for field in fields))


def channels(data: AlgorithmData) -> tuple[int, int]:
    """Return the number of input channels and the number of answer channels."""
    return data.bits + MARKERS[data.algorithm] + data.cue, data.bits + ENDS.get(data.algorithm, 0)


def draw_examples(data: AlgorithmData, rows: int, items: int, repeats: int, chance: np.random.Generator) -> Examples:
    """Draw examples with `items` items; `repeats` is for repeat-copy."""
    examples = _draw_plain(data, rows, items, repeats, chance)
    return examples.add_cue() if data.cue else examples


def _draw_plain(data: AlgorithmData, rows: int, items: int, repeats: int, chance: np.random.Generator) -> Examples:
    if data.algorithm == "recall":
        listed = _draw_bits(chance, rows, items, data.item_length, data.bits)
        queries = chance.integers(items - 1, size=rows)
        return recall_example(listed, listed[np.arange(rows), queries], listed[np.arange(rows), queries + 1])
    bits = _draw_bits(chance, rows, items, data.bits)
    if data.algorithm == "sort":
        return sort_example(bits, chance.uniform(-1, 1, size=(rows, items)).astype(np.float32), data.kept)
    if data.algorithm == "repeat-copy":
        return repeat_example(bits, repeats, data.most_repeats)
    return copy_example(bits)


def _draw_bits(chance: np.random.Generator, *shape: int) -> np.ndarray:
    return chance.integers(2, size=shape, dtype=np.int8).astype(np.float32)


def copy_example(content: np.ndarray) -> Examples:
    """Return examples of copying: items (row, item, bit), a marker, and the same items as the answer."""
    rows, items, bits = content.shape
    examples = _blank(rows, 2 * items + 1, bits + 1, bits, items)
    examples.inputs[:, :items, :bits] = content
    examples.inputs[:, items, bits] = 1
    return _answer(examples, content)


def repeat_example(content: np.ndarray, repeats: int, most: int) -> Examples:
    """Return examples of repeat-copy: items, a marker with the number of repeats, repeated items, and an end marker.

    The number is scaled to mean 0 and deviation 1 over the training range, as in Graves et al. 2014, section 4.2.
    """
    rows, items, bits = content.shape
    counts = np.arange(1, most + 1)
    examples = _blank(rows, items + 1 + repeats * items + 1, bits + 2, bits + 1, items)
    examples.inputs[:, :items, :bits] = content
    examples.inputs[:, items, bits] = 1
    examples.inputs[:, items, bits + 1] = (repeats - counts.mean()) / (counts.std() or 1.0)
    answer = np.zeros((rows, repeats * items + 1, bits + 1), np.float32)
    answer[:, :-1, :bits] = np.tile(content, (1, repeats, 1))
    answer[:, -1, bits] = 1
    return _answer(examples, answer)


def recall_example(listed: np.ndarray, query: np.ndarray, answer: np.ndarray) -> Examples:
    """Return examples of recall: items (row, item, part, bit) after markers, then the query between other markers."""
    rows, items, parts, bits = listed.shape
    examples = _blank(rows, items * (parts + 1) + 2 * parts + 2, bits + 2, bits, items)
    inputs = examples.inputs
    for item in range(items):
        first = item * (parts + 1)
        inputs[:, first, bits] = 1
        inputs[:, first + 1 : first + 1 + parts, :bits] = listed[:, item]
    first = items * (parts + 1)
    inputs[:, [first, first + parts + 1], bits + 1] = 1
    inputs[:, first + 1 : first + 1 + parts, :bits] = query
    return _answer(examples, answer)


def sort_example(content: np.ndarray, priorities: np.ndarray, kept: float) -> Examples:
    """Return examples of sorting: items (row, item, bit), priorities (row, item), a marker, the top items in order."""
    rows, items, bits = content.shape
    count = ceil(round(kept * items, 6))
    examples = _blank(rows, items + 1 + count, bits + 2, bits, items)
    examples.inputs[:, :items, :bits] = content
    examples.inputs[:, :items, bits + 1] = priorities
    examples.inputs[:, items, bits] = 1
    order = np.argsort(-priorities, axis=1, kind="stable")[:, :count]
    return _answer(examples, np.take_along_axis(content, order[:, :, None], axis=1))


def _blank(rows: int, steps: int, inputs: int, answers: int, items: int) -> Examples:
    return Examples(
        np.zeros((rows, steps, inputs), np.float32),
        np.zeros((rows, steps, answers), np.float32),
        np.zeros((rows, steps), bool),
        np.full(rows, items),
    )


def _answer(examples: Examples, answer: np.ndarray) -> Examples:
    """Expect an answer (row, step, channel) in the last steps."""
    examples.answers[:, -answer.shape[1] :] = answer
    examples.asked[:, -answer.shape[1] :] = True
    return examples
