"""Switching heads off, to see what a model does without them."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from regard.attention.heads import MultiHead
from regard.base.faults import Fault


@contextmanager
def switched_off(model: nn.Module, where: str, head: int) -> Iterator[None]:
    """Let one head contribute nothing inside this block; `where` is the path of its attention, as a gaze has it.

    The columns of W_O that read this head are zero until the block ends, so every path through the model is affected.
    """
    heads = model.get_submodule(where.rpartition(".")[0])
    if not isinstance(heads, MultiHead) or not isinstance(heads.out, nn.Linear):
        raise Fault(f"The heads of '{where}' are not joined by a matrix W_O, so none of them can be switched off.")
    columns = slice(head * heads.value_depth, (head + 1) * heads.value_depth)
    with torch.no_grad():
        kept = heads.out.weight[:, columns].clone()
        heads.out.weight[:, columns] = 0
        try:
            yield
        finally:
            heads.out.weight[:, columns] = kept
