"""The state of stepwise tasks between two steps: trees of tensors whose rows can be moved."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, device


@dataclass(frozen=True)
class State:
    """The state of a stepwise task between steps: two trees of tensors that are opaque to searches.

    The first axis of `sentence` is the sentence, that of `row` is the row. The rows of a sentence are adjacent and
    every sentence has equally many, so a beam shares one encoder memory.
    """

    sentence: Any
    row: Any

    def select(self, rows: Tensor) -> "State":
        """Return the state with these rows; a row never leaves its sentence."""
        return State(self.sentence, _take(self.row, rows))

    def spread(self, times: int) -> "State":
        """Return the state with every row repeated `times` times."""
        return State(self.sentence, map_tree(lambda leaf: leaf.repeat_interleave(times, 0), self.row))

    def to(self, device: device) -> "State":
        """Return the state on a device."""
        return State(*(map_tree(lambda leaf: leaf.to(device), tree) for tree in (self.sentence, self.row)))

    def keep(self, sentences: Tensor, rows: Tensor) -> "State":
        """Return the state with only these sentences and these rows."""
        return State(_take(self.sentence, sentences), _take(self.row, rows))


def _take(tree: Any, index: Tensor) -> Any:
    return map_tree(lambda leaf: leaf.index_select(0, index), tree)


def map_tree(change: Callable[[Tensor], Tensor], tree: Any) -> Any:
    """Map every tensor in a tree of dicts, lists and (named) tuples.

    torch's version is private, and optree would be a dependency for ten lines.
    """
    if isinstance(tree, Tensor):
        return change(tree)
    if isinstance(tree, dict):
        return {name: map_tree(change, inner) for name, inner in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(map_tree(change, inner) for inner in tree))
    if isinstance(tree, list | tuple):
        return type(tree)(map_tree(change, inner) for inner in tree)
    raise TypeError(f"a state is a tree of tensors, got {type(tree).__name__}")
