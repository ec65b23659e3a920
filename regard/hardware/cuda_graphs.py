"""A step that is captured once and replayed: on a GPU one launch instead of hundreds.

A step here is a function from a tree of tensors to a tree of the same shapes that reads no value on the host. It may
write into its input, and elsewhere. Without a GPU it is simply called, and tests compare the replayed graph with that.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from regard.protocols import map_tree

Step = Callable[[Any], Any]


def leaves(tree: Any) -> list[Tensor]:
    """Return all tensors of a tree, in order."""
    tensors: list[Tensor] = []

    def keep(leaf: Tensor) -> Tensor:
        tensors.append(leaf)
        return leaf

    map_tree(keep, tree)
    return tensors


@cache
def _aside(device: torch.device) -> torch.cuda.Stream:
    """Return one stream for all rehearsals on a device, so that memory from the first serves the next."""
    return torch.cuda.Stream(device)


class CapturedStep:
    """A step and the tree it works on, which stays in place in memory: `load` it, then call it as often as needed.

    A graph does not keep alive what a step uses besides its tree; a model must outlive its graphs.
    """

    def __init__(self, step: Step, tree: Any, pool: Any = None) -> None:
        self.held = map_tree(torch.clone, tree)
        device = leaves(self.held)[0].device
        self._again: Callable[[], None] = partial(self._once, step)
        if device.type == "cuda" and pool is not None:
            self._again = self._graph(step, tree, device, pool).replay

    def load(self, tree: Any) -> None:
        """Start with these values."""
        targets = leaves(self.held)
        copies = [
            (target, source) for target, source in zip(targets, leaves(tree), strict=True) if target is not source
        ]
        # All are written at once, in no order, so what only changes its place is copied first.
        places = {id(target) for target in targets}
        copies = [(target, source.clone() if id(source) in places else source) for target, source in copies]
        for kind in {target.dtype for target, _ in copies}:  # those of one kind in one launch
            of_kind = [(target, source) for target, source in copies if target.dtype == kind]
            torch._foreach_copy_([target for target, _ in of_kind], [source for _, source in of_kind])

    def __call__(self) -> None:
        """Run one step; `held` is then its output."""
        self._again()

    def _once(self, step: Step) -> None:
        self.load(step(self.held))

    def _graph(self, step: Step, tree: Any, device: torch.device, pool: Any) -> torch.cuda.CUDAGraph:
        """Capture the launches of a step; it is rehearsed first, because libraries set things up on first use."""
        with torch.cuda.device(device):
            aside = _aside(device)
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                for _ in range(2):
                    self.load(tree)  # there may be room for only one step
                    self._once(step)
            torch.cuda.current_stream().wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            # Other threads may use the GPU meanwhile.
            with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
                self._once(step)
        return graph
