"""Examples and answers as text: items are zeros and ones, separated by spaces."""

import re
from collections.abc import Sequence

import numpy as np

from regard.base.faults import TextFault
from regard.data.algorithms.examples import (
    Examples,
    copy_example,
    join_examples,
    recall_example,
    repeat_example,
    sort_example,
)
from regard.data.algorithms.options import AlgorithmData

MOST_STEPS = 20_000  # in an example that is typed in
_PRIORITY = re.compile(r"[+-]?\d+(\.\d+)?")
FORMS = {
    "copy": "items",
    "repeat-copy": "items, then the number of copies",
    "recall": "items separated by |, then ? and the item whose follower is asked for",
    "sort": "items, each after its priority",
}
# Placeholders 0 and 1 are items; 2 and 3 are items with several parts, for recall.
EXAMPLES = {
    "copy": "{0} {1}",
    "repeat-copy": "{0} {1} x3",
    "recall": "{2} | {3} ? {2}",
    "sort": "0.5:{0} -0.2:{1}",
}


def read_examples(texts: Sequence[str], data: AlgorithmData) -> Examples:
    """Parse texts into rows of examples; an invalid text raises a fault."""
    return join_examples([_read(text, number, data) for number, text in enumerate(texts)])


def write_items(items: np.ndarray, data: AlgorithmData) -> str:
    """Return bits (step, channel) as text; an answer of repeat-copy stops at its end marker."""
    if data.algorithm == "repeat-copy" and (ends := np.flatnonzero(items[:, data.bits])).size:
        items = items[: ends[0]]
    return " ".join(write_bits(item[: data.bits]) for item in items)


def write_bits(item: np.ndarray) -> str:
    return "".join("1" if bit > 0.5 else "0" for bit in item)


def form_of(data: AlgorithmData) -> str:
    """Describe how to write an example."""
    return f"{FORMS[data.algorithm]}, as in '{example_of(data)}'"


def example_of(data: AlgorithmData) -> str:
    """Return a sample example as text."""
    one, two = ("01" * data.bits)[: data.bits], ("1" * data.bits)
    several = [" ".join([item] * data.item_length) for item in (one, two)]
    return EXAMPLES[data.algorithm].format(one, two, *several)


class _Unreadable(Exception):
    """A text that is not a valid example."""


def _read(text: str, number: int, data: AlgorithmData) -> Examples:
    if not isinstance(text, str):  # from Python
        raise TextFault(number, f"it is no text; it must be {form_of(data)}.")
    try:
        examples = _READERS[data.algorithm](text, data)
    except _Unreadable as trouble:
        raise TextFault(number, f"{trouble}; it must be {form_of(data)}.") from None
    if examples.steps > MOST_STEPS:
        raise TextFault(number, f"this takes {examples.steps:,} steps, but the limit is {MOST_STEPS:,}.")
    return examples.add_cue() if data.cue else examples


def _items(text: str, data: AlgorithmData) -> np.ndarray:
    words = text.split()
    if not words:
        raise _Unreadable("there is no item")
    return np.stack([_bits(word, data) for word in words])


def _bits(word: str, data: AlgorithmData) -> np.ndarray:
    if len(word) != data.bits or set(word) - {"0", "1"}:
        raise _Unreadable(f"'{word[:40]}' is not an item of {data.bits} bits")
    return np.array([float(bit) for bit in word], np.float32)


def _read_copy(text: str, data: AlgorithmData) -> Examples:
    return copy_example(_items(text, data)[None])


def _read_repeat(text: str, data: AlgorithmData) -> Examples:
    items, _, repeats = text.rpartition("x")
    if not re.fullmatch(r"\d+", repeats.strip()):
        raise _Unreadable("it does not end with the number of copies")
    if not re.fullmatch(r"0*\d{1,4}", repeats.strip()):
        raise _Unreadable("the number of copies is above 9,999")
    if int(repeats) == 0:
        raise _Unreadable("the number of copies is 0")
    return repeat_example(_items(items, data)[None], int(repeats), data.most_repeats)


def _read_recall(text: str, data: AlgorithmData) -> Examples:
    listed, mark, query = text.partition("?")
    if not mark:
        raise _Unreadable("there is no ? with the item asked for behind it")
    items, target = [_parts(item, data) for item in listed.split("|")], _parts(query, data)
    places = [place for place, item in enumerate(items[:-1]) if np.array_equal(item, target)]
    if not places:
        raise _Unreadable("no item follows the one asked for")
    answer = items[places[0] + 1]
    return recall_example(np.stack(items)[None], target[None], answer[None])


def _parts(text: str, data: AlgorithmData) -> np.ndarray:
    parts = _items(text, data)
    if len(parts) != data.item_length:
        raise _Unreadable(f"'{text.strip()[:40]}' is not an item of {data.item_length} parts")
    return parts


def _read_sort(text: str, data: AlgorithmData) -> Examples:
    words = [word.partition(":") for word in text.split()]
    if not words:
        raise _Unreadable("there is no item")
    for priority, _, _ in words:
        if not _PRIORITY.fullmatch(priority) or abs(float(priority)) > 1:
            raise _Unreadable(f"'{priority[:40]}' is not a priority from -1 to 1")
    items = np.stack([_bits(item, data) for _, _, item in words])
    priorities = np.array([float(priority) for priority, _, _ in words], np.float32)
    return sort_example(items[None], priorities[None], data.kept)


_READERS = {"copy": _read_copy, "repeat-copy": _read_repeat, "recall": _read_recall, "sort": _read_sort}
