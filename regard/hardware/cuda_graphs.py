"""A step that is captured once and replayed: on a GPU one launch instead of hundreds.

A step here is a function from a tree of tensors to a tree of the same shapes, without a look at any value on the host.
It may write into what it is given, and elsewhere. Off a GPU it is simply called, which is what the replayed graph is
held to.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from regard.protocols import map_tree

Step = Callable[[Any], Any]


def leaves(tree: Any) -> list[Tensor]:
    """All tensors of a tree, in order."""
    found: list[Tensor] = []

    def keep(leaf: Tensor) -> Tensor:
        found.append(leaf)
        return leaf

    map_tree(keep, tree)
    return found


@cache
def _aside(device: torch.device) -> torch.cuda.Stream:
    """One stream for all rehearsals on a device: what memory the first has taken serves the next."""
    return torch.cuda.Stream(device)


class CapturedStep:
    """A step, and the tree it works on, which stays where it is in memory: `load` it, then call as often as needed.

    What a step works with beside its tree is not kept alive by a graph of it; a model must outlive its graphs.
    """

    def __init__(self, step: Step, tree: Any, pool: Any = None) -> None:
        self.held = map_tree(torch.clone, tree)
        device = leaves(self.held)[0].device
        self._again: Callable[[], None] = partial(self._once, step)
        if device.type == "cuda" and pool is not None:
            self._again = self._graph(step, tree, device, pool).replay

    def load(self, tree: Any) -> None:
        """Begin with these values."""
        held = leaves(self.held)
        moved = [(own, given) for own, given in zip(held, leaves(tree), strict=True) if own is not given]
        # All are written at once, in no order, so what only changes its place is taken aside first.
        places = {id(own) for own in held}
        moved = [(own, given.clone() if id(given) in places else given) for own, given in moved]
        for kind in {own.dtype for own, _ in moved}:  # those of one kind in one launch
            of_kind = [(own, given) for own, given in moved if own.dtype == kind]
            torch._foreach_copy_([own for own, _ in of_kind], [given for _, given in of_kind])

    def __call__(self) -> None:
        """One step; what is held is then what came out."""
        self._again()

    def _once(self, step: Step) -> None:
        self.load(step(self.held))

    def _graph(self, step: Step, tree: Any, device: torch.device, pool: Any) -> torch.cuda.CUDAGraph:
        """The launches of a step, recorded; it is rehearsed first, for what libraries set up at their first call."""
        with torch.cuda.device(device):
            aside = _aside(device)
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                for _ in range(2):
                    self.load(tree)  # there may be room for a single step
                    self._once(step)
            torch.cuda.current_stream().wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            # Other threads may go on using the GPU meanwhile.
            with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
                self._once(step)
        return graph
